"""What a store has that its journal does not give: rows beside those of a replay, and destroyed payloads.

Rows are compared in one pass over both and constant memory. A payload that is gone must have been destroyed
by a later event, and none of those may be left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from backends.base import Reader, Row, prefix_end
from engine.base.errors import CorruptionError
from engine.ledger.codec import decode_header
from engine.ledger.journal import RawEntry, earlier_headers, encode_seq, subject_key
from engine.ledger.layout import ERASURE, erasure_key, family_of, payload_key
from proofs.codec import kind_of
from proofs.events import ERASING_KINDS, AtomDetail, Header

NO_CURSOR = "row without a cursor"
"""The problem with rows that a rebuild which was broken off leaves behind, or that nobody made."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as the journal says."""

    family: str
    key: str
    """Hexadecimal; empty where no single row is meant."""
    seq: int | None
    """The event, where one is to blame."""
    problem: str


def compare_prefix(stored: Reader, expected: Reader, prefix: bytes) -> Iterator[Difference | None]:
    """For each key under `prefix` on either side, in order: None where the rows are equal."""
    ours, theirs = stored.scan_prefix(prefix), expected.scan_prefix(prefix)
    have, want = next(ours, None), next(theirs, None)
    while have or want:
        if have and want and have[0] == want[0]:
            yield None if have[1] == want[1] else _difference(have[0], "differs from what the journal gives")
            have, want = next(ours, None), next(theirs, None)
        elif want is None or (have and have[0] < want[0]):
            yield _difference(have[0] if have else b"", "is in no journal entry")
            have = next(ours, None)
        else:
            yield _difference(want[0], "is missing")
            want = next(theirs, None)


def stray_rows(stored: Reader, owned: Iterable[bytes]) -> Iterator[Difference]:
    """Rows under none of the prefixes in `owned`: no version of ours writes them."""
    start = b""
    for prefix in sorted(owned):
        for key, _ in stored.scan(start, prefix):
            yield _difference(key, "is one that nobody writes")
        start = prefix_end(prefix) or prefix
    for key, _ in stored.scan(start):
        yield _difference(key, "is one that nobody writes")


def _difference(key: bytes, problem: str) -> Difference:
    return Difference(family_of(key), key.hex(), None, f"row {problem}")


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A checkpoint whose roots of `tags` and `index` cannot be made again; its others were found right."""

    seq: int
    erased: int
    """The first event after it that destroyed payloads from before it."""


class ByHeaders(Reader):
    """Rows in which those about what was erased are as the headers say, whatever is stored."""

    def __init__(self, rows: Reader) -> None:
        """Until headers are noted, none of them erases anything."""
        self._rows = rows
        self._erasures: dict[bytes, bytes] = {}

    def note(self, seq: int, raw: bytes) -> None:
        """Take a header as it is stored; those that cannot be read are for others to judge."""
        if kind_of(raw) in ERASING_KINDS:
            with suppress(CorruptionError):
                key = erasure_key(subject_key(decode_header(raw, seq).detail))
                self._erasures[key] = encode_seq(seq)

    def get(self, key: bytes) -> bytes | None:
        """As stored, or as the headers say."""
        return self._erasures.get(key) if key.startswith(ERASURE) else self._rows.get(key)

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """As stored."""
        return self._rows.scan(start, end, reverse=reverse)


class Destroyed:
    """What is known of destroyed payloads while a journal is replayed."""

    def __init__(self, rows: Reader) -> None:
        """`rows` are those of the store, not of the replay."""
        self._rows = rows
        self._lost: dict[bytes, int] = {}

    @property
    def by(self) -> int | None:
        """The first event, of those to come, that destroyed payloads of atoms from before here."""
        return min(self._lost.values(), default=None)

    def follow(self, event: RawEntry) -> Iterator[Difference]:
        """Take the next event; yields payloads that it destroyed and that are still there."""
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
                problem = f"payload is still there, and event {erased.seq} destroyed it"
                yield Difference("payload", key.hex(), header.seq, problem)
