"""Comparing stored rows with the rows a replay gives, in one pass over both and constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backends.base import Reader, Row, prefix_end
from engine.ledger.layout import family_of

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
            yield _difference(_key(have), "is in no journal entry")
            have = next(ours, None)
        else:
            yield _difference(_key(want), "is missing")
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


def _key(row: Row | None) -> bytes:
    return b"" if row is None else row[0]


def _difference(key: bytes, problem: str) -> Difference:
    return Difference(family_of(key), key.hex(), None, f"row {problem}")
