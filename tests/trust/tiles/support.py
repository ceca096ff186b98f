"""Logs of synthetic headers of any size, and the definitions of the RFC."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.followers.log import LogFollower
from engine.ledger.journal import Cursor, encode_cursor
from engine.ledger.layout import cursor_key, journal_key
from proofs.events import Entry, EventKind, GenesisBody, GenesisDetail, Header
from proofs.log import leaf_hash

INPUTS = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
"""The leaf contents of Certificate Transparency's reference tests."""


def header_of(seq: int) -> bytes:
    """Return the bytes that stand for a header."""
    return b"header %d" % seq


@cache
def leaves(count: int) -> list[bytes]:
    """Return the leaf hashes of this many synthetic headers. The list must not be changed."""
    return [sha256(b"\0" + header_of(seq)).digest() for seq in range(count)]


def log_of(size: int, followed: int = 0) -> MemoryBackend:
    """Return a store with this many headers, some of which the follower has followed."""
    store = with_headers([header_of(seq) for seq in range(size)])
    follow(store, 0, followed)
    return store


def with_headers(headers: Sequence[bytes]) -> MemoryBackend:
    """Return a store with these headers and no other row."""
    store, batch = MemoryBackend(), Batch()
    for seq, header in enumerate(headers):
        batch.put(journal_key(seq), header)
    store.write(batch)
    return store


def follow(store: MemoryBackend, start: int, stop: int) -> None:
    """Let the follower follow from `start` to `stop` in one batch."""
    batch = Batch()
    if start < stop:
        LogFollower().follow([entry_of(seq) for seq in range(start, stop)], store, batch)
        last = leaf_hash(header_of(stop - 1))
        batch.put(cursor_key("log"), encode_cursor(Cursor(LogFollower.version, stop, last)))
    store.write(batch)


def entry_of(seq: int) -> Entry:
    """Return an event with only the number and the leaf, which is all that the follower may read."""
    header = Header(seq, 0, EventKind.GENESIS, "", b"", None, GenesisDetail(b"", "", b"", b"", 1))
    return Entry(header, GenesisBody(b"", b"", b""), leaf_hash(header_of(seq)))


class Definition:
    """RFC 9162, sections 2.1.1, 2.1.3.1 and 2.1.4.1, over a list of leaf hashes."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._leaves = leaves
        self._roots: dict[tuple[int, int], bytes] = {}

    def mth(self, start: int, stop: int) -> bytes:
        """Return MTH(D[start:stop])."""
        if start == stop:
            return sha256(b"").digest()
        if stop - start == 1:
            return self._leaves[start]
        if (start, stop) not in self._roots:
            k = start + split(stop - start)
            both = self.mth(start, k) + self.mth(k, stop)
            self._roots[start, stop] = sha256(b"\1" + both).digest()
        return self._roots[start, stop]

    def path(self, m: int, start: int, stop: int) -> list[bytes]:
        """Return PATH(m, D[start:stop])."""
        if stop - start == 1:
            return []
        k = split(stop - start)
        if m < k:
            return [*self.path(m, start, start + k), self.mth(start + k, stop)]
        return [*self.path(m - k, start + k, stop), self.mth(start, start + k)]

    def proof(self, m: int, size: int) -> list[bytes]:
        """Return PROOF(m, D[0:size])."""
        return self._subproof(m, 0, size, whole=True)

    def _subproof(self, m: int, start: int, stop: int, *, whole: bool) -> list[bytes]:
        if m == stop - start:
            return [] if whole else [self.mth(start, stop)]
        k = split(stop - start)
        if m <= k:
            return [*self._subproof(m, start, start + k, whole=whole), self.mth(start + k, stop)]
        return [*self._subproof(m - k, start + k, stop, whole=False), self.mth(start, start + k)]


def split(count: int) -> int:
    """Return the largest power of two below `count`, found by counting."""
    k = 1
    while 2 * k < count:
        k *= 2
    return k
