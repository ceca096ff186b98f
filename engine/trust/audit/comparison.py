"""Comparing stored rows with the rows of a replay, and finding payloads that should have been destroyed.

A replay writes to a temporary store and reads headers and payloads from the store that is being verified. It
checks every header and payload before it uses them, so copying them would only take time and disk.

The stored rows and the rows of the replay are read once, in parallel, with a constant amount of memory. A
payload may be missing only if a later event destroyed it, and a destroyed payload must no longer be stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, repeat

from backends.base import Backend, Batch, Guards, Reader, Row, Snapshot, prefix_end
from engine.base.errors import CorruptionError
from engine.ledger.heads import erasing
from engine.ledger.journal import RawEntry, earlier_headers, read_log, subject_key
from engine.ledger.layout import (
    ERASURE,
    JOURNAL,
    PAYLOAD,
    decode_header,
    encode_seq,
    erasure_key,
    family_of,
    payload_key,
)
from engine.ledger.records import AtomRecord, EdgeRecord, read_atom, read_edge
from engine.ledger.subject_history import records_after, subject_history
from proofs.events import ERASING_KINDS, AtomDetail, Header

_RAW = (JOURNAL, PAYLOAD)


class _Routed(Reader):
    """Reads headers and payloads from `source`, and all other rows from `own`."""

    def __init__(self, own: Reader, source: Reader) -> None:
        self._own = own
        self._source = source

    def get(self, key: bytes) -> bytes | None:
        return (self._source if key.startswith(_RAW) else self._own).get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        if any(key.startswith(_RAW) for key in keys):
            return [self.get(key) for key in keys]
        return self._own.multi_get(keys)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Yield rows in key order. A scan that begins in one of the two families must end there."""
        return (self._source if start.startswith(_RAW) else self._own).scan(start, end, reverse=reverse)


class _RoutedSnapshot(_Routed, Snapshot):
    def __init__(self, own: Snapshot, source: Reader) -> None:
        super().__init__(own, source)
        self._snapshot = own

    def close(self) -> None:
        self._snapshot.close()


class ReplayBackend(_Routed, Backend):
    """The rows that a replay writes to `scratch`, together with the headers and payloads of `source`."""

    def __init__(self, scratch: Backend, source: Reader) -> None:
        """Create a store without events. `source` must stay open, and must not change."""
        super().__init__(scratch, source)
        self.name, self.capabilities = scratch.name, scratch.capabilities
        self._scratch = scratch

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Write to the scratch store, never durably."""
        self._scratch.write(batch, guard=guard, durable=False)

    def purge(self) -> bool:
        """Only return True, because the scratch store is deleted."""
        return True

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the scratch store, together with the headers and payloads of the source."""
        return _RoutedSnapshot(self._scratch.snapshot(), self._source)

    def close(self) -> None:
        """Do nothing: whoever opened the scratch store closes it."""


NO_CURSOR = "row without a valid cursor; nothing uses it, and the next read of the store rebuilds it"
"""The problem reported for rows that an interrupted rebuild left, or that memroot did not write."""


_COMPARED = 1000
"""The number of rows that are compared at once as long as all rows are equal."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between the rows of the store and the rows that follow from its journal."""

    family: str
    key: str
    """The key of the row in hexadecimal; empty if the difference does not concern a single row."""
    seq: int | None
    """The seq of the event that the difference concerns, or None."""
    problem: str


def compare_prefix(stored: Reader, expected: Reader, prefix: bytes) -> Iterator[Difference | None]:
    """For each key with `prefix` in either reader, yield the difference, or None if both rows are equal."""
    ours, theirs = stored.scan_prefix(prefix), expected.scan_prefix(prefix)
    while (some := list(islice(ours, _COMPARED))) == (others := list(islice(theirs, _COMPARED))):
        if not some:
            return
        yield from repeat(None, len(some))
    ours, theirs = chain(some, ours), chain(others, theirs)
    have, want = next(ours, None), next(theirs, None)
    while have or want:
        if have and want and have[0] == want[0]:
            yield (
                None
                if have[1] == want[1]
                else _difference(have[0], "differs from the row that a replay writes")
            )
            have, want = next(ours, None), next(theirs, None)
        elif want is None or (have and have[0] < want[0]):
            yield _difference(have[0] if have else b"", "does not follow from the journal")
            have = next(ours, None)
        else:
            yield _difference(want[0], "is missing")
            want = next(theirs, None)


def stray_rows(stored: Reader, owned: Iterable[bytes]) -> Iterator[Difference]:
    """Yield a difference for each row whose key has none of the prefixes in `owned`."""
    start = b""
    for prefix in sorted(owned):
        for key, _ in stored.scan(start, prefix):
            yield _difference(key, "does not belong to any version of memroot")
        start = prefix_end(prefix) or prefix
    for key, _ in stored.scan(start):
        yield _difference(key, "does not belong to any version of memroot")


def _difference(key: bytes, problem: str) -> Difference:
    return Difference(family_of(key), key.hex(), None, f"row {problem}")


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A checkpoint that was verified except for its roots of `tags` and `index`.

    These two roots cannot be computed any more, because content was erased.
    """

    seq: int
    erased: int
    """The seq of the first later event that destroyed payloads from before the checkpoint."""


class ErasuresFromHeaders(Reader):
    """Reads the stored rows, but replaces the rows about erasures by rows derived from the headers."""

    def __init__(self, rows: Reader) -> None:
        """Create a reader of `rows`. Until headers are added, it returns no rows about erasures."""
        self._rows = rows
        self._erasures: dict[bytes, bytes] = {}

    def note(self, start: int, headers: Sequence[bytes]) -> None:
        """Add consecutive stored headers. Headers that cannot be decoded are ignored."""
        for at in erasing(headers):
            with suppress(CorruptionError):
                key = erasure_key(subject_key(decode_header(headers[at], start + at).detail))
                self._erasures[key] = encode_seq(start + at)

    def get(self, key: bytes) -> bytes | None:
        """Return the stored row or, for a key about an erasure, the row derived from the headers."""
        return self._erasures.get(key) if key.startswith(ERASURE) else self._rows.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Yield the stored rows with start <= key < end, unchanged."""
        return self._rows.scan(start, end, reverse=reverse)


class DestroyedPayloads:
    """Keeps track of destroyed payloads of the events that a replay has processed so far."""

    def __init__(self, rows: Reader) -> None:
        """Create the object; `rows` are the rows of the store, not of the replay."""
        self._rows = rows
        self._lost: dict[bytes, int] = {}

    @property
    def by(self) -> int | None:
        """The seq of the first later event that destroyed payloads of atoms processed so far, or None."""
        return min(self._lost.values(), default=None)

    def follow(self, event: RawEntry) -> Iterator[Difference]:
        """Process the next event; yield a difference for each destroyed payload that is still stored."""
        header = event.entry.header
        if event.erased is not None and isinstance(header.detail, AtomDetail):
            self._lost[header.detail.id] = event.erased
        if header.kind in ERASING_KINDS:
            self._lost.pop(subject_key(header.detail), None)
            yield from self._left(header)

    def _left(self, erased: Header) -> Iterator[Difference]:
        for header in earlier_headers(self._rows, erased):
            key = payload_key(header.seq)
            if self._rows.get(key) is not None:
                problem = f"payload is still stored, although event {erased.seq} destroyed it"
                yield Difference("payload", key.hex(), header.seq, problem)


def check_record(rows: Reader, record: AtomRecord | EdgeRecord) -> None:
    """Check that a record equals the record that results from all events on its atom or edge.

    Raises:
        CorruptionError: The two records differ.
    """
    history = records_after(subject_history(rows, record.last_seq), read_log(rows).size)
    if isinstance(record, AtomRecord):
        expected: AtomRecord | EdgeRecord | None = read_atom(history, record.id)
    else:
        expected = read_edge(history, record.src, record.type, record.dst)
    if expected != record:
        family = "atoms" if isinstance(record, AtomRecord) else "edges-from"
        raise CorruptionError(
            f"a record of {family} is not the one that results from the events up to {record.last_seq}",
            hint="run `engine rebuild`, then `engine verify-root`",
            family=family,
            seq=record.last_seq,
        )
