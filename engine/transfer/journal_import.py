"""Reading a journal that was exported: every event, commitment and root is worked out again.

Nothing of a file is believed. It is read into a store beside the place, and only what came out with
the roots that the file names gets there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import BinaryIO

from backends.base import Backend, Batch
from engine.base import limits
from engine.base.errors import CorruptionError
from engine.ledger.journal import Identity, RawEntry, subject_key
from engine.ledger.roots import Roots
from engine.store.replay import Progress, append, no_progress
from engine.store.store import Store
from engine.transfer.journal_lines import (
    Head,
    LineError,
    damaged,
    is_tail,
    parsed,
    read_event,
    read_head,
    tail_line,
)
from engine.trust.audit.chain import check_chain
from engine.trust.audit.compare import DestroyedPayloads
from proofs.events import ERASING_KINDS, CheckpointBody, CheckpointDetail, EventKind
from proofs.hashing import NAMESPACES

NEVER = -1

Check = Callable[[RawEntry], None]
"""Told each event before anything is made of it; what it raises ends the import."""


def pass_all(event: RawEntry) -> None:
    """Minds nothing."""


FROM_HEADERS = ("atoms", "edges")
"""The first namespaces, whose roots no destroyed payload changes."""

LINE_BYTES_MAX = 32 << 20
"""No line of an export is longer: an event has at most 4 MiB, of which a byte becomes six at most."""


class JournalReader:
    """The events in an exported journal, in order, each checked; memory is bounded by one line.

    Raises:
        CorruptionError: the first line is not that of an export.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        """Read the first line of the export; `name` is what errors call it."""
        self.check: Check = pass_all
        self._stream = stream
        self._digest = sha256()
        self.name = name
        self.line = 0
        """The number of the line that was read last, from 1."""
        try:
            self.head: Head = read_head(self._next())
        except LineError as error:
            raise self.damaged(str(error)) from None

    def damaged(self, reason: str) -> CorruptionError:
        """The error that says what is wrong with the line that was read last."""
        seq = self.line - 2
        return damaged(self.name, self.line, reason, seq if seq >= 0 else None)

    def events(self) -> Iterator[RawEntry]:
        """All events; `finish` says whether they are those that were exported.

        Raises:
            CorruptionError: the line that is not what an export writes is named.
        """
        size = self.head.roots.size
        try:
            for seq in range(size):
                raw = self._next()
                fields = parsed(raw)
                if is_tail(fields):
                    raise LineError(f"the end is here, after {seq} of {size} events")
                event = read_event(raw, fields, seq)
                self.check(event)
                yield event
        except LineError as error:
            raise self.damaged(str(error)) from None

    def finish(self, identity: Identity, roots: Roots) -> None:
        """Compare the first line and the last with what the events have come out as.

        Raises:
            CorruptionError: one of the two says something else; it is named.
        """
        expected = tail_line(roots.size, roots.log, self._digest.digest())
        try:
            raw = self._next()
            tail = parsed(raw)
            if not is_tail(tail):
                raise LineError(f"all {roots.size} events are there already; the end should be here")
            said = self.head.roots
            if said.log != roots.log and tail.get("log_root") == said.log.hex():
                raise LineError(
                    f"the events give the log root {roots.log.hex()}, not {said.log.hex()}: some line was "
                    "changed, and what it says of itself with it"
                )
            if said != roots or self.head.identity != identity._replace(id_key=b""):
                self.line = 1
                raise LineError(f"it is not what the events give, whose root is {roots.overall.hex()}")
            if raw != expected:
                raise LineError("it is not what the lines before it give")
            if self._stream.read(1):
                self.line += 1
                raise LineError("there is something after the end")
        except LineError as error:
            raise self.damaged(str(error)) from None

    def _next(self) -> bytes:
        raw = self._stream.readline(LINE_BYTES_MAX + 1)
        self.line += 1
        if not raw:
            raise LineError("the file ends before this line: its end is missing")
        if len(raw) > LINE_BYTES_MAX:
            raise LineError(f"over {LINE_BYTES_MAX:,} bytes long")
        if not raw.endswith(b"\n"):
            raise LineError("the file ends inside this line")
        self._digest.update(raw)
        return raw


def read_into(target: Backend, journal: JournalReader, progress: Progress = no_progress) -> Roots:
    """Make the store of an exported journal in an empty backend, and prove that it is the one exported.

    Every commitment, header, root and recorded checkpoint is worked out again, and whether each event can
    follow from those before it.

    Returns:
        The roots, which are those that the first line names.

    Raises:
        CorruptionError: a line is not right; it is named. The target is then of no use.
        EngineError: the text was read by another analyzer than this one.
    """
    run = _Run(target, journal)
    for events in _batches(journal.events()):
        run.step(events)
        progress(run.size, journal.head.roots.size)
    return run.finish()


def _batches(events: Iterator[RawEntry]) -> Iterator[list[RawEntry]]:
    """Consecutive events, a checkpoint always the first of its batch."""
    batch: list[RawEntry] = []
    size = 0
    for event in events:
        full = len(batch) >= limits.FOLLOW_EVENTS_MAX or size >= limits.FOLLOW_BYTES_MAX
        if batch and (full or event.entry.header.kind is EventKind.CHECKPOINT):
            yield batch
            batch, size = [], 0
        batch.append(event)
        size += len(event.header) + len(event.payload or b"")
    if batch:
        yield batch


class Erasures:
    """Whether each payload that is not there was destroyed by the event that is named."""

    def __init__(self) -> None:
        self._claimed: dict[bytes, tuple[int, int]] = {}
        """Subject → the first event without a payload, and the one that destroyed it."""
        self._erased: dict[bytes, int] = {}

    def add(self, event: RawEntry) -> None:
        """Take note of the next event."""
        header = event.entry.header
        subject = subject_key(header.detail)
        if header.kind in ERASING_KINDS:
            self._erased[subject] = header.seq
        if event.erased is not None:
            first, by = self._claimed.get(subject, (header.seq, event.erased))
            # All of one subject go together: where two events are named, the second is wrong.
            self._claimed[subject] = (first, by) if by == event.erased else (header.seq, NEVER)

    def wrong(self) -> int | None:
        """The first event whose payload is not there, and was not destroyed as it says."""
        claims = self._claimed.items()
        return min((seq for subject, (seq, by) in claims if self._erased.get(subject) != by), default=None)


class _Run:
    def __init__(self, target: Backend, journal: JournalReader) -> None:
        self._target = target
        self._journal = journal
        self._store: Store | None = None
        self._row: bytes | None = None
        self._destroyed = DestroyedPayloads(target)
        self._erasures = Erasures()
        self.size = 0

    def step(self, events: list[RawEntry]) -> None:
        entries = [event.entry for event in events]
        with self._target.snapshot() as before:
            if problem := check_chain(entries, before):
                seq = problem.seq or 0
                raise damaged(self._journal.name, seq + 2, problem.problem, seq)
        if entries[0].header.kind is EventKind.CHECKPOINT:
            self._check_checkpoint(events[0])
        self._row = append(self._target, events, self._row)
        if self._store is None:
            self._store = Store(self._target, None)
        for event in events:
            self._erasures.add(event)
            for left in self._destroyed.follow(event):
                seq = left.seq or 0
                raise damaged(self._journal.name, seq + 2, left.problem, seq)
        self._store.recent.add(entries)
        self._store.follow(more=True)
        self.size += len(events)

    def _check_checkpoint(self, event: RawEntry) -> None:
        detail, body, seq = event.entry.header.detail, event.entry.body, event.entry.header.seq
        if self._store is None or not isinstance(detail, CheckpointDetail):
            return
        found = self._roots(self._store)
        said = found._replace(namespaces=body.roots) if isinstance(body, CheckpointBody) else found
        # Of before an erasure only the roots that headers give can be worked out; the log has the others.
        sure = len(NAMESPACES) if self._destroyed.by is None else len(FROM_HEADERS)
        if said.overall != detail.root or said.namespaces[:sure] != found.namespaces[:sure]:
            reason = f"a checkpoint of other roots than the events before it give, {found.overall.hex()}"
            raise damaged(self._journal.name, seq + 2, reason, seq)

    def _roots(self, store: Store) -> Roots:
        with store.view(*store.followers) as rows:
            return store.roots(rows)

    def finish(self) -> Roots:
        if self._store is None:
            raise self._journal.damaged("there are no events")
        if (seq := self._erasures.wrong()) is not None:
            reason = "the payload is not there, and the event that is named did not destroy it"
            raise damaged(self._journal.name, seq + 2, reason, seq)
        found = self._roots(self._store)
        self._journal.finish(self._store.identity, found)
        self._target.write(Batch(), durable=True)
        return found
