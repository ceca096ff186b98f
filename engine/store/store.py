"""A store: one backend, its journal and its projections, with the one function that commits.

command ── decide ──▶ events ── append ──▶ journal + records     one guarded, durable batch
                                               └──▶ followers    caught up before a read
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from typing import TYPE_CHECKING

from backends.base import Backend, Batch, Guard, Reader, Snapshot
from backends.errors import BackendInDoubt, GuardFailed
from engine.base import limits
from engine.base.errors import (
    BatchLimitError,
    BusyError,
    ConflictError,
    CorruptionError,
    EngineError,
    InDoubtError,
    RefusedError,
)
from engine.base.model import Receipt
from engine.commands.base import Command, Transaction
from engine.followers.base import Follower, are_current, catch_up
from engine.followers.columns import atom_body
from engine.followers.index import IndexFollower
from engine.followers.log import LogFollower
from engine.followers.records import Records, head_guards, seal
from engine.followers.tags import TagsFollower
from engine.followers.trees import TreesFollower
from engine.ledger.fold import Overlay
from engine.ledger.journal import (
    Appender,
    Sources,
    check_analyzer,
    read_entries,
    read_entry,
    read_identity,
    read_log,
)
from engine.ledger.records import read_counters
from engine.ledger.roots import Roots
from engine.text.analyzer import ANALYZER_NAME, fingerprint
from proofs.events import AtomBody, Entry, EventKind, GenesisBody, GenesisDetail

if TYPE_CHECKING:
    from engine.secrets.filter import SecretFilter


class Recent:
    """The events this process committed last, decoded, so that followers need not read them back.

    At most 24,576, and contents of at most some 16 million characters; older ones are forgotten.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._chars = 0

    def add(self, entries: Sequence[Entry]) -> None:
        """Keep `entries`; forget what is not next to them, and the oldest of too many."""
        with self._lock:
            kept = self._entries
            if kept and kept[-1].header.seq + 1 != entries[0].header.seq:
                self._forget(len(kept))
            kept.extend(entries)
            self._chars += sum(map(_chars_of, entries))
            if len(kept) > 3 * limits.FOLLOW_EVENTS_MAX:
                self._forget(len(kept) - limits.FOLLOW_EVENTS_MAX)
            while self._chars > limits.FOLLOW_BYTES_MAX:
                self._forget(len(kept) // 2 + 1)

    def clear(self) -> None:
        """Forget all: every follower has them."""
        with self._lock:
            self._forget(len(self._entries))

    def _forget(self, count: int) -> None:
        self._chars -= sum(map(_chars_of, self._entries[:count]))
        del self._entries[:count]

    def get(self, start: int, stop: int) -> list[Entry]:
        """The events from `start` up to `stop`; none unless all are kept."""
        with self._lock:
            kept = self._entries
            if not kept or start < kept[0].header.seq or stop > kept[-1].header.seq + 1:
                return []
            first = kept[0].header.seq
            return kept[start - first : stop - first]


def _chars_of(entry: Entry) -> int:
    return len(entry.body.content) if isinstance(entry.body, AtomBody) else 0


COMMIT_LOSSES = 3
"""How often a command is decided again because another process moved the head, before that one must wait."""

COMMIT_CHUNK = 1000
"""Commands that `commit_many` commits at once: measured, larger ones gain nothing more."""

READ_LOSSES = 3
"""How often a read catches up again because the head moved, before the writers must wait."""


def projections() -> tuple[Records, IndexFollower, TagsFollower, TreesFollower, LogFollower]:
    """Everything that is made from the journal, records first, each new and without memory."""
    index = IndexFollower(lambda rows, seq: atom_body(read_entry(rows, seq).body))
    return Records(), index, TagsFollower(), TreesFollower(), LogFollower()


class Store:
    """An open store. Safe to use from several threads."""

    def __init__(
        self,
        backend: Backend,
        sources: Sources | None,
        *,
        finish: bool = True,
        check: bool = True,
        resume: Callable[[Store], None] | None = None,
    ) -> None:
        """Open a store on a backend.

        Args:
            backend: Where it is, or where it is to begin.
            sources: Time and randomness; None for a store that takes no commands.
            finish: False leaves records that are behind as they are, for now.
            check: False takes a journal that another analyzer was used with.
            resume: Called once the store is open, to finish what was broken off (`engine.erase.destroy`).
        """
        self.backend = backend
        self._sources = sources
        self.secret_filter: SecretFilter | None = None
        self._write_lock = threading.RLock()
        self._follow_lock = threading.RLock()
        self.recent = Recent()
        self.lost: int | None = None
        """In a view of the past: a later event that erased what the roots of then cover."""
        self.records, self.index, self.tags, self.trees, self.log = self.projections = projections()
        if sources is not None and _is_empty(backend):
            self._write_genesis(sources)
        self.identity = read_identity(backend)
        if check:
            check_analyzer(self.identity, ANALYZER_NAME, fingerprint())
        if finish:
            self._finish_records()
        if resume is not None:
            resume(self)

    def _finish_records(self) -> None:
        # They are at the head except after a rebuild that did not finish, here or in another process.
        catch_up(self.backend, self.records, self.read)

    def _write_genesis(self, sources: Sources) -> None:
        batch = Batch()
        log = read_log(self.backend)
        appender = Appender(Overlay(self.backend, batch), log, *sources)
        # Two more draws of 32 bytes, under seqs that no event has.
        detail = GenesisDetail(sources.salts(-1)[:16], ANALYZER_NAME, fingerprint())
        body = GenesisBody(sources.salts(-2))
        entry = appender.append(EventKind.GENESIS, "engine", None, detail, body)
        appender.finish()
        seal(batch, entry, read_counters(self.backend))
        try:
            self.backend.write(batch, guard=head_guards(self.backend, log), durable=True)
        except GuardFailed:
            return  # another process has just made the store
        self.recent.add([entry])

    def commit(
        self,
        commands: Sequence[Command],
        actor: str,
        *,
        if_head: int | None = None,
        request: str | None = None,
        origin: str | None = None,
    ) -> list[Receipt]:
        """Decide `commands` in order and append what they take, all of it or nothing.

        When this returns, journal, records and log frontier are in the backend, in one batch.

        Args:
            commands: What is to be true.
            actor: Who says so.
            if_head: How many events the journal must have; None for any number.
            request: A client's own key of what it asked for; every event says it.
            origin: What made the events: a pipeline and its version, or another store and its event.

        Raises:
            InvalidInputError: `request` or `origin` is empty or has a control character.
            LimitError: `request` is over 128 bytes, or `origin` over 256.
            ConflictError: `if_head` is given and the journal has another size.
            InDoubtError: writing failed after it was sent.
            BusyError: other processes moved the head each time this one had decided.
        """
        if self._sources is None:
            raise RefusedError("this is a view of the past; it takes no commands")
        with self._write_lock, self.masked():
            for attempt in range(2 * COMMIT_LOSSES):
                waiting = self.backend.exclusive() if attempt >= COMMIT_LOSSES else nullcontext()
                with waiting, self.backend.snapshot() as rows:
                    log = read_log(rows)
                    if if_head is not None and log.size != if_head:
                        raise ConflictError(f"the head is {log.size}, not {if_head} as the command expects")
                    if not are_current(rows, log, (self.records,)):
                        self._finish_records()
                        continue
                    screen = None if self.secret_filter is None else self.secret_filter.screen()
                    key = self.identity.id_key
                    tx = Transaction(
                        rows, log, key, self._sources, actor, screen, request=request, origin=origin
                    )
                    receipts = [command.decide(tx) for command in commands]
                    if not tx.entries or self._write(tx, head_guards(rows, log)):
                        if self.secret_filter is not None and tx.entries:
                            self.secret_filter.passed(screen)
                        return receipts
            raise BusyError("other processes are writing to this store all the time; try again")

    def commit_many(
        self,
        commands: Iterable[Command],
        actor: str,
        *,
        request: str | None = None,
        origin: str | None = None,
    ) -> Iterator[Receipt]:
        """Commit any number of commands, up to `COMMIT_CHUNK` to a batch, yielding receipts once durable.

        Each batch is all or nothing; one too large in bytes is halved. The followers are brought up every
        few batches and at the end. `request` and `origin` are those of `commit`.
        """
        remaining = iter(commands)
        behind = 0
        while chunk := list(islice(remaining, COMMIT_CHUNK)):
            for receipt in self._commit_parts(chunk, actor, request, origin):
                behind += len(receipt.events)
                yield receipt
            if behind >= limits.FOLLOW_EVENTS_MAX // 2:
                self.follow(more=True)
                behind = 0
        self.follow()

    def _commit_parts(
        self, commands: Sequence[Command], actor: str, request: str | None, origin: str | None
    ) -> Iterator[Receipt]:
        """The receipts of one half are out before the other is tried: it may be refused."""
        try:
            yield from self.commit(commands, actor, request=request, origin=origin)
        except BatchLimitError:
            if len(commands) == 1:
                raise
            half = len(commands) // 2
            for part in (commands[:half], commands[half:]):
                yield from self._commit_parts(part, actor, request, origin)

    @contextmanager
    def masked(self) -> Iterator[None]:
        """Let no secret out of the block in an error's words."""
        try:
            yield
        except EngineError as error:
            if self.secret_filter is not None:
                self.secret_filter.mask(error)
            raise

    def _write(self, tx: Transaction, guard: Sequence[Guard]) -> bool:
        # A crash before the batch is written leaves the store as it was; after it, the events are
        # there with their records, and the followers catch up on the next read.
        try:
            self.backend.write(tx.finish(), guard=guard, durable=True)
        except GuardFailed:
            return False
        except BackendInDoubt as error:
            first = tx.entries[0].header
            raise InDoubtError(str(error), seq=first.seq, event_id=first.commitment.hex()) from error
        self.recent.add(tx.entries)
        return True

    def read(self, rows: Reader, start: int, stop: int) -> Sequence[Entry]:
        """Events from `start`, at most up to `stop`; only those not just committed are read back."""
        return self.recent.get(start, stop) or read_entries(rows, start, stop)

    def follow(self, *followers: Follower, stop: int | None = None, more: bool = False) -> None:
        """Bring these followers (none given: all) to the head, or to `stop`.

        With `more`, said while bulk work goes on, they may stay behind by what they would rather do later.
        """
        with self._follow_lock:
            for follower in followers or self.followers:
                catch_up(self.backend, follower, self.read, stop=stop, more=more)
            if not followers and stop is None and not more:
                self.recent.clear()

    @contextmanager
    def view(self, *followers: Follower) -> Iterator[Snapshot]:
        """A snapshot in which the records and all of `followers` are exactly at the head.

        Raises:
            BusyError: other processes moved the head every time.
        """
        for _ in range(READ_LOSSES):
            with self.backend.snapshot() as rows:
                if are_current(rows, read_log(rows), (self.records, *followers)):
                    yield rows
                    return
            self._bring_up(followers)
        with self.alone():
            self._bring_up(followers)
            with self.backend.snapshot() as rows:
                if not are_current(rows, read_log(rows), (self.records, *followers)):
                    raise BusyError("other processes are writing to this store all the time; try again")
                yield rows

    def _bring_up(self, followers: Sequence[Follower]) -> None:
        self._finish_records()
        if followers:
            self.follow(*followers)

    def roots(self, rows: Reader) -> Roots:
        """The roots of a snapshot in which every follower is at the head.

        Raises:
            RefusedError: this is a view of the past, and what the roots of then cover was erased since.
        """
        log = read_log(rows)
        if self.lost is not None:
            raise RefusedError(
                f"the roots of tags and index at {log.size} events cannot be made again: "
                f"event {self.lost} erased what they cover",
                hint="those of the log, of atoms and of edges can: `engine verify-root` recomputes them",
            )
        namespaces = (
            self.trees.root(rows, "atoms"),
            self.trees.root(rows, "edges"),
            self.index.root(rows),
            self.tags.root(rows),
        )
        return Roots(self.identity.store_id, log.size, log.frontier.root(), namespaces)

    @property
    def followers(self) -> tuple[Follower, ...]:
        """All projections but the records."""
        return self.projections[1:]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep this process from writing and following meanwhile, this thread excepted."""
        with self._write_lock, self._follow_lock:
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """As `paused`, and other processes do not write meanwhile, either.

        Raises:
            BackendBusy: other processes kept the store locked.
        """
        with self.paused(), self.backend.exclusive():
            yield

    def close(self) -> None:
        """Release the backend; closing twice is allowed."""
        self.backend.close()


def _is_empty(backend: Backend) -> bool:
    """Whether a store has yet to begin; one that lost its log state must never begin anew."""
    with backend.snapshot() as rows:
        if read_log(rows).size:
            return False
        if next(rows.scan(), None) is not None:
            raise CorruptionError("the store has rows but no log state", family="meta")
        return True
