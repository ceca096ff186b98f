"""The appender: new events continue the journal, in one batch with their effect on the records.

An event is first a *draft*: it has neither a time nor a salt, and its place in the log is not computed. The
waiting drafts become events together, as a run, when something needs them. A single event is a run of one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from backends.base import Batch, Guard
from engine.base import limits
from engine.base.basic_values import EventRef
from engine.base.errors import BatchLimitError, InvalidInputError, LimitError
from engine.base.native import NATIVE
from engine.base.validation import quoted
from engine.ledger.fold import Overlay, fold
from engine.ledger.journal import Cursor, LogState, encode_cursor, encode_log, subject_key
from engine.ledger.layout import (
    ATOM,
    COUNTERS,
    EDGE_FROM,
    EDGE_TO,
    JOURNAL,
    LOG,
    ORDINAL,
    PAYLOAD,
    cursor_key,
    encode_seq,
    erasure_key,
    journal_key,
    payload_key,
)
from engine.ledger.records import Counters, Lookup, encode_counters
from proofs.codec import encode_body, encode_header
from proofs.events import (
    ERASING_KINDS,
    AtomBody,
    AtomDetail,
    Body,
    Detail,
    EdgeBody,
    EdgeDetail,
    Entry,
    EventKind,
    FactDetail,
    Header,
    Origin,
)
from proofs.hashing import commitment
from proofs.log import Frontier, leaf_hash

Clock = Callable[[], int]
"""A function without arguments that returns the current time in µs UTC."""

Salts = Callable[[int], bytes]
"""A function that maps the seq of an event to the 32-byte salt of its payload. Salts are random except in
tests and dry runs."""


def random_salt(seq: int) -> bytes:
    """Return 32 random bytes as the salt of event `seq`. The number `seq` is ignored."""
    del seq
    return os.urandom(32)


class Sources(NamedTuple):
    """The external inputs of a journal: the time and randomness."""

    clock: Clock
    salts: Salts


DRY_RUN_SOURCES: Final = Sources(lambda: 0, lambda _seq: bytes(32))
"""The constant time and salts of a dry run, whose events are never written."""

RECORDS_NAME: Final = "records"
RECORDS_VERSION: Final = 2
"""The name of the projection of the records, and the version of its row format."""

_RECORDS_CURSOR: Final = cursor_key(RECORDS_NAME)

RUN_CHARS_MAX: Final = 1 << 20
"""Drafts whose contents have more than this many characters do not wait any longer.

Otherwise a batch with too many bytes would be detected late.
"""


Draft = tuple[EventKind, int | None, Detail, Body, Origin | None]
"""An event before it is encoded: its kind, the seq of the previous event on the subject, and other fields."""


class Run(NamedTuple):
    """Consecutive events that were encoded together."""

    rows: dict[bytes, bytes]
    """The rows of the headers and the payloads."""
    entries: list[Entry]
    frontier: bytes
    """The frontier of the log after the events."""
    size: int
    """The number of bytes of all headers and payloads."""


def encoded(
    frontier: bytes, actor: str, drafts: Sequence[Draft], salts: Sequence[bytes], times: Sequence[int]
) -> Run:
    """Return the journal rows and the entries of consecutive events.

    Args:
        frontier: The frontier of the log before the events.
        actor: The author of the events.
        drafts: The events, at least one.
        salts: The salt of each payload.
        times: The time of each event.

    Raises:
        ValueError: A salt does not have 32 bytes.
    """
    if NATIVE is not None:
        result = NATIVE.encoded_events(frontier, actor, list(drafts), list(salts), list(times))
        if result is not None:
            rows, commitments, leaves, longer, size = result
            # Measured: `tuple.__new__` takes half of the time of the constructors of the named tuples.
            new, first = tuple.__new__, int.from_bytes(frontier[:8], "big")
            entries = [
                new(Entry, (new(Header, (seq, time, kind, actor, mark, prev, detail, origin)), body, leaf))
                for seq, ((kind, prev, detail, body, origin), time, mark, leaf) in enumerate(
                    zip(drafts, times, commitments, leaves, strict=True), first
                )
            ]
            return Run(rows, entries, longer, size)
    return encoded_twin(frontier, actor, drafts, salts, times)


def encoded_twin(
    frontier: bytes, actor: str, drafts: Sequence[Draft], salts: Sequence[bytes], times: Sequence[int]
) -> Run:
    """Do the work of `encoded` in Python. The arguments and the result are the same as for `encoded`."""
    rows: dict[bytes, bytes] = {}
    entries, log, size = [], Frontier.from_bytes(frontier), 0
    for (kind, prev, detail, body, origin), salt, time in zip(drafts, salts, times, strict=True):
        seq = log.size
        raw_body = encode_body(body)
        header = Header(seq, time, kind, actor, commitment(salt, raw_body), prev, detail, origin)
        raw_header = encode_header(header)
        leaf = leaf_hash(raw_header)
        log.append(leaf)
        rows[journal_key(seq)] = raw_header
        rows[payload_key(seq)] = payload = salt + raw_body
        entries.append(Entry(header, body, leaf))
        size += len(raw_header) + len(payload)
    return Run(rows, entries, log.to_bytes(), size)


WAITING_KINDS: Final = frozenset(
    {
        EventKind.ATOM_TOMBSTONED,
        EventKind.ATOM_REVIVED,
        EventKind.TAGS_ADDED,
        EventKind.TAGS_REMOVED,
        EventKind.EDGE_REMOVED,
    }
)
"""The kinds of the drafts that wait, besides those with the body of an atom or edge.

These drafts change only the record of an atom or edge.
"""


class Appender:
    """Appends events in order, and their effect on the records, as rows in one batch.

    The appender works on copies, so abandoning an appender changes nothing in the store. The events become
    part of the journal when the batch is written. This write must be guarded with `head_guards`: it may
    succeed only if the log and the records have not changed since the appender was created.
    """

    def __init__(self, rows: Lookup, log: LogState, actor: str, sources: Sources) -> None:
        """Begin after the last event of the log.

        Args:
            rows: The rows of the store at that end of the journal.
            log: The state of the log at that end of the journal.
            actor: The author of the events.
            sources: The functions that provide time and random bytes.
        """
        self.batch = Batch()
        """The rows of the events that do not wait any longer."""
        self.overlay = Overlay(rows, self.batch)
        self.changed: set[bytes | EdgeDetail] = set()
        """The atoms and edges that the events concern, also those that wait."""
        self.entries: list[Entry] = []
        """The events that do not wait any longer."""
        self.events: list[EventRef] = []
        """A reference to each event. The id of a waiting one is not set yet."""
        self.bytes = 0
        self._drafts: list[Draft] = []
        self._chars = 0
        self._actor = actor
        self._first = log.size
        self._frontier = log.raw_frontier
        self._time = log.time
        self._clock, self._salts = sources

    @property
    def size(self) -> int:
        """The number of events in the log, including all drafts."""
        return self._first + len(self.events)

    def set_actor(self, actor: str) -> None:
        """Record `actor` as the author of the events from here on.

        Raises:
            LimitError: as for `settle`.
            BatchLimitError: as for `settle`.
        """
        if actor != self._actor:
            self.settle()
            self._actor = actor

    def append(
        self, kind: EventKind, prev: int | None, detail: Detail, body: Body, origin: Origin | None = None
    ) -> EventRef:
        """Append one event, which may wait, and return a reference to it.

        The reference gets its `event_id` when the event does not wait any longer (`settle`).

        Raises:
            LimitError: the journal is full; or as for `settle`.
            BatchLimitError: the batch would exceed its limit of events or bytes.
        """
        events = self.events
        count = len(events)
        seq = self._first + count
        if count >= limits.BATCH_EVENTS_MAX:
            raise BatchLimitError(
                f"one batch has over {limits.BATCH_EVENTS_MAX} events; split it into smaller batches"
            )
        if seq > limits.SEQ_MAX:
            raise LimitError(f"the journal is full: it has {limits.SEQ_MAX} events")
        event: EventRef = _new(EventRef)
        _set_seq(event, seq)
        _set_kind(event, kind)
        events.append(event)
        self._drafts.append((kind, prev, detail, body, origin))
        if type(detail) is EdgeDetail:
            self.changed.add(detail)
        elif isinstance(detail, (AtomDetail, FactDetail)) and detail.id is not None:
            self.changed.add(detail.id)
        if type(body) is AtomBody:
            self._chars += len(body[0])
            if self._chars > RUN_CHARS_MAX:
                self.settle()
        elif type(body) is not EdgeBody and kind not in WAITING_KINDS:
            self.settle()
        return event

    def settle(self) -> None:
        """Encode the waiting drafts, and fold them into the records.

        Raises:
            LimitError: an event is over 4 MiB, or the time is over its limit.
            BatchLimitError: the batch would exceed its limit of bytes.
        """
        drafts = self._drafts
        if not drafts:
            return
        self._drafts, self._chars = [], 0
        run = encoded(
            self._frontier, self._actor, drafts, self._salts_of(len(drafts)), self._times(len(drafts))
        )
        if run.size > limits.EVENT_BYTES_MAX:
            _check_sizes(run)
        self.bytes += run.size
        if self.bytes > limits.BATCH_BYTES_MAX:
            raise BatchLimitError(
                f"one batch has over {limits.BATCH_BYTES_MAX} bytes; split it into smaller batches"
            )
        self._frontier = run.frontier
        rows, at = self.batch.rows, len(self.entries)
        rows.update(run.rows)
        for event, entry in zip(self.events[at:], run.entries, strict=True):
            _set_event_id(event, entry[0][4].hex())
        kind, _, detail, *_ = drafts[-1]
        if kind in ERASING_KINDS:  # an event of these kinds does not wait, so it is the last of its run
            rows[erasure_key(subject_key(detail))] = encode_seq(run.entries[-1].header.seq)
        fold(run.entries, self.overlay)
        self.entries += run.entries

    def concerns(self, key: bytes) -> bool:
        """Return True if a waiting draft may change the row with this key."""
        if not self._drafts:
            return False
        if key.startswith(ATOM):
            return key[len(ATOM) :] in self.changed
        if key.startswith((JOURNAL, PAYLOAD)):
            return key[len(JOURNAL) :] >= encode_seq(self._first + len(self.entries))
        return key.startswith((EDGE_FROM, EDGE_TO, ORDINAL))

    def _salts_of(self, count: int) -> list[bytes]:
        """Return the salts of the next events."""
        if self._salts is random_salt:
            # One call of the system for all salts. Measured: 1 µs less for each event.
            drawn = os.urandom(32 * count)
            return [drawn[at : at + 32] for at in range(0, 32 * count, 32)]
        start = self._first + len(self.entries)
        return [self._salts(seq) for seq in range(start, start + count)]

    def _times(self, count: int) -> list[int]:
        """Return the times of the next `count` events, at least one. No time is before the previous time."""
        clock, latest, times = self._clock, self._time, []
        for _ in range(count):
            now = clock()
            if type(now) is not int:
                raise InvalidInputError(f"the clock must return whole microseconds, not {quoted(now)}")
            if now > latest:
                latest = now
            times.append(latest)
        if latest > limits.INTEGER_MAX:
            raise LimitError(f"the time is {latest} µs; at most {limits.INTEGER_MAX} is allowed")
        self._time = latest
        return times

    def finish(self, counters: Counters) -> Batch:
        """Put the new state of the log and the cursor and counters of the records into the batch; return it.

        Call this once, after the last event. There must be an event.

        Raises:
            LimitError: as for `settle`.
            BatchLimitError: as for `settle`.
        """
        self.settle()
        seal(self.batch, self.entries[-1], counters)
        self.batch.rows[LOG] = encode_log(self._time, self._frontier)
        self.batch.reaches = self.size
        return self.batch


_new = object.__new__
_set_seq, _set_kind, _set_event_id = (getattr(EventRef, name).__set__ for name in ("seq", "kind", "event_id"))
"""Measured: setting the fields takes half of the time of the constructor, which sets each with two calls."""


def _check_sizes(run: Run) -> None:
    """Raise LimitError if an event of the run is too large."""
    for entry in run.entries:
        seq = entry.header.seq
        size = len(run.rows[journal_key(seq)]) + len(run.rows[payload_key(seq)])
        if size > limits.EVENT_BYTES_MAX:
            raise LimitError(f"an event has {size} bytes; at most {limits.EVENT_BYTES_MAX} are allowed")


class DraftRows:
    """The rows of a store as changed by all events of an appender, also by those that wait."""

    __slots__ = ("_appender", "_overlay", "base")

    def __init__(self, appender: Appender) -> None:
        """Show the rows of this appender."""
        self._appender, self._overlay = appender, appender.overlay
        self.base = appender.overlay.base
        """The rows before the events."""

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a row. Drafts that concern the row do not wait any longer.

        Raises:
            LimitError: as for `Appender.settle`.
            BatchLimitError: as for `Appender.settle`.
        """
        if self._appender.concerns(key):
            self._appender.settle()
        return self._overlay.get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the result of `get` for each of `keys`, in the same order.

        Raises:
            LimitError: as for `Appender.settle`.
            BatchLimitError: as for `Appender.settle`.
        """
        if any(map(self._appender.concerns, keys)):
            self._appender.settle()
        return self._overlay.multi_get(keys)


def seal(batch: Batch, last: Entry, counters: Counters) -> None:
    """Put the cursor and the counters of the records into `batch`. `last` is the journal's last entry."""
    batch.rows[COUNTERS] = encode_counters(counters)
    batch.rows[_RECORDS_CURSOR] = encode_cursor(Cursor(RECORDS_VERSION, last.header.seq + 1, last.leaf))


def head_guards(rows: Lookup, log: LogState) -> tuple[Guard, Guard]:
    """Return the two guards of a batch of events: the log row and the cursor of the records.

    Both guards are needed, because a rebuild in another process changes the cursor but not the log row.
    Without a guard on the cursor, a commit could mark records as current although the rebuild has deleted
    them.
    """
    return Guard(LOG, log.row), Guard(_RECORDS_CURSOR, rows.get(_RECORDS_CURSOR))
