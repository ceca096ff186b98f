"""Reading openings. An opening is the part of a tree, or of the index, that a proof contains."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.index.index_follower import IndexFollower, read_summaries
from engine.index.postings import Tail, TermRow, stored_block
from engine.index.segments import BLOCK_ROWS, LENGTHS, SegmentName, decode_blocks, describe
from engine.ledger.layout import tree_prefix
from engine.ledger.pages import (
    LEAF_BYTES,
    SLOTS,
    Slots,
    child_path,
    decode_page,
    missing_page,
    parent_level,
    slot_root,
)
from proofs.file import Segments, TreeOpening
from proofs.hashing import DIGEST_BYTES, TREE_HASHER, TreeHasher, inner_row_hash, row_leaf
from proofs.log import left_half
from proofs.opening import NODE, NOTHING, OTHER_LEAF, OWN_LEAF
from proofs.rows import rows_root
from proofs.segments import Summary
from proofs.smt import bit_of

PAGE_BITS = 4


def open_tree(
    rows: Reader, namespace: str, keys: Iterable[bytes], hasher: TreeHasher = TREE_HASHER
) -> TreeOpening:
    """Return the opening of the tree of `namespace` for all key digests in `keys`.

    The opening contains the hashes that are needed to compute the root from the leaves at these keys. Each
    page on the paths to the keys is read once.

    Raises:
        CorruptionError: A page on the path to a key is malformed or missing.
    """
    opener = _Opener(rows, namespace, sorted(keys), hasher)
    opener.page(0, b"", 0, len(opener.keys))
    return TreeOpening(bytes(opener.shape), b"".join(opener.hashes))


class _Opener:
    """A traversal of one tree that collects the shape and the hashes of an opening."""

    def __init__(self, rows: Reader, namespace: str, keys: list[bytes], hasher: TreeHasher) -> None:
        self._rows = rows
        self._prefix = tree_prefix(namespace)
        self.keys = keys
        self._hasher = hasher
        self.shape = bytearray()
        self.hashes: list[bytes] = []

    def page(self, depth: int, path: bytes, first: int, last: int) -> None:
        """Collect the part of the opening below the page at `path`, for the keys `first` to `last` - 1.

        `first` and `last` are indexes into `keys`, and `depth` is the number of nibbles in `path`.
        """
        page_key = self._prefix + bytes([depth]) + path
        stored = self._rows.get(page_key)
        if stored is None and depth:
            raise missing_page(page_key)
        levels: list[Slots] = [
            [b""] * SLOTS if stored is None else decode_page(page_key, depth, path, stored)
        ]
        while len(levels[0]) > 1:
            levels.insert(0, parent_level(levels[0], self._hasher))
        self._place(_Page(depth, path, levels), 0, 0, first, last)

    def _place(self, page: _Page, level: int, at: int, first: int, last: int) -> None:
        """Collect the part of the opening below node `at` of a level, for the keys `first` to `last` - 1."""
        slot = page.levels[level][at]
        if not slot:
            self.shape.append(NOTHING)
        elif len(slot) == LEAF_BYTES:
            self._leaf(slot, first, last)
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
                    self.hashes.append(slot_root(page.levels[level + 1][2 * at + side], self._hasher))

    def _leaf(self, leaf: bytes, first: int, last: int) -> None:
        if leaf[:DIGEST_BYTES] in self.keys[first:last]:
            self.shape.append(OWN_LEAF)
        else:
            self.shape.append(OTHER_LEAF)
            self.hashes.append(leaf)


class _Page(NamedTuple):
    """A tree page on the path to a key: its position, and the nodes of each level, the top level first."""

    depth: int
    path: bytes
    levels: list[Slots]


class IndexRows:
    """Reads the rows of all index segments and of the tail (ordinals in no segment yet) from one snapshot."""

    def __init__(self, index: IndexFollower, rows: Reader) -> None:
        """Read the summaries of the index. The index must have processed all events in `rows`."""
        self._tail = index.tail(rows)
        self._segments = read_summaries(rows, self._tail.end)
        self._blocks = [_stored(rows, name, summary) for name, summary in self._segments]
        if self._tail.documents:
            self._blocks.append(_in_memory(self._tail))

    @property
    def ordinals(self) -> int:
        """The number of ordinals that the index covers. SPEC calls this number N."""
        return self._tail.end

    def table(self) -> Segments:
        """Return all values from which the root of the index is computed."""
        summaries: list[Summary] = [summary for _, summary in self._segments]
        if self._tail.documents:
            summaries.append(self._tail.summary)
        return Segments(self._tail.end, [list(summary) for summary in summaries])

    def starts(self) -> list[int]:
        """Return the first ordinal of each segment, and of the tail if the tail is not empty."""
        starts = [name.start for name, _ in self._segments]
        return [*starts, self._tail.start] if self._tail.documents else starts

    def entries(self, term: bytes) -> list[list[Any]]:
        """Return the witness for `term` in each segment and in the tail.

        Raises:
            CorruptionError: A row is missing or malformed.
        """
        return [blocks.entry(term) for blocks in self._blocks]


class _Blocks:
    """Reads the rows of one index segment, in blocks of 256 rows, when they are needed."""

    def __init__(
        self, firsts: Sequence[bytes], roots: Sequence[bytes], load: Callable[[int], Sequence[TermRow]]
    ) -> None:
        self._firsts = firsts
        self._roots = roots
        self._load = load
        self._leaves: dict[int, list[bytes]] = {}

    def entry(self, term: bytes) -> list[Any]:
        """Return the witness of a term: hashes, and the term's row or the rows on both sides of its place."""
        block = bisect_right(self._firsts, term) - 1
        rows = self._rows(block)
        at = bisect_left(rows, term, key=lambda row: row[0])
        first = block * BLOCK_ROWS + at
        if at < len(rows) and rows[at][0] == term:
            return [first, rows[at][1], self._beside(first, 1)]
        shown = list(rows[at - 1 : at + 1])
        if at == len(rows) and block + 1 < len(self._firsts):
            shown.append(self._rows(block + 1)[0])
        flat = [item for key, value in shown for item in (key, inner_row_hash(value))]
        return [first - 1, flat, self._beside(first - 1, len(shown))]

    def _rows(self, block: int) -> Sequence[TermRow]:
        rows = self._load(block)
        leaves = [row_leaf(*row) for row in rows]
        count = BLOCK_ROWS if block + 1 < len(self._firsts) else min(max(len(rows), 1), BLOCK_ROWS)
        if len(rows) != count or rows[0][0] != self._firsts[block] or rows_root(leaves) != self._roots[block]:
            raise CorruptionError(f"block {block} of a segment does not match its rows", family="index")
        self._leaves[block] = leaves
        return rows

    def _beside(self, first: int, count: int) -> bytes:
        """Return the roots of the subtrees that cover all rows except `count` rows starting at `first`.

        The roots are in order from left to right.
        """
        last = len(self._roots) - 1
        size = last * BLOCK_ROWS + len(self._leaves.get(last) or self._last())
        roots: list[bytes] = []

        def part(low: int, high: int) -> None:
            if high <= first or first + count <= low:
                roots.append(self._root(low, high))
            elif high - low > 1:
                half = low + left_half(high - low)
                part(low, half)
                part(half, high)

        part(0, size)
        return b"".join(roots)

    def _last(self) -> list[bytes]:
        self._rows(len(self._roots) - 1)
        return self._leaves[len(self._roots) - 1]

    def _root(self, low: int, high: int) -> bytes:
        """Return the root of a subtree that consists of whole blocks or of a part of one loaded block."""
        block, within = divmod(low, BLOCK_ROWS)
        if not within and (high - low > BLOCK_ROWS or block not in self._leaves):
            return rows_root(self._roots[block : -(-high // BLOCK_ROWS)])
        return rows_root(self._leaves[block][within : within + high - low])


def _in_memory(tail: Tail) -> _Blocks:
    firsts = [term for term, _ in tail.rows[::BLOCK_ROWS]]
    return _Blocks(firsts, tail.roots, lambda block: tail.rows[block * BLOCK_ROWS : (block + 1) * BLOCK_ROWS])


def _stored(rows: Reader, name: SegmentName, summary: Summary) -> _Blocks:
    where = describe(name.blocks_key)
    raw = rows.get(name.blocks_key)
    if raw is None:
        raise CorruptionError(f"{where}: missing", family="index")
    names, starts, roots = decode_blocks(raw, summary.rows, where)
    if names[:1] != [LENGTHS]:
        raise CorruptionError(
            f"{where}: the row does not match the other rows of the segment", family="index"
        )
    prefix = name.row_prefix

    def load(block: int) -> Sequence[TermRow]:
        keys = [prefix + own for own in names[starts[block] : starts[block + 1]]]
        stored = []
        for key, value in zip(keys, rows.multi_get(keys), strict=True):
            if value is None:
                raise CorruptionError(f"{describe(key)} is missing", family="index")
            stored.append((key, value))
        return stored_block(prefix, stored, name.size)

    return _Blocks([names[at] for at in starts[:-1]], roots, load)
