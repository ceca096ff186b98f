"""The one object that a program holds: every public method of an open memory, each handed on to its feature.

Features are imported when they are first used: with all of them at the top, importing this module takes
0.35 s instead of 0.11 s (measured; numpy and the parsers of Markdown are the most of it), and a program
that adds an atom or prints a root needs none of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeGuard, Unpack

from backends import open_backend
from backends.base import Backend, Snapshot
from engine.base import limits
from engine.base.error_translation import translated
from engine.base.model import Atom, Checkpoint, Direction, Edge, HistoryItem, Receipt, Scalar
from engine.base.validation import atom_id, instance, integer, label, optional_integer, several, show_id
from engine.commands.atoms import UNCHANGED, Add, Revise, Revive, Tag, Tombstone, Unchanged, Untag
from engine.commands.base import Command
from engine.commands.edges import Link, RegisterType, Relate, TypeName, Unlink, Unrelate
from engine.commands.merge import Merge, Supersede, Unmerge
from engine.erase.destroy import Stage, quietly, resume
from engine.followers.tags import tag_counts
from engine.ledger.journal import Sources, read_entries, read_entry, read_log
from engine.ledger.queries import atom_of, get_record, resolve_id
from engine.query.filters import NO_FILTERS, FilterFields, Filters, narrowed
from engine.query.view import View
from engine.store.checkpoint import take_checkpoint
from engine.store.past import AsOf, atom_record_at, history, history_item, size_at
from engine.store.replay import Progress, no_progress
from engine.store.status import Status, status
from engine.store.store import Store

if TYPE_CHECKING:
    from engine.erase.run import Erasable, Erasure
    from engine.knowledge.dreaming.config import DreamConfig
    from engine.knowledge.dreaming.cycle import DreamReport
    from engine.query.context.windows import Context
    from engine.query.duplicates import DuplicateGroup
    from engine.query.explore.explorer import Explorer
    from engine.query.explore.form import Form as AnswerForm
    from engine.query.explore.policy import Policy
    from engine.query.explore.state import Exploration, Step
    from engine.query.graph.bright import BrightGraph, BrightNode
    from engine.query.graph.find import Follow, Form, Found
    from engine.query.history.diff import Diff
    from engine.query.history.revert import Undone
    from engine.query.history.why import Origin
    from engine.query.recall.answer import Recall
    from engine.query.recall.config import RecallConfig
    from engine.secrets.policy import SecretsPolicy
    from engine.transfer.ingest.run import IngestProgress, IngestReport
    from engine.transfer.mirror.report import MirrorCheck, MirrorReport
    from engine.trust.audit.verify import Report
    from engine.trust.notes.issue import CheckpointNote
    from engine.trust.proving.prover import Proof
    from proofs.basis import LogHead
    from proofs.claims import Claim
    from proofs.note import Checkpoint as NotedCheckpoint


def wall_clock() -> int:
    """The time now, in µs UTC."""
    return time.time_ns() // 1000


def random_salt(seq: int) -> bytes:
    """32 random bytes, whatever the event."""
    del seq
    return os.urandom(32)


class Engine:
    """An open memory. Use it as a context manager; it is safe to use from several threads.

    Times are µs UTC, costs are tokens (characters / 4), ids are UUIDs as text; where a method takes an id,
    it takes the whole one. Commands return when their events are durable. A command that finds everything
    as it should be appends no event. Every query answers from one snapshot, at one head.

    Every method raises errors of the `EngineError` family only, among them these at any time:

    * `InvalidInputError`: an argument breaks a rule; nothing was written.
    * `BusyError`: another process keeps the store locked, or kept moving its head.
    * `CorruptionError`: stored bytes are not what was written.
    * `ClosedError`: the memory was closed.
    """

    # Opening and closing

    def __init__(
        self,
        backend: Backend,
        *,
        clock: Callable[[], int] = wall_clock,
        salts: Callable[[int], bytes] = random_salt,
        actor: str = "user",
        config: RecallConfig | None = None,
        secrets: SecretsPolicy | str | None = None,
    ) -> None:
        """Open a memory on a backend that is open already; `Engine.open` opens both.

        Args:
            backend: Where the store is, or where it is to begin.
            clock: The time in µs UTC, recorded with each event.
            salts: 32 random bytes for the event with a given seq.
            actor: Who writes, for the journal: 1 to 32 of `a-z`, `0-9`, `.`, `_` and `-`.
            config: The constants of recall; None for the measured defaults.
            secrets: What to do with passwords and keys in what is written: `off`, `warn`, `redact`
                or `refuse`, or a policy (docs/secrets.md). None: nothing.
        """
        self.actor = label(actor, "actor")
        with translated():
            store = Store(backend, Sources(clock, salts), resume=resume)
        self.view = View(store, config)
        """For the parts of the engine itself; what it gives may raise the backends' errors, too."""
        if secrets is not None:
            from engine.secrets.filter import SecretFilter
            from engine.secrets.policy import policy_of

            store.secret_filter = SecretFilter(policy_of(secrets, "secrets"))

    @classmethod
    def open(cls, url: str, *, create: bool = True, memory: str | None = None, **options: Any) -> Self:
        """Open the store at `url`: `leveldb:PATH`, `sqlite:PATH`, `memory:` or a bare path.

        Args:
            url: Where the store is; a bare path is a LevelDB folder, or SQLite where that is missing.
            create: Make a new store where there is none.
            memory: The name of one of the memories that `url` holds, each a store of its own.
            options: As for `Engine(...)`: clock, salts, actor, config, secrets.

        Raises:
            NotFoundError: no store is there and `create` is false.
            BusyError: another owner holds it.
            CorruptionError: its bytes are damaged.
        """
        instance(url, str, "url")
        if memory is not None:
            from engine.store.named_places import memory_url

            url = memory_url(url, memory)
        with translated():
            backend = open_backend(url, create=create)
        try:
            return cls(backend, **options)
        except BaseException:
            backend.close()
            raise

    @property
    def store(self) -> Store:
        """The open store, for the parts of the engine itself; it may raise the backends' errors, too."""
        return self.view.store

    def close(self) -> None:
        """Release the store, waiting for calls in flight; closing twice is allowed."""
        with translated():
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def as_of(self, moment: AsOf) -> Iterator[Engine]:
        """The memory as it was at a moment, for the block: it answers any query and takes no commands.

        Its journal is replayed up to there, in memory or, where it is long, in a temporary folder. Many
        queries of one moment are cheaper this way than with `as_of=` each.

        Args:
            moment: The seq of an event, that event included, or a time with a zone.

        Raises:
            NotFoundError: the journal does not reach that moment.
        """
        with translated(), self.view.at(moment) as view:
            past = object.__new__(Engine)
            past.actor, past.view = self.actor, view
            yield past

    @contextmanager
    def _searching(self, moment: AsOf | None) -> Iterator[tuple[View, Snapshot]]:
        """This memory, or that of a moment, and a snapshot of it that can be searched."""
        with translated(), self.view.at(moment) as view, view.searchable() as rows:
            yield view, rows

    # Commands

    def apply(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        if_head: int | None = None,
        request: str | None = None,
        origin: str | None = None,
    ) -> list[Receipt]:
        """Carry out `commands` in order, all of them or none, in one durable batch.

        Args:
            commands: `engine.Add`, `engine.Link` and so on.
            actor: Who writes; None for the memory's own.
            if_head: How many events the journal must have; None for any.
            request: The caller's own key of what it asked for, at most 128 bytes; every event records it.
            origin: What made the events, such as a pipeline and its version, at most 256 bytes; likewise.

        Raises:
            ConflictError: one contradicts what is recorded, or the head is not `if_head` events.
            NotFoundError: one is about an atom that was never recorded.
            RefusedError: one would bring back what was erased.
            LimitError: together they are too large for one batch.
            InDoubtError: writing failed after it was sent; reopen and repeat.
        """
        optional_integer(if_head, "if_head")
        wanted = [command for command in several(commands, "commands") if _is_command(command)]
        with translated():
            return self.store.commit(
                wanted, self._actor(actor), if_head=if_head, request=request, origin=origin
            )

    def apply_many(
        self,
        commands: Iterable[Command],
        *,
        actor: str | None = None,
        request: str | None = None,
        origin: str | None = None,
    ) -> Iterator[Receipt]:
        """Carry out any number of commands, up to a thousand to a batch, yielding receipts once durable.

        Each batch is all or nothing; one too large in bytes is halved. The followers are brought up every
        few batches, so that nothing is left to catch up at the end. Else it is as `apply`.
        """
        wanted = filter(_is_command, several(commands, "commands"))
        with translated():
            yield from self.store.commit_many(wanted, self._actor(actor), request=request, origin=origin)

    def _actor(self, given: str | None) -> str:
        return self.actor if given is None else given

    def _one(self, command: Command) -> Receipt:
        return self.apply([command])[0]

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
        occurrence: int = 0,
        key: str | None = None,
        id: str | None = None,  # noqa: A002
        force: bool = False,
    ) -> Receipt:
        """Add an atom; no event where it is recorded already. `receipt.id` is its id.

        Args:
            content: The text, at most 1 MiB of UTF-8.
            title: A heading, on one line.
            kind: What sort of atom it is, a label.
            tags: At most 256, in any case, with or without `#`.
            buckets: The coarse partitions it is in.
            source: Where the text came from, on one line.
            sequence: Its place within its source.
            provenance: `internal`, `external` or `quarantine`.
            trust: 0 to 100.
            created: When the text was written, in µs or with a zone; None for the time of the event.
            meta: Values to keep with the atom: at most 32 of true, false, numbers and texts, by name.
            aliases: Other names of what it is about.
            folder: The folder that its source belongs to.
            occurrence: How many equal texts come earlier in the source; part of the default id.
            key: A name of the caller's for the atom within its source: the id follows from it.
            id: A UUID of the caller's. Without `id` and `key` the id follows from source and content.
            force: Also a content that was erased, and an atom that was.

        Raises:
            ConflictError: the caller's id or key is recorded with another content.
            RefusedError: the atom or its content was erased, and `force` is not set.
        """
        return self._one(
            Add(
                content, title, kind, tags, buckets, source, sequence, provenance, trust, created,
                occurrence, key, id, force, meta, aliases, folder,
            )
        )  # fmt: skip

    def revise(
        self,
        id: str,  # noqa: A002
        content: str | Unchanged = UNCHANGED,
        *,
        title: str | Unchanged | None = UNCHANGED,
        kind: str | Unchanged = UNCHANGED,
        tags: Iterable[str] | Unchanged = UNCHANGED,
        buckets: Iterable[str] | Unchanged = UNCHANGED,
        source: str | Unchanged | None = UNCHANGED,
        sequence: int | Unchanged | None = UNCHANGED,
        provenance: str | Unchanged = UNCHANGED,
        trust: int | Unchanged | None = UNCHANGED,
        created: int | datetime | Unchanged | None = UNCHANGED,
        meta: Mapping[str, Scalar] | Unchanged | None = UNCHANGED,
        aliases: Iterable[str] | Unchanged | None = UNCHANGED,
        folder: str | Unchanged | None = UNCHANGED,
        force: bool = False,
    ) -> Receipt:
        """Change what an atom says; fields that are not given stay. Its id and its history are kept.

        The fields are those of `add`; `force` also takes a content that was erased.

        Raises:
            NotFoundError: the atom was never recorded.
            ConflictError: it is tombstoned.
            RefusedError: the content was erased, and `force` is not set.
        """
        return self._one(
            Revise(
                id, content, title, kind, tags, buckets, source, sequence, provenance, trust, created,
                force, meta, aliases, folder,
            )
        )  # fmt: skip

    def tombstone(self, id: str, reason: str = "") -> Receipt:  # noqa: A002
        """Hide an atom everywhere; it is kept, with its history.

        Raises:
            NotFoundError: it was never recorded.
        """
        return self._one(Tombstone(id, reason))

    def revive(self, id: str, reason: str = "", *, force: bool = False) -> Receipt:  # noqa: A002
        """Bring a tombstoned atom back.

        Raises:
            NotFoundError: it was never recorded.
            RefusedError: it was erased, or another atom of its content was and `force` is not set.
        """
        return self._one(Revive(id, reason, force))

    def tag(self, id: str, *tags: str) -> Receipt:  # noqa: A002
        """Put tags on an atom.

        Raises:
            NotFoundError: it was never recorded.
        """
        return self._one(Tag(id, tags))

    def untag(self, id: str, *tags: str) -> Receipt:  # noqa: A002
        """Take tags off an atom.

        Raises:
            NotFoundError: it was never recorded.
        """
        return self._one(Untag(id, tags))

    def register_type(self, name: str) -> Receipt:
        """Register a predicate, to use as an edge type."""
        return self._one(RegisterType(name))

    def link(self, src: str, type: TypeName, dst: str, weight: float = 1.0, data: bytes = b"") -> Receipt:  # noqa: A002
        """Join two atoms by an edge; a tombstoned one is revived.

        Args:
            src: The atom it leaves.
            type: An `EdgeType`, its name, or a registered predicate.
            dst: The atom it reaches.
            weight: A number that float32 can hold.
            data: Canonical CBOR, at most 4 KiB.

        Raises:
            NotFoundError: an atom or the predicate was never recorded.
        """
        return self._one(Link(src, type, dst, weight, data))

    def unlink(self, src: str, type: TypeName, dst: str, reason: str = "") -> Receipt:  # noqa: A002
        """Hide an edge; it is kept. No event where it is missing or hidden."""
        return self._one(Unlink(src, type, dst, reason))

    def relate(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002
        *,
        source: str | None = None,
        weight: float = 1.0,
        force: bool = False,
    ) -> Receipt:
        """Join two named things by a predicate, making entities and predicate where they are new.

        Args:
            subject: A name, or the id of an entity.
            predicate: Such as `works_at`.
            object: A name, or the id of an entity.
            source: The id of the atom that says so.
            weight: A number that float32 can hold.
            force: Also names that were erased.

        Raises:
            NotFoundError: an id or the source was never recorded.
        """
        return self._one(Relate(subject, predicate, object, source, weight, force))

    def unrelate(self, subject: str, predicate: str, object: str, reason: str = "") -> Receipt:  # noqa: A002
        """Hide the edge of a predicate between two entities; it is kept."""
        return self._one(Unrelate(subject, predicate, object, reason))

    def merge(self, keep: str, other: str, *, force: bool = False) -> Receipt:
        """Let the atom `keep` stand for its near-duplicate `other`, which is tombstoned.

        Raises:
            NotFoundError: one of them was never recorded.
            RefusedError: they are no near-duplicates, or too short to be compared, and `force` is not set.
        """
        return self._one(Merge(keep, other, force))

    def unmerge(self, other: str, *, force: bool = False) -> Receipt:
        """Bring back an atom that was merged, and take from the kept one what it gained by that."""
        return self._one(Unmerge(other, force))

    def supersede(self, old: str, new: str, reason: str = "") -> Receipt:
        """Let the atom `new` take the place of `old`, which is kept and no longer recalled."""
        return self._one(Supersede(old, new, reason))

    def revert(
        self, start: int, stop: int | None = None, *, actor: str | None = None, dry_run: bool = False
    ) -> list[Undone]:
        """Take back events, by events that do the contrary, the subject that was touched last first.

        What others changed again since then is left as it is and reported.

        Args:
            start: The seq of the first event.
            stop: The seq after the last; None for the head.
            actor: Only the events of this actor.
            dry_run: Only say what would become of each.

        Raises:
            NotFoundError: the journal does not reach so far.
        """
        from engine.query.history.revert import revert

        with translated():
            return revert(self.store, start, stop, by=self.actor, actor=actor, dry_run=dry_run)

    def erase(
        self,
        id: str,  # noqa: A002
        reason: str,
        *,
        remember: bool = True,
        probe: bool = True,
        actor: str | None = None,
        progress: Stage = quietly,
    ) -> Erasure:
        """Destroy the content of an atom for good, with its edges; its history stays verifiable.

        Args:
            id: The atom.
            reason: Why; it stays in the journal, so it must not repeat the content.
            remember: Keep a keyed hash of each content, so that it is refused when it comes again.
            probe: Look for the content before and after, in the files and in every answer.
            actor: Who does it, for the journal; None for the memory's own.
            progress: Called with the name of each stage as it begins.

        Raises:
            NotFoundError: the atom was never recorded.
            BusyError: a snapshot is open, so old bytes may be left in the files. No answer has the content
                any more; erasing again, or opening the store again, finishes it.
        """
        from engine.erase.run import erase

        by = label(self._actor(actor), "actor")
        with translated():
            return erase(self.view, id, reason, actor=by, remember=remember, probe=probe, progress=progress)

    def erasable(self, id: str) -> Erasable:  # noqa: A002
        """What erasing an atom would destroy; nothing of one that is erased. Changes nothing.

        Raises:
            NotFoundError: it was never recorded.
        """
        from engine.erase.run import erasable

        with translated():
            return erasable(self.store, id)

    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        name: str | None = None,
        root: str | Path | None = None,
        tags: Sequence[str] = (),
        buckets: Sequence[str] = ("inbox",),
        provenance: str = "internal",
        prune: bool = False,
        sure: bool = False,
        force: bool = False,
        dry_run: bool = False,
        progress: Callable[[IngestProgress], None] = lambda _: None,
    ) -> IngestReport:
        """Read files into the memory: afterwards it holds what they say now. The actor is `ingest`.

        Args:
            paths: Markdown, text and JSON Lines files, and folders of them.
            name: The first part of every source instead of the folder's name.
            root: A folder that holds all `paths`: sources are the paths from it.
            tags: Put on every atom besides the file's own.
            buckets: For atoms that are new.
            provenance: For atoms that are new.
            prune: Also tombstone atoms of files that are gone from the folders.
            sure: Prune also where none of the files that are there now is known.
            force: Take in also what was erased; else such pieces are left out and named.
            dry_run: Only count what would be done.
            progress: Called after each file.

        Raises:
            NotFoundError: a path is not there; nothing was written.
            RefusedError: pruning would tombstone everything of a folder; nothing was written.
        """
        from engine.transfer.ingest.run import ingest

        with translated():
            return ingest(
                self.store, paths, name=name, root=root, tags=tags, buckets=buckets, provenance=provenance,
                prune=prune, sure=sure, force=force, dry_run=dry_run, progress=progress,
            )  # fmt: skip

    def dream(
        self,
        *,
        budget: int | None = None,
        seconds: float | None = None,
        dry_run: bool = False,
        config: DreamConfig | None = None,
        stop: Callable[[], bool] = lambda: False,
        progress: Progress = no_progress,
    ) -> DreamReport:
        """Tag untagged atoms, learn and spread names, relate entities, as the actor `dreamer`.

        It only adds, and nothing that somebody took away; a second run over the same memory adds nothing.

        Args:
            budget: At most so many atoms are read or looked at; None for all there is to do.
            seconds: No further step is begun after so many.
            dry_run: Only say what would be done.
            config: Other limits than the measured ones.
            stop: Asked between steps of some dozen atoms: whether to end here.
            progress: Called with (atoms done, all atoms).
        """
        from engine.knowledge.dreaming.cycle import dream

        with translated():
            return dream(
                self.store,
                budget=budget,
                seconds=seconds,
                dry_run=dry_run,
                config=config,
                stop=stop,
                progress=progress,
            )

    # Queries: single things

    def resolve(self, id: str) -> str:  # noqa: A002
        """The whole id that a shortened one stands for: 4 or more digits that only one atom's id begins with.

        Raises:
            NotFoundError: no atom's does.
            ConflictError: several do.
        """
        with translated(), self.store.view() as rows:
            return show_id(resolve_id(rows, id))

    def get(self, id: str, *, as_of: AsOf | None = None) -> Atom:  # noqa: A002
        """An atom, in whatever state, now or at a moment.

        Raises:
            NotFoundError: it was never recorded, or not yet.
        """
        with translated(), self.store.view() as rows:
            record = get_record(rows, atom_id(id))
            if as_of is not None:
                record = atom_record_at(rows, record, size_at(rows, as_of))
            return atom_of(rows, record)

    def get_edge(self, src: str, type: TypeName, dst: str) -> Edge:  # noqa: A002
        """An edge, tombstoned or not.

        Raises:
            NotFoundError: it was never recorded.
        """
        from engine.query.graph.find import get_edge

        with translated(), self.store.view() as rows:
            return get_edge(rows, src, type, dst)

    def edges(
        self,
        id: str,  # noqa: A002
        *,
        direction: Direction | str = Direction.OUT,
        types: Sequence[TypeName] = (),
        tombstoned: bool = False,
        limit: int = limits.RESULTS_MAX,
    ) -> list[Edge]:
        """The edges at an atom, in the order of (type, other end).

        Args:
            id: The atom.
            direction: `out`, `in` or `both`.
            types: Only edges of these types; none for all.
            tombstoned: Also hidden edges.
            limit: At most so many.

        Raises:
            NotFoundError: the atom or a type was never recorded.
        """
        from engine.query.graph.find import get_edges

        with translated(), self.store.view() as rows:
            return get_edges(rows, id, direction=direction, types=types, tombstoned=tombstoned, limit=limit)

    def tags(self) -> dict[str, int]:
        """Every tag of the live atoms, in its caseless form, with the number of atoms that have it."""
        with translated(), self.store.view(self.store.tags) as rows:
            return tag_counts(rows)

    # Queries: questions

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        budget: int | None = None,
        filters: Filters = NO_FILTERS,
        explain: bool = False,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Recall:
        """The live atoms that answer a question best.

        Args:
            query: What you want to know, in words.
            limit: At most so many hits, 1 to 10,000; 10 where there is no budget either.
            budget: Tokens that the hits' whole texts, with a heading each, may cost together.
            filters: What an atom must be.
            explain: Say what each signal added, and what was nearly a hit.
            as_of: Ask the memory as it was at this moment.
            narrow: Fields of `Filters` by themselves: `tags=["people"]`, `since=datetime(...)`.

        Raises:
            InvalidInputError: the query is blank or has nothing to search for, or a bound is out of range.
        """
        from engine.query.recall.recall import recall

        wanted = narrowed(filters, narrow)
        with self._searching(as_of) as (view, rows):
            return recall(rows, view, query, limit=limit, budget=budget, filters=wanted, explain=explain)

    def context(
        self,
        query: str,
        *,
        budget: int = 2000,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Context:
        """What answers a question, with the text around it, laid out for a prompt (Standard 065).

        Args:
            query: What you want to know, in words.
            budget: Tokens that the text may cost, all of it counted; at least 16.
            filters: What an atom must be, also one that only stands beside a hit.
            as_of: Ask the memory as it was at this moment.
            narrow: Fields of `Filters` by themselves.

        Raises:
            InvalidInputError: the budget is too small, or the query has nothing to search for.
        """
        from engine.query.context.neighbours import context

        wanted = narrowed(filters, narrow)
        with self._searching(as_of) as (view, rows):
            return context(rows, view, query, budget, wanted)

    def find(
        self,
        *,
        limit: int = 100,
        from_: str | None = None,
        follow: Follow | None = None,
        filters: Filters = NO_FILTERS,
        form: Form | str = "medium",
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> list[Found]:
        """Live atoms that pass `filters`: all, or those that a bounded walk from one atom reaches.

        Args:
            limit: At most so many, 1 to 10,000.
            from_: The id of the atom to start at.
            follow: Which edges the walk takes, and how far; needs `from_`.
            filters: What an atom must be.
            form: `short` (id and title), `medium` (and 200 characters) or `full` (and the atom).
            as_of: Ask the memory as it was at this moment.
            narrow: Fields of `Filters` by themselves.

        Raises:
            NotFoundError: the start or an edge type was never recorded.
        """
        from engine.query.graph.find import find

        wanted = narrowed(filters, narrow)
        with translated(), self.view.at(as_of) as view, view.store.view(view.store.tags) as rows:
            return find(rows, from_=from_, follow=follow, filters=wanted, limit=limit, form=form)

    def duplicates(self, *, limit: int = 100, of: str | None = None) -> list[DuplicateGroup]:
        """Groups of live atoms that say almost the same, each with the one to keep; changes nothing.

        Args:
            limit: At most so many groups, in the order of the atoms to keep.
            of: Only the group of this atom.

        Raises:
            NotFoundError: `of` was never recorded.
        """
        from engine.query.duplicates import duplicates

        with self._searching(None) as (view, rows):
            return duplicates(rows, view.store.index, limit=limit, of=of)

    def held_back(self, id: str) -> str | None:  # noqa: A002
        """Why a live atom answers no question: it was superseded, or repeats what was; None if it may.

        Raises:
            NotFoundError: it was never recorded.
        """
        from engine.query.recall.retired import held_back

        with self._searching(None) as (view, rows):
            return held_back(rows, view.store.index, resolve_id(rows, id))

    def bright_nodes(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> tuple[BrightNode, ...]:
        """The nodes of `structured_graph` alone."""
        return self.structured_graph(query, limit=limit, filters=filters, as_of=as_of, **narrow).nodes

    def structured_graph(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters = NO_FILTERS,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> BrightGraph:
        """The atoms that a question lights up, the brightest first, and at most 200 relations between them.

        Args:
            query: What you want to know, in words (Standard 065: Bright Node Protocol).
            limit: At most so many atoms: 1 to 50.
            filters: What an atom must be.
            as_of: Ask the memory as it was at this moment.
            narrow: Fields of `Filters` by themselves.
        """
        from engine.query.graph.bright import structured_graph

        wanted = narrowed(filters, narrow)
        with self._searching(as_of) as (view, rows):
            return structured_graph(rows, view, query, limit, wanted)

    def explorer(self, *, form: AnswerForm | str = "text", spent: int = 0) -> Explorer:
        """Explore by small steps, each with what it costs: recall hints, peek, expand, neighbors.

        Args:
            form: `text` or `json`: the form in which answers are handed out, and counted.
            spent: Tokens spent before.
        """
        from engine.query.explore.explorer import Explorer

        return Explorer(self.view, form=form, spent=spent)

    def explore(
        self,
        query: str,
        *,
        policy: Policy | None = None,
        budget: int = 2000,
        steps: int = 10,
        filters: Filters = NO_FILTERS,
        on_step: Callable[[Step], None] | None = None,
        as_of: AsOf | None = None,
        **narrow: Unpack[FilterFields],
    ) -> Exploration:
        """Look into the memory step by step, and gather what answers a question (Memory Exploration).

        Args:
            query: What you want to know, in words.
            policy: Who decides each step; None for one of ours, which needs no language model.
            budget: Tokens that all answers together may cost; at least 200.
            steps: At most so many: 1 to 10.
            filters: What an atom must be to be hinted at.
            on_step: Called with each step as soon as it is done.
            as_of: Explore the memory as it was at this moment.
            narrow: Fields of `Filters` by themselves.

        Raises:
            InvalidInputError: a bound is out of range, or the query has nothing to search for.
        """
        from engine.query.explore.loop import explore

        wanted = narrowed(filters, narrow)
        with translated(), self.view.at(as_of) as view:
            return explore(
                view, query, policy=policy, budget=budget, steps=steps, filters=wanted, on_step=on_step
            )

    # Queries: history

    @property
    def size(self) -> int:
        """How many events the journal has."""
        with translated():
            return read_log(self.store.backend).size

    def history(self, id: str) -> list[HistoryItem]:  # noqa: A002
        """Every event on an atom, the oldest first.

        Raises:
            NotFoundError: it was never recorded.
        """
        with translated(), self.store.view() as rows:
            return history(rows, id)

    def log(self, start: int = 0, stop: int | None = None) -> Iterator[HistoryItem]:
        """The events of the journal from `start` up to `stop`, as of the call."""
        start, size = integer(start, "start"), self.size
        return self._items(start, size if stop is None else min(integer(stop, "stop"), size))

    def _items(self, start: int, stop: int) -> Iterator[HistoryItem]:
        # A snapshot for each part: what is in the journal stays, and a slow reader holds none open.
        while start < stop:
            with translated(), self.store.view() as rows:
                entries = read_entries(rows, start, min(stop, start + limits.FOLLOW_EVENTS_MAX))
                items = [history_item(rows, entry) for entry in entries]
            yield from items
            start += len(items)

    def diff(self, before: AsOf | str, after: AsOf | str | None = None) -> Diff:
        """What changed between two moments: each a seq, a time, or the text of a checkpoint note.

        Args:
            before: The earlier one.
            after: The later one; None for the head.

        Raises:
            NotFoundError: the journal does not reach so far.
            InvalidInputError: they are the wrong way round.
        """
        from engine.query.history.diff import diff, sizes

        with translated(), self.store.view() as rows:
            return diff(rows, *sizes(rows, before, after))

    def why(self, id: str) -> tuple[Origin, ...]:  # noqa: A002
        """Where an atom comes from, and what it was derived from: at most 100 atoms."""
        from engine.query.history.why import why

        with translated(), self.store.view() as rows:
            return why(rows, atom_id(id))

    def was_kept(self, seq: int, event_id: str) -> bool:
        """Whether event `seq` is the one with this id: settles an in-doubt write after reopening."""
        with translated(), self.store.view() as rows:
            if integer(seq, "seq") >= read_log(rows).size:
                return False
            return read_entry(rows, seq).header.commitment.hex() == event_id

    def status(self) -> Status:
        """What is in the store and how far each follower has come; moves nothing."""
        with translated(), self.store.backend.snapshot() as rows:
            return status(rows, self.store)

    # Roots and proofs

    def root(self, *, as_of: AsOf | None = None) -> Checkpoint:
        """The overall root, and the roots it is made of, now or at a moment.

        Raises:
            RefusedError: what the roots of that moment cover was erased since.
        """
        with translated(), self.view.at(as_of) as view:
            store = view.store
            with store.view(*store.followers) as rows:
                return store.roots(rows).as_checkpoint()

    def checkpoint(self) -> Receipt:
        """Record the roots of everything so far in the journal; no event where the last one is a checkpoint.

        Raises:
            ConflictError: other processes kept moving the head.
        """
        with translated():
            return take_checkpoint(self.store, self.actor)[0]

    def checkpoint_note(
        self, *, key: str | Path | None = None, known: Sequence[NotedCheckpoint] = ()
    ) -> CheckpointNote:
        """As `checkpoint`, and the note to keep outside the store, after its headers are read back.

        Args:
            key: The file of a key to sign with.
            known: Checkpoints of this store that it must be found to continue first.

        Raises:
            InconsistentError: it does not continue one of `known`, or what the key signed last.
            RefusedError: the key may not sign for this store.
            CorruptionError: the headers in the backend are not those that were written.
        """
        from engine.trust.notes.issue import issue

        with translated():
            return issue(self.store, lambda: take_checkpoint(self.store, self.actor), key=key, known=known)

    def prove(
        self,
        claims: Iterable[Claim | Sequence[str]],
        *,
        as_of: AsOf | None = None,
        checkpoint: str | LogHead | None = None,
    ) -> Proof:
        """A proof of all of `claims` for somebody who does not have the store (`proofs.verify`).

        Args:
            claims: Those of `proofs`, or their words as `engine prove` takes them.
            as_of: Prove them of the memory as it was at this moment, which is replayed.
            checkpoint: A checkpoint note, or what it says, to prove against instead of the overall root.

        Raises:
            RefusedError: a claim does not hold, or the checkpoint is not of this store's log.
            NotFoundError: a claim is about what was never recorded.
        """
        from engine.trust.proving.ask import prove

        with translated():
            return prove(self.store, claims, as_of, checkpoint)

    def verify(self, *, expect: str | None = None, progress: Progress = no_progress) -> Report:
        """Whether everything stored is exactly what the journal gives, by replaying all of it.

        Args:
            expect: An overall root, 64 hex digits, that the head must have.
            progress: Called with (events replayed, all events).
        """
        from engine.trust.audit.verify import verify

        with translated():
            return verify(self.store.backend, expect=expect, progress=progress)

    # Upkeep and moving

    def catch_up(self) -> None:
        """Bring every follower to the head now, instead of before the next read."""
        with translated():
            self.store.follow()

    def rebuild(self, progress: Progress = no_progress) -> Checkpoint:
        """Make everything but the journal anew from it; returns the root, the same as before."""
        from engine.store.maintenance import rebuild

        with translated(), self.store.paused():
            return rebuild(self.store.backend, progress)

    def mirror(
        self,
        folder: str | Path,
        *,
        style: str | None = None,
        dry_run: bool = False,
        progress: Progress = no_progress,
    ) -> MirrorReport:
        """Write every live atom as Markdown pages into `folder`, as a fresh mirror would.

        Args:
            folder: A new or empty folder, or the mirror of this store, without a link on the way.
            style: `plain` or `obsidian`; None: that of the mirror that is there, else plain.
            dry_run: Only count what would be done.
            progress: Called with (atoms written, all atoms).

        Raises:
            RefusedError: the folder is not, or may not be, a mirror of this store; nothing was written.
        """
        from engine.transfer.mirror.sync import mirror

        with translated():
            return mirror(self.store, folder, style=style, dry_run=dry_run, progress=progress)

    def check_mirror(self, folder: str | Path, *, progress: Progress = no_progress) -> MirrorCheck:
        """Whether a mirror is unchanged since it was written, and says what the memory says.

        Raises:
            NotFoundError: there is no mirror.
        """
        from engine.transfer.mirror.check import check

        with translated():
            return check(self.store, folder, progress)

    def export(self, write: Callable[[bytes], object], *, progress: Progress = no_progress) -> Checkpoint:
        """Write the journal as JSON Lines, all of it as of one head; `write` gets the bytes, part by part."""
        from engine.transfer.backup import export_store

        with translated():
            return export_store(self.store, write, progress)

    def backup(self, path: str | Path, *, progress: Progress = no_progress) -> Checkpoint:
        """Write the journal to a file, in the place of an earlier backup of the same store."""
        from engine.transfer.backup import backup

        with translated():
            return backup(self.store, path, progress)


def _is_command(given: object) -> TypeGuard[Command]:
    """True; anything else is an InvalidInputError."""
    instance(given, Command, "a command")
    return True
