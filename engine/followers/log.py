"""The follower `log`: roots of the log's complete subtrees, so that a path needs no scan (SPEC: Log).

    l/ level u8 ‖ index u64    the RFC 6962 root over the 256^level leaves from index · 256^level on

Levels begin at 1: level 0 would be the leaf hashes, and those are one hash away from the headers. A
row is written when its subtree is complete and never changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from backends.base import Batch, Reader
from engine.base.errors import CorruptionError
from engine.followers.base import Follower
from engine.ledger.layout import SUBTREE, journal_key, subtree_key
from proofs.events import Entry
from proofs.log import DIGEST_BYTES, leaf_hash, node_hash

WIDTH_BITS = 8
WIDTH = 1 << WIDTH_BITS
"""Hashes of one level that make one of the next; the width of a tile (c2sp.org/tlog-tiles)."""


class LogFollower(Follower):
    """Keeps the root of every complete subtree of 256, 256², … leaves."""

    name = "log"
    version = 1
    prefixes = (SUBTREE,)

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Put the roots of the subtrees that `entries` complete, reading back what else is in them."""
        level, first = 0, entries[0].header.seq
        hashes = [entry.leaf for entry in entries]
        while first // WIDTH < (first + len(hashes)) // WIDTH:
            index = first // WIDTH
            hashes = read_hashes(rows, level, index * WIDTH, first) + hashes
            complete = range(0, len(hashes) - WIDTH + 1, WIDTH)
            hashes = [complete_root(hashes[at : at + WIDTH]) for at in complete]
            level, first = level + 1, index
            for number, root in enumerate(hashes, first):
                batch.put(subtree_key(level, number), root)


def complete_root(hashes: Sequence[bytes]) -> bytes:
    """The root over the roots of complete subtrees of one size, whose number is a power of two.

    Raises:
        ValueError: it is not, or a hash has not 32 bytes.
    """
    while len(hashes) > 1:
        hashes = [node_hash(*pair) for pair in zip(hashes[::2], hashes[1::2], strict=True)]
    return hashes[0]


def read_hashes(rows: Reader, level: int, start: int, stop: int) -> list[bytes]:
    """Numbers `start` up to `stop` of a level: leaf hashes of headers at level 0, else rows.

    Raises:
        CorruptionError: one is missing or is no hash.
    """
    if start == stop:
        return []
    key_of = journal_key if not level else lambda index: subtree_key(level, index)
    found = rows.scan(key_of(start), key_of(stop))
    hashes = []
    for index in range(start, stop):
        key, value = next(found, (b"", b""))
        if key != key_of(index):
            raise _wrong(level, index, "is missing")
        if level and len(value) != DIGEST_BYTES:
            raise _wrong(level, index, f"has {len(value)} bytes, not {DIGEST_BYTES}")
        hashes.append(value if level else leaf_hash(value))
    return hashes


def _wrong(level: int, index: int, problem: str) -> CorruptionError:
    if not level:
        return CorruptionError(f"journal header {index} {problem}", family="journal", seq=index)
    return CorruptionError(
        f"root {index} of the log's subtrees of 256^{level} events {problem}",
        hint="run `engine verify-root`, then `engine rebuild`",
        family="log",
    )
