"""Opening a stored tree at several keys: the honest half of `proofs.opening`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from backends.base import Reader
from engine.ledger.layout import tree_prefix
from engine.ledger.page_bytes import LEAF_BYTES, SLOTS, Slots, child_path, decode_page, missing_page
from engine.ledger.pages import above, hashed
from proofs.file import TreeOpening
from proofs.hashing import DIGEST_BYTES, TREE_HASHER, TreeHasher
from proofs.opening import NODE, NOTHING, OTHER_LEAF, OWN_LEAF
from proofs.smt import bit_of

PAGE_BITS = 4


def open_tree(
    rows: Reader, namespace: str, keys: Iterable[bytes], hasher: TreeHasher = TREE_HASHER
) -> TreeOpening:
    """What shows, for each of the key digests `keys`, what the tree of `namespace` has there.

    Reads the pages on the way to the keys, each once.

    Raises:
        CorruptionError: a page on the way is malformed or missing.
    """
    opener = _Opener(rows, namespace, sorted(keys), hasher)
    opener.page(0, b"", 0, len(opener.keys))
    return TreeOpening(bytes(opener.shape), b"".join(opener.hashes))


class _Opener:
    def __init__(self, rows: Reader, namespace: str, keys: list[bytes], hasher: TreeHasher) -> None:
        self._rows = rows
        self._prefix = tree_prefix(namespace)
        self.keys = keys
        self._hasher = hasher
        self.shape = bytearray()
        self.hashes: list[bytes] = []

    def page(self, depth: int, path: bytes, first: int, last: int) -> None:
        """Open the page at `path`, `depth` nibbles deep, for the keys from `first` up to `last`."""
        page_key = self._prefix + bytes([depth]) + path
        stored = self._rows.get(page_key)
        if stored is None and depth:
            raise missing_page(page_key)
        levels: list[Slots] = [
            [b""] * SLOTS if stored is None else decode_page(page_key, depth, path, stored)
        ]
        while len(levels[0]) > 1:
            levels.insert(0, above(levels[0], self._hasher))
        self._place(_Page(depth, path, levels), 0, 0, first, last)

    def _place(self, page: _Page, level: int, at: int, first: int, last: int) -> None:
        """Open what stands at `at` of a bit level of the page, for the keys from `first` to `last`."""
        found = page.levels[level][at]
        if not found:
            self.shape.append(NOTHING)
        elif len(found) == LEAF_BYTES:
            self._leaf(found, first, last)
        elif level == PAGE_BITS:
            self.page(page.depth + 1, child_path(page.path, page.depth, at), first, last)
        else:
            self.shape.append(NODE)
            bit = PAGE_BITS * page.depth + level
            split = first + bisect_left(self.keys[first:last], 1, key=lambda key: bit_of(key, bit))
            for side, (low, high) in enumerate(((first, split), (split, last))):
                if low < high:
                    self._place(page, level + 1, 2 * at + side, low, high)
                else:
                    self.hashes.append(hashed(page.levels[level + 1][2 * at + side], self._hasher))

    def _leaf(self, leaf: bytes, first: int, last: int) -> None:
        if leaf[:DIGEST_BYTES] in self.keys[first:last]:
            self.shape.append(OWN_LEAF)
        else:
            self.shape.append(OTHER_LEAF)
            self.hashes.append(leaf)


class _Page:
    """A page on the way: its place, and its slots folded bit level by bit level, the top first."""

    __slots__ = ("depth", "levels", "path")

    def __init__(self, depth: int, path: bytes, levels: list[Slots]) -> None:
        self.depth = depth
        self.path = path
        self.levels = levels
