"""Read an exported journal, recomputing every event, commitment and root.

The file is not trusted. It is read into a temporary store. The temporary store is moved to its final place
only if its roots equal the roots in the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import BinaryIO

from backends.base import Backend, Batch
from engine.base import limits
from engine.base.errors import CorruptionError
from engine.exchange.journal_lines import (
    Head,
    LineError,
    damaged,
    is_tail,
    parse_line,
    read_event,
    read_head,
    tail_line,
)
from engine.ledger.journal import Identity, RawEntry, subject_key
from engine.store.replay import Progress, append, no_progress
from engine.store.store import Store
from engine.store.views import Roots
from engine.trust.audit.chain import check_chain
from engine.trust.audit.comparison import DestroyedPayloads
from proofs.events import ERASING_KINDS, CheckpointBody, CheckpointDetail, EventKind

NEVER = -1
"""The number used in place of an event's number if there was no erasure; no event has this number."""

EventCheck = Callable[[RawEntry], None]
"""A callback that receives each event before the event is used; raising an exception ends the import."""

LINE_BYTES_MAX = 32 << 20
"""The maximum number of bytes of a line: an event has up to 4 MiB, and JSON may write a byte as six bytes."""

Reject = Callable[[int, str], CorruptionError]
"""A function that takes an event's seq and the reason for rejecting the event, and returns the error."""


def accept_all(event: RawEntry) -> None:
    """Accept every event. This check is used if the caller passes no other check."""


class JournalReader:
    """A reader of the events of an exported journal. It holds at most one line in memory.

    Raises:
        CorruptionError: the first line is not the first line of an export.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        """Read the first line of the export; `name` is the name of the export in error messages."""
        self.check: EventCheck = accept_all
        self._stream = stream
        self._digest = sha256()
        self.name = name
        self.line = 0
        """The number of the last line read, from 1."""
        try:
            self.head: Head = read_head(self._next())
        except LineError as error:
            raise self.damaged(str(error)) from None

    def damaged(self, reason: str) -> CorruptionError:
        """Return the error for the last line read."""
        seq = self.line - 2
        return damaged(self.name, self.line, reason, seq if seq >= 0 else None)

    def events(self) -> Iterator[RawEntry]:
        """Check and yield all events in order; call `finish` afterwards to check the export as a whole.

        Raises:
            CorruptionError: a line cannot have been written by an export; the error names the line.
        """
        size = self.head.roots.size
        try:
            for seq in range(size):
                raw = self._next()
                fields = parse_line(raw)
                if is_tail(fields):
                    raise LineError(f"the export ends here, after {seq} of {size} events")
                event = read_event(raw, fields, seq)
                self.check(event)
                yield event
        except LineError as error:
            raise self.damaged(str(error)) from None

    def finish(self, identity: Identity, roots: Roots) -> None:
        """Compare the first and the last line with the identity and roots that were computed from the events.

        Raises:
            CorruptionError: one of the two lines differs; the error names the line.
        """
        expected = tail_line(roots.size, roots.log, self._digest.digest())
        try:
            raw = self._next()
            tail = parse_line(raw)
            if not is_tail(tail):
                raise LineError(f"this should be the last line, because {roots.size} events precede it")
            claimed = self.head.roots
            if claimed.log != roots.log and tail.get("log_root") == claimed.log.hex():
                raise LineError(
                    f"the log root of the events is {roots.log.hex()}, not {claimed.log.hex()}: an event was "
                    "changed together with the hashes in its line"
                )
            if self.head != Head(identity.public, roots._replace(identity=identity.public)):
                self.line = 1
                raise LineError(
                    f"the first line does not match the events, whose overall root is {roots.overall.hex()}"
                )
            if raw != expected:
                raise LineError("the last line does not match the lines before it")
            if self._stream.read(1):
                self.line += 1
                raise LineError("there are more bytes after the last line")
        except LineError as error:
            raise self.damaged(str(error)) from None

    def _next(self) -> bytes:
        raw = self._stream.readline(LINE_BYTES_MAX + 1)
        self.line += 1
        if not raw:
            raise LineError("the file ends before this line, so it is truncated")
        if len(raw) > LINE_BYTES_MAX:
            raise LineError(f"the line is over {LINE_BYTES_MAX:,} bytes long")
        if not raw.endswith(b"\n"):
            raise LineError("the file ends inside this line")
        self._digest.update(raw)
        return raw


def read_into(target: Backend, journal: JournalReader, progress: Progress = no_progress) -> Roots:
    """Rebuild the store of an exported journal in an empty backend, and verify it against the export's roots.

    Every commitment, header, root and recorded checkpoint is recomputed. Each event must be valid in
    the state that the earlier events lead to.

    Returns:
        The roots, which equal the roots in the first line.

    Raises:
        CorruptionError: a line is wrong; the error names the line. The target must then be discarded.
        EngineError: the store was written with a different analyzer.
    """
    run = CheckedReplay(target, lambda seq, reason: damaged(journal.name, seq + 2, reason, seq))
    for events in batches(journal.events()):
        run.step(events)
        progress(run.size, journal.head.roots.size)
    if not run.size:
        raise journal.damaged("the export has no events")
    identity, roots = run.finish()
    journal.finish(identity, roots)
    target.write(Batch(), durable=True)
    return roots


def batches(events: Iterator[RawEntry]) -> Iterator[list[RawEntry]]:
    """Yield batches of consecutive events; a checkpoint is always the first event of its batch."""
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
    """A check that each missing payload was destroyed by the event that the payload's line names."""

    def __init__(self) -> None:
        self._claimed: dict[bytes, tuple[int, int]] = {}
        """Subject → (its first event without a payload, the erasing event that its line names)."""
        self._erased: dict[bytes, int] = {}

    def add(self, event: RawEntry) -> None:
        """Record the next event of the export, for a later call of `first_invalid`."""
        header = event.entry.header
        subject = subject_key(header.detail)
        if header.kind in ERASING_KINDS:
            self._erased[subject] = header.seq
        if event.erased is not None:
            first, by = self._claimed.get(subject, (header.seq, event.erased))
            # One event destroys all payloads of a subject: if two events are named, the second one is wrong.
            self._claimed[subject] = (first, by) if by == event.erased else (header.seq, NEVER)

    def first_invalid(self) -> int | None:
        """Return the first event whose line names an event that did not destroy the missing payload.

        Return None if there is no such event.
        """
        claims = self._claimed.items()
        return min((seq for subject, (seq, by) in claims if self._erased.get(subject) != by), default=None)


class CheckedReplay:
    """Rebuilds a store from events that are not trusted, and checks that each event is valid at its place.

    Args:
        target: An empty backend, which must be discarded if an event is rejected.
        reject: The function that makes the errors.
    """

    def __init__(self, target: Backend, reject: Reject) -> None:
        self._target = target
        self._reject = reject
        self._store: Store | None = None
        self._row: bytes | None = None
        self._destroyed = DestroyedPayloads(target)
        self._erasures = Erasures()
        self.size = 0

    def step(self, events: list[RawEntry]) -> None:
        """Append the next events, one of the lists that `batches` yields.

        Raises:
            CorruptionError: an event is rejected.
        """
        entries = [event.entry for event in events]
        with self._target.snapshot() as before:
            if problem := check_chain(entries, before):
                raise self._reject(problem.seq or 0, problem.problem)
        if entries[0].header.kind is EventKind.CHECKPOINT:
            self._check_checkpoint(events[0])
        self._row = append(self._target, events, self._row)
        if self._store is None:
            self._store = Store(self._target, None)
        for event in events:
            self._erasures.add(event)
            for finding in self._destroyed.follow(event):
                raise self._reject(finding.seq or 0, finding.problem)
        self._store.recent.add(entries)
        self._store.follow(self._store.trees)  # `check_chain` reads the values of the last event
        self._store.follow(more=True)
        self.size += len(events)

    def _check_checkpoint(self, event: RawEntry) -> None:
        detail, body, seq = event.entry.header.detail, event.entry.body, event.entry.header.seq
        if self._store is None or not isinstance(detail, CheckpointDetail):
            return
        roots = self._roots(self._store)
        # Once payloads are destroyed, only the roots that depend on headers alone can be recomputed. The log
        # commits to the others.
        named = body.roots if isinstance(body, CheckpointBody) else roots.named_roots
        claimed = roots if self._destroyed.by is None else roots.claimed_by(named)
        if claimed.overall != detail.root or claimed.named_roots != named:
            reason = (
                f"the checkpoint does not match the events before it, whose root is {roots.overall.hex()}"
            )
            raise self._reject(seq, reason)

    def _roots(self, store: Store) -> Roots:
        with store.view(*store.followers) as rows:
            return store.roots(rows)

    def finish(self) -> tuple[Identity, Roots]:
        """Return the identity and the roots of the rebuilt store. Call this after the last event.

        Raises:
            CorruptionError: there is no event, or a payload is missing although no event destroyed it.
        """
        if self._store is None:
            raise self._reject(0, "there is no event")
        if (seq := self._erasures.first_invalid()) is not None:
            reason = "the payload is missing, but was not destroyed by the event that this line names"
            raise self._reject(seq, reason)
        return self._store.identity, self._roots(self._store)
