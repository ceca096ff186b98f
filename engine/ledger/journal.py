"""The journal: its rows, reading its events, and the state of its log (SPEC: Journal).

An entry is a header row and a payload row. The header is a leaf of the log. A salted commitment binds the
payload to its header, so the history can still be proved after the payload is destroyed. The rows under `x/`
distinguish destroyed payloads from lost payloads. These rows are written and copied together with the events.
Events are appended by `engine.ledger.appender`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from backends.base import HEADERS, Reader, Snapshot
from engine.base import limits
from engine.base.errors import CorruptionError, LockedError
from engine.base.native import NATIVE
from engine.ledger.layout import (
    JOURNAL,
    LOG,
    PAYLOAD,
    decode_body,
    decode_header,
    decode_seq,
    encode_seq,
    erasure_key,
    fields,
    journal_key,
    payload_key,
    unpack,
)
from engine.ledger.records import Lookup
from proofs.codec import BODIES, DETAILS, pack
from proofs.events import (
    ERASING_KINDS,
    AtomDetail,
    Body,
    Detail,
    EdgeDetail,
    Entry,
    EventKind,
    FactDetail,
    GenesisBody,
    GenesisDetail,
    Header,
)
from proofs.forms import raw_up_to, uint
from proofs.hashing import SALT_BYTES, commitment
from proofs.leaves import edge_key
from proofs.log import SIZE_BYTES, Frontier, leaf_hash

_LOG_FIELDS = (uint(), raw_up_to(8 + 32 * 64))


class LogState(NamedTuple):
    """The decoded row `meta/log`. A commit succeeds only if this row is unchanged."""

    row: bytes | None
    time: int
    """The time of the last event."""
    size: int
    """The number of events in the journal."""
    raw_frontier: bytes
    """The frontier, encoded."""

    @property
    def frontier(self) -> Frontier:
        """A new object with the frontier of the log."""
        return Frontier.from_bytes(self.raw_frontier)


_EMPTY_LOG = LogState(None, 0, 0, Frontier().to_bytes())


class _LastRow:
    """The last row of the log that was encoded or decoded. Many readers decode the same row."""

    state = _EMPTY_LOG


def read_log(rows: Lookup, store: Lookup | None = None) -> LogState:
    """Return the state of the log. If there is no journal yet, the state has size 0.

    If `rows` are not all rows of the store, `store` has them.

    Raises:
        CorruptionError: the row does not decode to a state of the log.
        LockedError: another process has sealed the store.
    """
    row = rows.get(LOG)
    if row is None:
        return _EMPTY_LOG
    last = _LastRow.state  # read once, because other threads may replace it
    if last.row != row:
        try:
            last = _LastRow.state = decode_log(row)
        except CorruptionError:
            if (store or rows).get(min(HEADERS)) is None:
                raise
            raise LockedError(
                "the store was sealed while it was open here", hint="close it, and open it with the key"
            ) from None
    return last


def decode_log(row: bytes) -> LogState:
    """Decode the row `meta/log`.

    Raises:
        CorruptionError: the row does not decode to a state of the log.
    """
    time, raw = fields(unpack(row, "log state"), _LOG_FIELDS, "log state")
    try:
        return LogState(row, time, Frontier.from_bytes(raw).size, raw)
    except ValueError as error:
        raise CorruptionError(f"the log state is malformed: {error}") from error


def encode_log(time: int, frontier: bytes) -> bytes:
    """Return the value of the row `meta/log` for this time of the last event and this encoded frontier."""
    row = pack([time, frontier])
    _LastRow.state = LogState(row, time, int.from_bytes(frontier[:SIZE_BYTES], "big"), frontier)
    return row


class Cursor(NamedTuple):
    """The position of a projection: the number of processed events, and the log leaf of the last event."""

    version: int
    size: int
    leaf: bytes


@lru_cache(maxsize=16)
def encode_cursor(cursor: Cursor) -> bytes:
    """Return the value of the row that stores a cursor."""
    return pack(list(cursor))


def subject_key(detail: Detail) -> bytes:
    """Return the key of the atom or edge that an event is about, or b"" if there is no such atom or edge."""
    if isinstance(detail, AtomDetail):
        return detail.id
    if isinstance(detail, FactDetail):
        return detail.id or b""
    return edge_key(*detail) if isinstance(detail, EdgeDetail) else b""


def erased_at(rows: Lookup, header: Header) -> int | None:
    """Return the seq of the event that destroyed the payload of `header`, or None if there is no such event.

    The seq may be beyond the last event of `rows` if `rows` holds only the first events of a journal.

    Raises:
        CorruptionError: the row under `x/` does not hold a seq, or the header at that seq is malformed.
    """
    raw = rows.get(erasure_key(subject_key(header.detail)))
    seq = None if raw is None else decode_seq(raw, "erasure")
    if seq is None or seq <= header.seq or header.kind in ERASING_KINDS:
        return None
    row = rows.get(journal_key(seq))
    if row is None:
        return None if seq < read_log(rows).size else seq
    erasing = decode_header(row, seq)
    same_subject = subject_key(erasing.detail) == subject_key(header.detail)
    return seq if erasing.kind in ERASING_KINDS and same_subject else None


def read_header(rows: Lookup, seq: int) -> tuple[Header, bytes]:
    """Return the header of event `seq` and its leaf hash.

    Raises:
        CorruptionError: the header is missing or malformed.
    """
    raw = rows.get(journal_key(seq))
    if raw is None:
        raise _missing_header(seq)
    return decode_header(raw, seq), leaf_hash(raw)


def earlier_headers(rows: Lookup, header: Header) -> Iterator[Header]:
    """Yield the headers of the earlier events on the subject of `header`, newest first.

    The iterator ends before the event that last erased the subject. No payload is read, so destroyed payloads
    do not matter.

    Raises:
        CorruptionError: one of these headers is missing or malformed.
    """
    subject = subject_key(header.detail)
    # In a forged journal `prev` may be any number and may refer to an event on another subject.
    while header.prev is not None and header.prev < header.seq:
        header, _ = read_header(rows, header.prev)
        if header.kind in ERASING_KINDS or subject_key(header.detail) != subject:
            return
        yield header


def erased_ordinals(rows: Lookup, erased: Header) -> set[int]:
    """Return all ordinals that an atom has had since its previous erasure, or since it was first added.

    `erased` is the header of the event that erases the atom.

    Raises:
        CorruptionError: a header is missing or malformed.
    """
    details = (header.detail for header in (erased, *earlier_headers(rows, erased)))
    return {detail.ordinal for detail in details if isinstance(detail, AtomDetail)}


def read_entry(rows: Lookup, seq: int) -> Entry:
    """Return event `seq`, after checking its payload against the commitment in its header.

    Raises:
        CorruptionError: a row is missing or does not have the bytes that were written.
    """
    header, leaf = read_header(rows, seq)
    return Entry(header, read_body(rows, header, rows.get(payload_key(seq))), leaf)


def entries_back(rows: Lookup, last: int) -> Iterator[Entry]:
    """Yield the events on one subject, newest first, beginning with event `last`.

    Raises:
        CorruptionError: see `read_entry`.
    """
    seq: int | None = last
    while seq is not None:
        entry = read_entry(rows, seq)
        yield entry
        seq = entry.header.prev


def read_body(rows: Lookup, header: Header, raw: bytes | None) -> Body | None:
    """Return the body in the payload row `raw`, or None if an event in `rows` destroyed the payload.

    Raises:
        CorruptionError: see `open_payload`.
    """
    return None if raw is None and erased_at(rows, header) is not None else open_payload(header, raw)


def open_payload(header: Header, raw: bytes | None) -> Body:
    """Return the body in a payload row, after checking the row against the commitment in the header.

    Raises:
        CorruptionError: the row is missing, or does not match the commitment.
    """
    where = f"payload {header.seq}"
    if raw is None:
        raise CorruptionError(f"{where} is missing", family="payload", seq=header.seq)
    salt, body = raw[:SALT_BYTES], raw[SALT_BYTES:]
    if len(salt) != SALT_BYTES or commitment(salt, body) != header.commitment:
        raise CorruptionError(
            f"{where} does not match the commitment in its header", family="payload", seq=header.seq
        )
    return decode_body(header.kind, body, where)


def _missing_header(seq: int) -> CorruptionError:
    return CorruptionError(f"journal header {seq} is missing", family="journal", seq=seq)


class RawEntry(NamedTuple):
    """An event with the two rows from which it was read."""

    entry: Entry
    header: bytes
    payload: bytes | None
    """The payload row, or None if the payload was destroyed."""
    erased: int | None = None
    """The seq of the event that destroyed the payload, or None."""


def read_raw(
    rows: Reader,
    start: int,
    stop: int,
    bytes_max: int = limits.FOLLOW_BYTES_MAX,
    skip: Callable[[bytes], bool] = lambda _: False,
) -> Iterator[RawEntry]:
    """Yield the events from `start` up to but excluding `stop`.

    The iterator ends earlier if it has read at least `bytes_max` bytes, but always after a whole event.
    Events for whose header `skip` is true may be left out; they are not checked.

    Raises:
        CorruptionError: a row is missing, is out of order, or does not have the bytes that were written.
    """
    read = 0
    for seq, headers, payloads in _runs(rows, start, stop):
        for at, entry in enumerate(decoded_entries(headers, payloads, seq)):
            raw_header, raw_payload, erased = headers[at], payloads[at], None
            if entry is None:
                if skip(raw_header):
                    continue
                header = decode_header(raw_header, seq + at)
                if raw_payload is None:
                    erased = erased_at(rows, header)
                body = None if erased is not None else open_payload(header, raw_payload)
                entry = Entry(header, body, leaf_hash(raw_header))
            yield RawEntry(entry, raw_header, raw_payload, erased)
            read += len(raw_header) + len(raw_payload or b"")
            if read >= bytes_max:
                return


def check_entries(rows: Reader, start: int, stop: int) -> None:
    """Check the events from `start` up to but excluding `stop`, in the same way as `read_raw`.

    Raises:
        CorruptionError: see `read_raw`.
    """
    for seq, headers, payloads in _runs(rows, start, stop):
        doubtful: Iterable[int] = range(len(headers))
        if NATIVE is not None:
            doubtful = NATIVE.doubtful_entries(headers, payloads, seq)
        for at in doubtful:
            header = decode_header(headers[at], seq + at)
            read_body(rows, header, payloads[at])


_RUN_EVENTS = 1024
_RUN_BYTES = 1 << 20
"""The size at which a run of rows is complete: a number of events, and a number of bytes without headers."""


def _runs(rows: Reader, start: int, stop: int) -> Iterator[tuple[int, list[bytes], list[bytes | None]]]:
    """Yield the rows of consecutive events: the first seq, the headers, and the payloads that exist.

    Raises:
        CorruptionError: a header is missing or out of order. The rows before it have been yielded.
    """
    header_rows = rows.scan(journal_key(start), journal_key(stop))
    payload_rows = rows.scan(payload_key(start), payload_key(stop))
    payload_row, first = next(payload_rows, _NO_ROW), start
    headers: list[bytes] = []
    payloads: list[bytes | None] = []
    size = 0
    for seq in range(start, stop):
        key, header = next(header_rows, _NO_ROW)
        number = encode_seq(seq)
        if key != JOURNAL + number:
            if headers:
                yield first, headers, payloads
            raise _missing_header(seq)
        headers.append(header)
        if payload_row[0] == PAYLOAD + number:
            payloads.append(payload_row[1])
            size += len(payload_row[1])
            payload_row = next(payload_rows, _NO_ROW)
        else:
            payloads.append(None)
        if len(headers) >= _RUN_EVENTS or size >= _RUN_BYTES:
            yield first, headers, payloads
            headers, payloads, size, first = [], [], 0, seq + 1
    if headers:
        yield first, headers, payloads


_NO_ROW = (b"", b"")
_CLASSES = (
    tuple,
    Entry,
    Header,
    [
        (EventKind(number), DETAILS[EventKind(number)][0], BODIES[EventKind(number)][0])
        if number in set(EventKind)
        else None
        for number in range(max(EventKind) + 1)
    ],
)
"""The classes of an entry and of the parts of an entry, for the compiled `decode_entries`."""


def decoded_entries(headers: list[bytes], payloads: list[bytes | None], start: int) -> Sequence[Entry | None]:
    """Return the checked entries of consecutive events; None for an event that no kernel decoded."""
    if NATIVE is None:
        return [None] * len(headers)
    return NATIVE.decode_entries(headers, payloads, start, _CLASSES)  # type: ignore[no-any-return]


def read_entries(rows: Reader, start: int, stop: int) -> list[Entry]:
    """Return the events that `read_raw` yields, without the rows.

    Raises:
        CorruptionError: see `read_raw`.
    """
    return [raw.entry for raw in read_raw(rows, start, stop)]


class Identity(NamedTuple):
    """The identity of a store and of its analyzer, as recorded in the first event of the journal."""

    store_id: bytes
    analyzer: str
    fingerprint: bytes
    label_commitment: bytes
    rules: int
    id_key: bytes
    label_key: bytes
    row_key: bytes

    @property
    def public(self) -> Identity:
        """The identity without the keys."""
        return self._replace(id_key=b"", label_key=b"", row_key=b"")


_IDENTITIES: Final[WeakKeyDictionary[Snapshot, Identity]] = WeakKeyDictionary()
"""The identities read in open snapshots. A question needs the label key for each set that it reads."""


def read_identity(rows: Lookup) -> Identity:
    """Return the identity that the genesis event records. In a snapshot, it is read once.

    Raises:
        CorruptionError: the first event is missing or is not a genesis event.
    """
    known = _IDENTITIES.get(rows) if isinstance(rows, Snapshot) else None
    if known is not None:
        return known
    header, payload = rows.get(journal_key(0)), rows.get(payload_key(0))
    if header is None:
        raise _missing_header(0)
    identity = _identity(header, payload)
    if isinstance(rows, Snapshot):
        _IDENTITIES[rows] = identity
    return identity


def identity_for(entries: Sequence[Entry], rows: Lookup) -> Identity:
    """Return the identity that a follower needs for `entries`, which may begin with the genesis event itself.

    Raises:
        CorruptionError: see `read_identity`.
    """
    first = entries[0]
    if isinstance(first.header.detail, GenesisDetail) and isinstance(first.body, GenesisBody):
        return Identity(*first.header.detail, *first.body[:3])
    return read_identity(rows)


@lru_cache(maxsize=16)
def _identity(raw_header: bytes, raw_payload: bytes | None) -> Identity:
    """Return the identity in the rows of event 0. Each use of a predicate's name needs it."""
    header = decode_header(raw_header, 0)
    detail, body = header.detail, open_payload(header, raw_payload)
    if not isinstance(detail, GenesisDetail) or not isinstance(body, GenesisBody):
        raise CorruptionError("the first event of the journal is not a genesis event")
    return Identity(*detail, *body[:3])
