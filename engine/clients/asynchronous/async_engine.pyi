# The types of `async_engine.py`, which `python -m tests.support.stubs` makes from `Engine`.
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar, Unpack

from engine.base.basic_values import Direction, Unchanged
from engine.base.model import Atom, Checkpoint, Edge, HistoryItem, Receipt, Scalar
from engine.clients.asynchronous.async_explorer import AsyncExplorer
from engine.clients.asynchronous.worker_threads import Calls, Parts
from engine.clients.proved_answers import Proved
from engine.commands.atoms import Add
from engine.commands.concurrent import Concurrent
from engine.commands.conflicts import Conflict
from engine.commands.edges import TypeName
from engine.commands.transaction import Command
from engine.erase.erasure import Erasable, Erasure
from engine.files.ingest.import_run import IngestProgress, IngestReport
from engine.files.mirror.mirror_report import MirrorCheck, MirrorReport, PullReport
from engine.index.copies.duplicates import DuplicateGroup
from engine.knowledge.dreaming.cycle import DreamReport
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.tag_origins import Tags
from engine.memory.memory_protocol import Memory
from engine.query.context.windows import Context
from engine.query.explore.explore_answers import Form as AnswerForm
from engine.query.explore.explore_policy import Policy
from engine.query.explore.state import Exploration, Step
from engine.query.file_pages import Page
from engine.query.filters import FilterFields, Filters
from engine.query.graph.bright import BrightGraph, BrightNode
from engine.query.graph.domain_paths import AcrossGraph
from engine.query.graph.find import Follow, Form, Found
from engine.query.history.diff import Diff, Revertible
from engine.query.history.recent import Added
from engine.query.history.why import Origin
from engine.query.recall.recall_answer import Recall
from engine.query.source_list import SourceSummary
from engine.store.past import AsOf
from engine.store.replay import Progress, Stage
from engine.store.revert import Undone
from engine.store.status import Status
from engine.sync.devices import SyncReport
from engine.sync.family import SyncStatus
from engine.trust.audit.verify import Report
from engine.trust.notes.issue import CheckpointNote
from engine.trust.proving.prove import Proof
from proofs.basis import LogHead
from proofs.claims import Claim
from proofs.note import Checkpoint as NotedCheckpoint

_M = TypeVar("_M")

LOG_PART: Final = 256
COMMANDS_PART: Final = 1000
INTERNAL: Final[frozenset[str]]
READING: Final[frozenset[str]]

class Opening(Generic[_M]):
    def __await__(self) -> Generator[Any, Any, _M]: ...
    async def __aenter__(self) -> _M: ...
    async def __aexit__(self, *_: object) -> None: ...

class AsyncEngine:
    engine: Memory
    def __init__(self, engine: Memory, *, threads: int = 8) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    @property
    def actor(self) -> str: ...
    @property
    def proved(self) -> AsyncProved: ...
    async def across(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> AcrossGraph: ...
    def acting_as(self, actor: str, *, request: str | None = None) -> Self: ...
    async def add(
        self,
        content: str,
        *,
        title: str | None = None,
        kind: str = "note",
        tags: Iterable[str] = (),
        buckets: Iterable[str] = ("inbox",),
        source: str | None = None,
        sequence: int | None = None,
        provenance: str = "internal",
        trust: int | None = None,
        created: int | datetime | None = None,
        meta: Mapping[str, Scalar] | None = None,
        aliases: Iterable[str] | None = None,
        folder: str | None = None,
        occurrence: int | None = None,
        key: str | None = None,
        id: str | None = None,
        force: bool = False,
        once: bool = False,
    ) -> Receipt: ...
    async def add_once(self, command: Add, *, actor: str | None = None) -> Receipt: ...
    async def apply(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        if_head: int | None = None,
        request: str | None = None,
        pipeline: str | None = None,
    ) -> list[Receipt]: ...
    def apply_many(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        request: str | None = None,
        pipeline: str | None = None,
    ) -> Parts[Receipt]: ...
    async def apply_part(self, commands: Iterable[Command], first: int) -> list[Receipt]: ...
    def as_of(self, moment: AsOf) -> AbstractAsyncContextManager[AsyncEngine]: ...
    async def backup(
        self, path: str | Path, *, sealed: bool = False, progress: Progress = ...
    ) -> Checkpoint: ...
    @property
    def behind(self) -> str | None: ...
    async def bright_nodes(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> tuple[BrightNode, ...]: ...
    async def catch_up(self) -> None: ...
    async def check_mirror(self, folder: str | Path, *, progress: Progress = ...) -> MirrorCheck: ...
    async def checkpoint(self) -> Receipt: ...
    async def checkpoint_note(
        self, *, key: str | Path | None = None, known: Sequence[NotedCheckpoint] = ()
    ) -> CheckpointNote: ...
    async def close(self) -> None: ...
    async def concurrent_edits(self) -> list[Concurrent]: ...
    async def conflicts(self) -> list[Conflict]: ...
    @classmethod
    def connect(
        cls,
        url: str,
        *,
        memory: str | None = None,
        token: str | None = None,
        trust: str | Path | None = None,
        ca: str | Path | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        deadline: float | None = None,
        encrypted: bool = True,
        threads: int = 8,
    ) -> Opening[Self]: ...
    async def context(
        self,
        query: str,
        *,
        budget: int = 2000,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Context: ...
    async def diff(self, before: AsOf | str, after: AsOf | str | None = None) -> Diff: ...
    async def dream(
        self,
        *,
        budget: int | None = None,
        seconds: float | None = None,
        dry_run: bool = False,
        config: DreamConfig | None = None,
        stop: Callable[[], bool] = ...,
        progress: Progress = ...,
    ) -> DreamReport: ...
    async def duplicates(
        self, *, limit: int = 100, of: str | None = None, as_of: AsOf | None = None
    ) -> list[DuplicateGroup]: ...
    async def edges(
        self,
        id: str,
        *,
        direction: Direction | str = ...,
        types: Sequence[TypeName] = (),
        tombstoned: bool = False,
        limit: int = ...,
        after: tuple[str, str, str] | None = None,
        as_of: AsOf | None = None,
    ) -> list[Edge]: ...
    async def erasable(self, ids: str | Sequence[str]) -> Erasable: ...
    async def erase(
        self,
        ids: str | Sequence[str],
        reason: str,
        *,
        remember: bool = True,
        probe: bool = True,
        actor: str | None = None,
        progress: Stage = ...,
    ) -> Erasure: ...
    async def explore(
        self,
        query: str,
        *,
        policy: Policy | None = None,
        budget: int = 2000,
        steps: int = 10,
        filters: Filters = ...,
        on_step: Callable[[Step], None] | None = None,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Exploration: ...
    async def explorer(self, *, form: AnswerForm | str = "text", spent: int = 0) -> AsyncExplorer: ...
    async def export(self, write: Callable[[bytes], object], *, progress: Progress = ...) -> Checkpoint: ...
    async def find(
        self,
        *,
        limit: int = 100,
        from_: str | None = None,
        follow: Follow | None = None,
        filters: Filters = ...,
        form: Form | str = "medium",
        mentions: Sequence[str] = (),
        hidden: bool = False,
        after: int | None = None,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> list[Found]: ...
    async def get(self, id: str, *, as_of: AsOf | None = None) -> Atom: ...
    async def get_edge(self, src: str, type: TypeName, dst: str, *, as_of: AsOf | None = None) -> Edge: ...
    async def held_back(self, id: str) -> str | None: ...
    async def history(self, id: str) -> list[HistoryItem]: ...
    async def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        name: str | None = None,
        root: str | Path | None = None,
        tags: Sequence[str] = (),
        buckets: Sequence[str] = ("inbox",),
        provenance: str = "internal",
        exclude: Sequence[str] = (),
        gitignore: bool = True,
        moved: bool = False,
        prune: bool = False,
        sure: bool = False,
        force: bool = False,
        dry_run: bool = False,
        progress: Callable[[IngestProgress], None] = ...,
    ) -> IngestReport: ...
    async def link(
        self, src: str, type: TypeName, dst: str, weight: float = 1.0, data: bytes = b""
    ) -> Receipt: ...
    def log(self, start: int = 0, stop: int | None = None) -> Parts[HistoryItem]: ...
    async def merge(self, keep: str, other: str, *, force: bool = False) -> Receipt: ...
    async def mirror(
        self, folder: str | Path, *, style: str | None = None, dry_run: bool = False, progress: Progress = ...
    ) -> MirrorReport: ...
    @property
    def mirror_problem(self) -> str | None: ...
    async def mirror_pull(
        self, folder: str | Path, *, dry_run: bool = False, progress: Progress = ...
    ) -> PullReport: ...
    @classmethod
    def open(
        cls,
        url: str,
        *,
        create: bool = True,
        memory: str | None = None,
        key: str | None = None,
        threads: int = 8,
        **options: Any,
    ) -> Opening[Self]: ...
    async def page(self, name: str, *, as_of: AsOf | None = None) -> Page: ...
    async def prove(
        self,
        claims: Iterable[Claim | Sequence[str]],
        *,
        as_of: AsOf | None = None,
        checkpoint: str | LogHead | None = None,
    ) -> Proof: ...
    @property
    def read_only(self) -> str | None: ...
    async def rebuild(self, progress: Progress = ...) -> Checkpoint: ...
    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        budget: int | None = None,
        filters: Filters = ...,
        explain: bool = False,
        per_page: int | None = None,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Recall: ...
    async def recent(
        self,
        *,
        limit: int = 10,
        offset: int = 0,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> list[Added]: ...
    async def register_type(self, name: str) -> Receipt: ...
    async def relate(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        source: str | None = None,
        weight: float = 1.0,
        force: bool = False,
    ) -> Receipt: ...
    async def resolve(self, id: str) -> str: ...
    async def revert(
        self, start: AsOf, stop: AsOf | None = None, *, actor: str | None = None, dry_run: bool = False
    ) -> list[Undone]: ...
    async def revertible(
        self, start: AsOf, stop: AsOf | None = None, *, actor: str | None = None, limit: int = 100
    ) -> Revertible: ...
    async def revise(
        self,
        id: str,
        content: str | Unchanged = ...,
        *,
        title: str | Unchanged | None = ...,
        kind: str | Unchanged = ...,
        tags: Iterable[str] | Unchanged = ...,
        buckets: Iterable[str] | Unchanged = ...,
        source: str | Unchanged | None = ...,
        sequence: int | Unchanged | None = ...,
        provenance: str | Unchanged = ...,
        trust: int | Unchanged | None = ...,
        created: int | datetime | Unchanged | None = ...,
        meta: Mapping[str, Scalar] | Unchanged | None = ...,
        aliases: Iterable[str] | Unchanged | None = ...,
        folder: str | Unchanged | None = ...,
        force: bool = False,
    ) -> Receipt: ...
    async def revive(self, id: str, reason: str = "", *, force: bool = False) -> Receipt: ...
    async def root(self, *, as_of: AsOf | None = None, state: bool = False) -> Checkpoint: ...
    async def settle(self, file: str, hand: str, keep: str) -> Receipt: ...
    async def size(self) -> int: ...
    async def sources(self, *, limit: int = 100, as_of: AsOf | None = None) -> list[SourceSummary]: ...
    async def status(self) -> Status: ...
    async def structured_graph(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> BrightGraph: ...
    async def supersede(self, old: str, new: str, reason: str = "") -> Receipt: ...
    async def sync(self, folder: str | Path | None = None, *, progress: Progress = ...) -> SyncReport: ...
    async def sync_init(self, folder: str | Path, *, name: str | None = None) -> str: ...
    @classmethod
    def sync_join(
        cls,
        url: str,
        folder: str | Path,
        phrase: str,
        *,
        name: str | None = None,
        take: bool = False,
        **options: Any,
    ) -> Self: ...
    async def sync_remove(self, device: str, folder: str | Path | None = None) -> str: ...
    async def sync_status(self, folder: str | Path | None = None) -> SyncStatus: ...
    @property
    def synced(self) -> SyncReport | None: ...
    async def tag(self, id: str, *tags: str) -> Receipt: ...
    async def tags(self, *, as_of: AsOf | None = None) -> Tags: ...
    async def titles(self, ids: Iterable[str], *, as_of: AsOf | None = None) -> dict[str, str]: ...
    async def tombstone(self, id: str, reason: str = "") -> Receipt: ...
    async def unlink(self, src: str, type: TypeName, dst: str, reason: str = "") -> Receipt: ...
    async def unmerge(self, other: str, *, force: bool = False) -> Receipt: ...
    async def unrelate(self, subject: str, predicate: str, object: str, reason: str = "") -> Receipt: ...
    async def untag(self, id: str, *tags: str) -> Receipt: ...
    async def verify(self, *, expect: str | None = None, progress: Progress = ...) -> Report: ...
    async def was_kept(self, seq: int, event_id: str) -> bool: ...
    async def why(self, id: str, *, as_of: AsOf | None = None) -> tuple[Origin, ...]: ...

class AsyncProved:
    def __init__(self, proved: Proved, calls: Calls) -> None: ...
    async def check(self) -> NotedCheckpoint: ...
    async def get(self, id: str) -> Atom: ...
    async def recall(self, query: str, **options: Any) -> tuple[Atom, ...]: ...
    async def tagged(self, tag: str) -> tuple[str, ...]: ...
    async def mentioning(self, word: str) -> tuple[str, ...]: ...
