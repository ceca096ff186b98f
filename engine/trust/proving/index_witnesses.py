"""The part of the index that a proof contains: the summaries of all segments, and the rows beside a term."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.index.index_follower import IndexFollower, read_summaries
from engine.index.index_view import Tail
from engine.index.postings import TermRow, salted_rows, stored_block
from engine.index.segments import BLOCK_ROWS, LENGTHS, IndexKeys, SegmentName, decode_blocks, describe
from proofs.hashing import inner_row_hash, row_leaf
from proofs.leaves import TAIL_LEVEL, Summary, segment_key
from proofs.log import left_half
from proofs.proof_file import Segments
from proofs.rows import rows_root


class IndexRows:
    """Reads the rows of all index segments and of the tail (ordinals in no segment yet) from one snapshot."""

    def __init__(self, index: IndexFollower, rows: Reader) -> None:
        """Read the summaries of the index. The index must have processed all events in `rows`."""
        self._tail = index.tail(rows)
        self._segments = read_summaries(rows, self._tail.end)
        self._keys = index.keys(rows)
        self._blocks = [_stored(rows, name, summary, self._keys) for name, summary in self._segments]
        self._places = [(name.start, name.end) for name, _ in self._segments]
        if self._tail.documents:
            self._blocks.append(_in_memory(self._tail))
            self._places.append((self._tail.start, self._tail.end))

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

    def entries(self, term: bytes, first: int, last: int) -> tuple[list[list[Any]], list[int]]:
        """Return the witness for `term` in each part with ordinals from `first` to `last`, and its start.

        A part is a segment, or the tail if it is not empty.

        Raises:
            CorruptionError: A row is missing or malformed.
        """
        (name,) = self._keys.names([term])
        parts = [
            (blocks.entry(name), start)
            for blocks, (start, end) in zip(self._blocks, self._places, strict=True)
            if start <= last and first < end
        ]
        return [entry for entry, _ in parts], [start for _, start in parts]


class _Blocks:
    """Reads the rows of one index segment, in blocks of 256 rows, when they are needed."""

    def __init__(
        self, firsts: Sequence[bytes], roots: Sequence[bytes], load: Callable[[int], Sequence[TermRow]]
    ) -> None:
        """`load` returns the rows of a block, with the values behind their salts."""
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
    key = segment_key(TAIL_LEVEL, tail.start)

    def load(block: int) -> Sequence[TermRow]:
        return salted_rows(key, tail.rows[block * BLOCK_ROWS : (block + 1) * BLOCK_ROWS], tail.keys)

    return _Blocks(firsts, tail.roots, load)


def _stored(rows: Reader, name: SegmentName, summary: Summary, keys: IndexKeys) -> _Blocks:
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
        row_keys = [prefix + suffix for suffix in names[starts[block] : starts[block + 1]]]
        stored = []
        for key, value in zip(row_keys, rows.multi_get(row_keys), strict=True):
            if value is None:
                raise CorruptionError(f"{describe(key)} is missing", family="index")
            stored.append((key, value))
        return salted_rows(name.key, stored_block(prefix, stored, name.size), keys)

    return _Blocks([names[at] for at in starts[:-1]], roots, load)
