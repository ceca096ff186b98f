# The types of `memory_protocol.py`, which `python -m tests.support.stubs` makes from `Engine`.
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeGuard, Unpack

from engine.base.basic_values import Direction, Unchanged
from engine.base.model import Atom, Checkpoint, Edge, HistoryItem, Receipt, Scalar
from engine.commands.atoms import Add
from engine.commands.concurrent import Concurrent
from engine.commands.conflicts import Conflict
from engine.commands.edges import TypeName
from engine.commands.transaction import Command
from engine.erase.erasure import Erasable, Erasure
from engine.index.copies.duplicates import DuplicateGroup
from engine.knowledge.dreaming.cycle import DreamReport
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.tag_origins import Tags
from engine.query.context.windows import Context
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
from engine.trust.audit.verify import Report
from engine.trust.notes.issue import CheckpointNote
from engine.trust.proving.prove import Proof
from proofs.basis import LogHead
from proofs.claims import Claim
from proofs.note import Checkpoint as NotedCheckpoint

class Memory(Protocol):
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def across(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> AcrossGraph: ...
    def add(
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
    def add_once(self, command: Add, *, actor: str | None = None) -> Receipt: ...
    def apply(
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
    ) -> Iterator[Receipt]: ...
    def bright_nodes(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> tuple[BrightNode, ...]: ...
    def catch_up(self) -> None: ...
    def checkpoint(self) -> Receipt: ...
    def checkpoint_note(
        self, *, key: str | Path | None = None, known: Sequence[NotedCheckpoint] = ()
    ) -> CheckpointNote: ...
    def close(self) -> None: ...
    def concurrent_edits(self) -> list[Concurrent]: ...
    def conflicts(self) -> list[Conflict]: ...
    def context(
        self,
        query: str,
        *,
        budget: int = 2000,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Context: ...
    def diff(self, before: AsOf | str, after: AsOf | str | None = None) -> Diff: ...
    def dream(
        self,
        *,
        budget: int | None = None,
        seconds: float | None = None,
        dry_run: bool = False,
        config: DreamConfig | None = None,
        stop: Callable[[], bool] = ...,
        progress: Progress = ...,
    ) -> DreamReport: ...
    def duplicates(
        self, *, limit: int = 100, of: str | None = None, as_of: AsOf | None = None
    ) -> list[DuplicateGroup]: ...
    def edges(
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
    def erasable(self, ids: str | Sequence[str]) -> Erasable: ...
    def erase(
        self,
        ids: str | Sequence[str],
        reason: str,
        *,
        remember: bool = True,
        probe: bool = True,
        actor: str | None = None,
        progress: Stage = ...,
    ) -> Erasure: ...
    def explore(
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
    def export(self, write: Callable[[bytes], object], *, progress: Progress = ...) -> Checkpoint: ...
    def find(
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
    def get(self, id: str, *, as_of: AsOf | None = None) -> Atom: ...
    def get_edge(self, src: str, type: TypeName, dst: str, *, as_of: AsOf | None = None) -> Edge: ...
    def held_back(self, id: str) -> str | None: ...
    def history(self, id: str) -> list[HistoryItem]: ...
    def link(self, src: str, type: TypeName, dst: str, weight: float = 1.0, data: bytes = b"") -> Receipt: ...
    def log(self, start: int = 0, stop: int | None = None) -> Iterator[HistoryItem]: ...
    def merge(self, keep: str, other: str, *, force: bool = False) -> Receipt: ...
    @property
    def mirror_problem(self) -> str | None: ...
    def page(self, name: str, *, as_of: AsOf | None = None) -> Page: ...
    def prove(
        self,
        claims: Iterable[Claim | Sequence[str]],
        *,
        as_of: AsOf | None = None,
        checkpoint: str | LogHead | None = None,
    ) -> Proof: ...
    @property
    def read_only(self) -> str | None: ...
    def rebuild(self, progress: Progress = ...) -> Checkpoint: ...
    def recall(
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
    def recent(
        self,
        *,
        limit: int = 10,
        offset: int = 0,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> list[Added]: ...
    def register_type(self, name: str) -> Receipt: ...
    def relate(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        source: str | None = None,
        weight: float = 1.0,
        force: bool = False,
    ) -> Receipt: ...
    def resolve(self, id: str) -> str: ...
    def revert(
        self, start: AsOf, stop: AsOf | None = None, *, actor: str | None = None, dry_run: bool = False
    ) -> list[Undone]: ...
    def revertible(
        self, start: AsOf, stop: AsOf | None = None, *, actor: str | None = None, limit: int = 100
    ) -> Revertible: ...
    def revise(
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
    def revive(self, id: str, reason: str = "", *, force: bool = False) -> Receipt: ...
    def root(self, *, as_of: AsOf | None = None, state: bool = False) -> Checkpoint: ...
    def settle(self, file: str, hand: str, keep: str) -> Receipt: ...
    @property
    def size(self) -> int: ...
    def sources(self, *, limit: int = 100, as_of: AsOf | None = None) -> list[SourceSummary]: ...
    def status(self) -> Status: ...
    def structured_graph(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = ...,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> BrightGraph: ...
    def supersede(self, old: str, new: str, reason: str = "") -> Receipt: ...
    def tag(self, id: str, *tags: str) -> Receipt: ...
    def tags(self, *, as_of: AsOf | None = None) -> Tags: ...
    def titles(self, ids: Iterable[str], *, as_of: AsOf | None = None) -> dict[str, str]: ...
    def tombstone(self, id: str, reason: str = "") -> Receipt: ...
    def unlink(self, src: str, type: TypeName, dst: str, reason: str = "") -> Receipt: ...
    def unmerge(self, other: str, *, force: bool = False) -> Receipt: ...
    def unrelate(self, subject: str, predicate: str, object: str, reason: str = "") -> Receipt: ...
    def untag(self, id: str, *tags: str) -> Receipt: ...
    def verify(self, *, expect: str | None = None, progress: Progress = ...) -> Report: ...
    def was_kept(self, seq: int, event_id: str) -> bool: ...
    def why(self, id: str, *, as_of: AsOf | None = None) -> tuple[Origin, ...]: ...

def is_memory(value: object) -> TypeGuard[Memory]: ...
