"""The journal: its head, its entries, and appending them to a batch (SPEC: Journal).

An entry is a header row and a payload row. The header is a leaf of the log; the payload is bound to
it by a salted commitment, so that it can be destroyed and the history still be proved. The rows `x/`, by
which destroyed payloads are told from lost ones, are written with its events, and copied with those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base import limits
from engine.base.errors import BatchLimitError, CorruptionError, EngineError, LimitError
from engine.ledger.codec import decode_body, decode_header, fields, unpack
from engine.ledger.fold import Overlay
from engine.ledger.layout import LOG, erasure_key, journal_key, payload_key
from engine.ledger.records import Lookup
from proofs.codec import encode_body, encode_header, pack
from proofs.events import (
    ERASING_KINDS,
    AtomDetail,
    Body,
    Detail,
    EdgeDetail,
    Entry,
    EventKind,
    GenesisBody,
    GenesisDetail,
    Header,
)
from proofs.forms import raw_up_to, uint
from proofs.hashing import SALT_BYTES, commitment
from proofs.leaves import edge_key
from proofs.log import Frontier, leaf_hash

_LOG_FIELDS = (uint(), raw_up_to(8 + 32 * 64))


class LogState(NamedTuple):
    """The row that every commit is guarded by, decoded."""

    row: bytes | None
    time: int
    frontier: Frontier

    @property
    def size(self) -> int:
        """How many events the journal holds."""
        return self.frontier.size


def read_log(rows: Lookup) -> LogState:
    """The state of the log; of size 0 where there is no journal yet.

    Raises:
        CorruptionError: the row is not such a state.
    """
    row = rows.get(LOG)
    if row is None:
        return LogState(None, 0, Frontier())
    time, raw = fields(unpack(row, "log state"), _LOG_FIELDS, "log state")
    try:
        return LogState(row, time, Frontier.from_bytes(raw))
    except ValueError as error:
        raise CorruptionError(f"log state: {error}") from error


def encode_log(time: int, frontier: Frontier) -> bytes:
    """The row of the log's state."""
    return pack([time, frontier.to_bytes()])


def subject_key(detail: Detail) -> bytes:
    """What names the atom or edge that an event is about; empty where it is about none."""
    if isinstance(detail, AtomDetail):
        return detail.id
    return edge_key(*detail) if isinstance(detail, EdgeDetail) else b""


def erased_at(rows: Lookup, header: Header) -> int | None:
    """The seq of the event that destroyed the payload of this one; None where none did.

    It may lie behind the last event of `rows`, where they are a beginning of a longer journal.

    Raises:
        CorruptionError: what stands there is no event that erases.
    """
    raw = rows.get(erasure_key(subject_key(header.detail)))
    seq = None if raw is None else decode_seq(raw, "erasure")
    if seq is None or seq <= header.seq or header.kind in ERASING_KINDS:
        return None
    row = rows.get(journal_key(seq))
    if row is None:
        return None if seq < read_log(rows).size else seq
    named = decode_header(row, seq)
    erases = named.kind in ERASING_KINDS and subject_key(named.detail) == subject_key(header.detail)
    return seq if erases else None


def encode_seq(seq: int) -> bytes:
    """The row that names an event."""
    return seq.to_bytes(8, "big")


def decode_seq(raw: bytes, where: str) -> int:
    """The event that a row names.

    Raises:
        CorruptionError: it names none.
    """
    if len(raw) != 8:
        raise CorruptionError(f"{where}: has {len(raw)} bytes, not 8", family="erasures")
    return int.from_bytes(raw, "big")


Clock = Callable[[], int]
"""The time now, in µs UTC."""

Salts = Callable[[int], bytes]
"""32 bytes for the payload of an event, by its seq: random, except in tests."""


class Sources(NamedTuple):
    """What a journal takes from outside: the time, and randomness."""

    clock: Clock
    salts: Salts


DRY_RUN_SOURCES: Final = Sources(lambda: 0, lambda _seq: bytes(32))
"""For events that are decided and never written: nobody sees their times and salts."""


class Appender:
    """Turns decided events into journal rows of one batch, in order.

    Works on copies: giving it up leaves everything as it was. What it appends is in the journal once
    the overlay's batch is written, guarded by the log row it began from.
    """

    def __init__(self, rows: Overlay, log: LogState, clock: Clock, salts: Salts) -> None:
        self._rows = rows
        self._frontier = log.frontier.copy()
        self._time = log.time
        self._clock = clock
        self._salts = salts
        self.entries: list[Entry] = []
        self.bytes = 0

    @property
    def size(self) -> int:
        """The size of the log with what was appended here."""
        return self._frontier.size

    def append(self, kind: EventKind, actor: str, prev: int | None, detail: Detail, body: Body) -> Entry:
        """Add one event; returns it as the fold and the followers will see it.

        Raises:
            LimitError: the event is over 4 MiB, or the batch over its number of events or bytes.
        """
        seq = self._frontier.size
        if len(self.entries) >= limits.BATCH_EVENTS_MAX:
            raise BatchLimitError(f"over {limits.BATCH_EVENTS_MAX} events in one batch; commit in parts")
        if seq > limits.SEQ_MAX:
            raise LimitError(f"the journal is full: {limits.SEQ_MAX} events")
        salt = self._salts(seq)
        raw_body = encode_body(body)
        self._time = max(self._time, self._clock())
        if self._time > limits.INTEGER_MAX:
            raise LimitError(f"the clock says {self._time} µs; at most {limits.INTEGER_MAX} is allowed")
        header = Header(seq, self._time, kind, actor, commitment(salt, raw_body), prev, detail)
        raw_header = encode_header(header)
        size = len(raw_header) + SALT_BYTES + len(raw_body)
        if size > limits.EVENT_BYTES_MAX:
            raise LimitError(f"an event has {size} bytes; at most {limits.EVENT_BYTES_MAX} are allowed")
        self.bytes += size
        if self.bytes > limits.BATCH_BYTES_MAX:
            raise BatchLimitError(f"over {limits.BATCH_BYTES_MAX} bytes in one batch; commit in parts")
        leaf = leaf_hash(raw_header)
        self._frontier.append(leaf)
        self._rows.batch.put(journal_key(seq), raw_header)
        self._rows.batch.put(payload_key(seq), salt + raw_body)
        if kind in ERASING_KINDS:
            self._rows.batch.put(erasure_key(subject_key(detail)), encode_seq(seq))
        entry = Entry(header, body, leaf)
        self.entries.append(entry)
        return entry

    def finish(self) -> None:
        """Put the log's new state into the batch; call once, after the last event."""
        self._rows.batch.put(LOG, encode_log(self._time, self._frontier))


def read_header(rows: Lookup, seq: int) -> tuple[Header, bytes]:
    """The header of event `seq` and its leaf hash.

    Raises:
        CorruptionError: there is none, or it is not one.
    """
    raw = rows.get(journal_key(seq))
    if raw is None:
        raise _missing_header(seq)
    return decode_header(raw, seq), leaf_hash(raw)


def earlier_headers(rows: Lookup, header: Header) -> Iterator[Header]:
    """The earlier headers on the subject of one, the newest first, back to the event that erased it last.

    That event is not among them. Headers are enough: nothing of what was destroyed is needed.

    Raises:
        CorruptionError: the journal lacks one of them.
    """
    subject = subject_key(header.detail)
    # A journal made by hand may name anything as the event before.
    while header.prev is not None and header.prev < header.seq:
        header, _ = read_header(rows, header.prev)
        if header.kind in ERASING_KINDS or subject_key(header.detail) != subject:
            return
        yield header


def erased_ordinals(rows: Lookup, erased: Header) -> set[int]:
    """All ordinals that the subject of an event `erased` had since it was erased before that.

    Raises:
        CorruptionError: the journal lacks a header.
    """
    details = (header.detail for header in (erased, *earlier_headers(rows, erased)))
    return {detail.ordinal for detail in details if isinstance(detail, AtomDetail)}


def read_entry(rows: Lookup, seq: int) -> Entry:
    """Event `seq`, its payload checked against the commitment.

    Raises:
        CorruptionError: a row is missing or is not what was written.
    """
    header, leaf = read_header(rows, seq)
    return Entry(header, body_in(rows, header, rows.get(payload_key(seq))), leaf)


def entries_back(rows: Lookup, last: int) -> Iterator[Entry]:
    """The events on one subject back from event `last`, which is one of them and comes first.

    Raises:
        CorruptionError: see `read_entry`.
    """
    seq: int | None = last
    while seq is not None:
        entry = read_entry(rows, seq)
        yield entry
        seq = entry.header.prev


def body_in(rows: Lookup, header: Header, raw: bytes | None) -> Body | None:
    """As `open_payload`; None where the payload was destroyed by an event that `rows` know of.

    Raises:
        CorruptionError: see `open_payload`.
    """
    return None if raw is None and erased_at(rows, header) is not None else open_payload(header, raw)


def open_payload(header: Header, raw: bytes | None) -> Body:
    """The body in a payload row, once it is known to be the one the header commits to.

    Raises:
        CorruptionError: the row is missing, or is not that body.
    """
    where = f"payload {header.seq}"
    if raw is None:
        raise CorruptionError(f"{where} is missing", family="payload", seq=header.seq)
    salt, body = raw[:SALT_BYTES], raw[SALT_BYTES:]
    if len(salt) != SALT_BYTES or commitment(salt, body) != header.commitment:
        raise CorruptionError(f"{where} is not what its header commits to", family="payload", seq=header.seq)
    return decode_body(header.kind, body, where)


def _missing_header(seq: int) -> CorruptionError:
    return CorruptionError(f"journal header {seq} is missing", family="journal", seq=seq)


class RawEntry(NamedTuple):
    """An event with the two rows it was read from."""

    entry: Entry
    header: bytes
    payload: bytes | None
    """None where it was destroyed."""
    erased: int | None = None
    """The seq of the event that destroyed the payload, if one did."""


def read_raw(
    rows: Reader, start: int, stop: int, most_bytes: int = limits.FOLLOW_BYTES_MAX
) -> Iterator[RawEntry]:
    """Events from `start` up to `stop`, ending early after the one that passes `most_bytes`.

    Raises:
        CorruptionError: a row is missing, out of place, or not what was written.
    """
    headers = rows.scan(journal_key(start), journal_key(stop))
    payloads = rows.scan(payload_key(start), payload_key(stop))
    read, payload_row = 0, next(payloads, None)
    for seq in range(start, stop):
        header_row = next(headers, None)
        if header_row is None or header_row[0] != journal_key(seq):
            raise _missing_header(seq)
        raw_header = header_row[1]
        header = decode_header(raw_header, seq)
        raw_payload = erased = None
        if payload_row is not None and payload_row[0] == payload_key(seq):
            raw_payload, payload_row = payload_row[1], next(payloads, None)
        else:
            erased = erased_at(rows, header)
        body = None if erased is not None else open_payload(header, raw_payload)
        yield RawEntry(Entry(header, body, leaf_hash(raw_header)), raw_header, raw_payload, erased)
        read += len(raw_header) + len(raw_payload or b"")
        if read >= most_bytes:
            return


def read_entries(rows: Reader, start: int, stop: int) -> list[Entry]:
    """As `read_raw`, without the rows.

    Raises:
        CorruptionError: see `read_raw`.
    """
    return [raw.entry for raw in read_raw(rows, start, stop)]


class Identity(NamedTuple):
    """Who a store is, from its first event."""

    store_id: bytes
    id_key: bytes
    analyzer: str
    fingerprint: bytes


def read_identity(rows: Lookup) -> Identity:
    """What the genesis event says.

    Raises:
        CorruptionError: the first event is missing or is not a genesis.
    """
    entry = read_entry(rows, 0)
    detail, body = entry.header.detail, entry.body
    if not isinstance(detail, GenesisDetail) or not isinstance(body, GenesisBody):
        raise CorruptionError("the first event of the journal is not a genesis")
    return Identity(detail.store_id, body.id_key, detail.analyzer, detail.fingerprint)


def check_analyzer(identity: Identity, name: str, fingerprint: bytes) -> None:
    """Refuse a store whose text was read by another analyzer than this one.

    Raises:
        EngineError: names and fingerprints differ; searching would silently miss words.
    """
    if (identity.analyzer, identity.fingerprint) != (name, fingerprint):
        raise EngineError(
            f"the store was made with analyzer {identity.analyzer} {identity.fingerprint.hex()}, "
            f"this installation has {name} {fingerprint.hex()}",
            hint="install the version of memroot and PyStemmer that the store was made with",
        )
