"""The cache of rows of the index that queries share: postings of terms, lengths, norms and facts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.index.columns import Columns, Facts, decode_facts, decode_lengths
from engine.index.packs import find_row
from engine.index.postings import COLUMN_ROWS
from engine.index.segments import FACTS, LENGTHS, SegmentName, decode_blocks, describe
from proofs.leaves import Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


CACHE_BYTES_MAX: Final = 32 << 20

ENTRY_BYTES: Final = 400
"""The size in bytes of a cache entry without its rows: a named tuple, a tuple of rows and a key
(measured)."""

ROW_BYTES: Final = 40
"""The size in bytes of a row without the bytes in it."""

DFS_MAX: Final = 1 << 14
"""The largest number of terms for which the number of documents is cached. A term takes about 150 bytes."""

ROOM_SHARE: Final = 8

ROOM_LEAST: Final = 1024
"""An array of facts has room for an eighth more documents than exist, plus this number of documents."""

Segments = Sequence[tuple[SegmentName, Summary]]


class Norms(NamedTuple):
    """The lengths of all documents, and the norms that BM25 computes from them."""

    lengths: tuple[bytes, ...]
    """The lengths of the documents of each part, two bytes each, least significant byte first."""
    least: tuple[float, ...]
    """The norm of the shortest document of each part."""
    table: bytes
    """The norm of each possible length, as doubles of eight bytes, least significant byte first:
    k1 · (1 − b + b · length / average)."""


class PartLengths(NamedTuple):
    """The lengths of the documents of one part of the index, as in `Norms`."""

    raw: bytes
    shortest: int
    longest: int
    squares: int
    """The sum of the squares of the lengths."""


class _CachedRows(NamedTuple):
    """The rows of one term in the segments with these roots."""

    roots: tuple[bytes, ...]
    rows: tuple[bytes | None, ...]
    df: int
    size: int
    """The size in bytes of the rows, including the objects that hold them."""


class _CachedFacts(NamedTuple):
    """The cached facts of the documents in one state of the index. `key` identifies this state."""

    key: tuple[bytes, ...]
    whole: Facts
    """Views of the first columns of `buffer`."""
    buffer: NDArray[np.uint64]
    """Four rows with the facts of documents, by ordinal. There is room for more documents at the end, so that
    the facts of a new document are added without copying the other facts. A number that is visible in a view
    never changes."""
    filled: int
    """The number of documents whose facts are in `buffer`."""
    segments: frozenset[tuple[int, bytes]]
    """The first ordinal and the root of each segment whose facts are in `buffer`."""


class LastDocuments(Protocol):
    """The documents after the last segment."""

    start: int
    """The ordinal of the first of them."""
    end: int
    """The ordinal after the last of them."""

    @property
    def columns(self) -> Columns:
        """Their content as columns."""


class PostingsCache:
    """A cache of rows of terms, of at most CACHE_BYTES_MAX bytes.

    Rows are kept with the roots of their segments. A root identifies the bytes, so entries never become
    stale. There are two generations: the rows that were used since the last change of generations, and the
    rows that were last used before this change. When the first generation would exceed half of the limit, it
    replaces the second generation, whose rows are dropped. Lengths and facts do not count towards the limit.
    For each document, the lengths take 2 bytes, the facts 32 bytes, and the names of the packs less than 1
    byte. The cache is thread-safe: if one thread drops an entry that another thread needs, the entry is
    computed again. The methods that read rows raise CorruptionError if a row is missing or malformed.
    """

    def __init__(self) -> None:
        self._used: dict[bytes, _CachedRows] = {}
        self._older: dict[bytes, _CachedRows] = {}
        self._used_bytes = 0
        self._older_bytes = 0
        self._packs: tuple[tuple[bytes, ...], list[tuple[bytes, list[bytes]]]] | None = None
        """The roots of the segments; and, for each segment, the prefix of its rows and the first terms of its
        packs."""
        self._dfs: dict[bytes, tuple[tuple[bytes, ...], int]] = {}
        """For each term, the roots of the segments and the number of documents that mention the term."""
        self._lengths: dict[bytes, PartLengths] = {}
        self._norms: tuple[tuple[object, ...], Norms] | None = None
        self._facts: _CachedFacts | None = None
        self._facts_lock = Lock()

    @property
    def size(self) -> int:
        """The number of bytes in the cache, not counting lengths and facts."""
        return self._used_bytes + self._older_bytes

    def rows(self, rows: Reader, segments: Segments, terms: Sequence[bytes]) -> list[_CachedRows]:
        """Return the rows of each term in all segments. Rows that are not cached are read together.

        Raises:
            CorruptionError: a row is malformed.
        """
        roots = tuple([summary.root for _, summary in segments])
        entries: list[_CachedRows | None] = []
        new: list[int] = []
        for number, term in enumerate(terms):
            cached = self._used.get(term)
            if cached is None:
                cached = self._older.get(term)
                if cached is not None and cached.roots == roots:
                    self._keep(term, cached)
            if cached is None or cached.roots != roots:
                new.append(number)
            entries.append(cached)
        if new:
            older = [_known(entries[number]) for number in new]
            wanted = [
                (part, terms[number])
                for number, older_rows in zip(new, older, strict=True)
                for part, root in enumerate(roots)
                if root not in older_rows
            ]
            read = iter(self._read(rows, segments, roots, wanted))
            for number, older_rows in zip(new, older, strict=True):
                if older_rows:
                    rows_of_segment = tuple(
                        [older_rows[root] if root in older_rows else next(read) for root in roots]
                    )
                else:
                    rows_of_segment = tuple(islice(read, len(roots)))
                entry = entries[number] = _cached(roots, rows_of_segment)
                self._keep(terms[number], entry)
                if len(self._dfs) >= DFS_MAX:
                    self._dfs = {}
                self._dfs[terms[number]] = roots, entry.df
        return [one for one in entries if one is not None]

    def _read(
        self,
        rows: Reader,
        segments: Segments,
        roots: tuple[bytes, ...],
        wanted: Sequence[tuple[int, bytes]],
    ) -> list[bytes | None]:
        """Return rows of terms in the form that is hashed; None for a term that is not in the segment.

        `wanted` are pairs of the position of a segment and a term.
        """
        packs = self._packs
        if packs is None or packs[0] != roots:
            packs = self._packs = roots, self._names_of_packs(rows, segments)
        parts, sizes = packs[1], [name.size for name, _ in segments]
        keys: list[bytes] = []
        for part, term in wanted:
            prefix, names = parts[part]
            at = bisect_right(names, term)
            keys.append(prefix + names[at - 1] if at else b"")
        distinct = list(dict.fromkeys(filter(None, keys)))
        values: dict[bytes, bytes | None] = dict(zip(distinct, rows.multi_get(distinct), strict=True))
        if None in values.values():
            missing = next(key for key, value in values.items() if value is None)
            raise CorruptionError(f"{describe(missing)} is missing")
        raws = list(map(values.get, keys))
        found: list[bytes | None] = [None] * len(wanted)
        if NATIVE is not None:
            found = NATIVE.find_postings(
                raws, [term for _, term in wanted], [sizes[part] for part, _ in wanted]
            )
        for number, (row, raw) in enumerate(zip(found, raws, strict=True)):
            if row is None and raw is not None:
                part, term = wanted[number]
                found[number] = find_row(keys[number], raw, term, sizes[part])
        return [row or None for row in found]

    def _names_of_packs(self, rows: Reader, segments: Segments) -> list[tuple[bytes, list[bytes]]]:
        """Return, for each segment, the prefix of its rows and the first terms of its packs."""
        numbers = {} if self._packs is None else dict(zip(self._packs[0], self._packs[1], strict=True))
        current: list[tuple[bytes, list[bytes]]] = []
        for name, summary in segments:
            names = numbers.get(summary.root, (b"", None))[1]
            if names is None:
                raw, where = rows.get(name.blocks_key), describe(name.blocks_key)
                if raw is None:
                    raise CorruptionError(f"{where} is missing")
                names = decode_blocks(raw, summary.rows, where).firsts[len(COLUMN_ROWS) :]
            current.append((name.row_prefix, names))
        return current

    def dfs(self, rows: Reader, segments: Segments, terms: Sequence[bytes]) -> list[int]:
        """Return, for each term, the number of documents in all segments that mention the term.

        The numbers are cached longer than the rows, which are large if many documents mention a term.

        Raises:
            CorruptionError: a row is malformed.
        """
        roots = tuple([summary.root for _, summary in segments])
        dfs = list(map(self._dfs.get, terms))
        new = [term for term, df in zip(terms, dfs, strict=True) if df is None or df[0] != roots]
        read = iter(self.rows(rows, segments, new)) if new else iter(())
        return [df[1] if df is not None and df[0] == roots else next(read).df for df in dfs]

    def _keep(self, term: bytes, entry: _CachedRows) -> None:
        if 2 * (self._used_bytes + entry.size) > CACHE_BYTES_MAX:
            self._older, self._older_bytes = self._used, self._used_bytes
            self._used, self._used_bytes = {}, 0
        if 2 * entry.size <= CACHE_BYTES_MAX:
            replaced = self._used.get(term)
            self._used[term] = entry
            self._used_bytes += entry.size - (0 if replaced is None else replaced.size)

    def lengths(self, rows: Reader, segments: Segments) -> list[PartLengths]:
        """Return the lengths of the documents of each segment.

        Raises:
            CorruptionError: a row is missing or malformed.
        """
        cached, current, found = self._lengths, {}, []
        for name, summary in segments:
            lengths = cached.get(summary.root)
            if lengths is None:
                key = name.row_prefix + LENGTHS
                lengths = part_lengths(decode_lengths(key, rows.get(key), name.size))
            current[summary.root] = lengths
            found.append(lengths)
        self._lengths = current
        return found

    def norms(self, key: tuple[object, ...]) -> Norms | None:
        """Return the cached norms if they have this key, else None."""
        cached = self._norms
        return cached[1] if cached is not None and cached[0] == key else None

    def cache_norms(self, key: tuple[object, ...], norms: Norms) -> None:
        """Replace the cached norms, which all questions between two writes share."""
        self._norms = key, norms

    def facts(self, rows: Reader, key: tuple[bytes, ...], segments: Segments, tail: LastDocuments) -> Facts:
        """Return the facts of all documents, read-only. Facts of segments in the cache are not read again.

        `key` identifies the segments and the tail.
        """
        cached = self._facts
        if cached is None or cached.key != key:
            with self._facts_lock:
                cached = self._facts
                if cached is None or cached.key != key:
                    cached = self._facts = _extended(cached, rows, key, segments, tail)
        return cached.whole


def _extended(
    cached: _CachedFacts | None, rows: Reader, key: tuple[bytes, ...], segments: Segments, tail: LastDocuments
) -> _CachedFacts:
    """Return the facts of another state of the index. If possible, the buffer of `cached` is used.

    Raises:
        CorruptionError: a row is missing or malformed.
    """
    import numpy as np

    new: list[tuple[int, Facts]] = []
    roots = frozenset((name.start, summary.root) for name, summary in segments)
    for name, summary in segments:
        if cached is None or (name.start, summary.root) not in cached.segments:
            row = name.row_prefix + FACTS
            new.append((name.start, decode_facts(row, rows.get(row), name.size)))
    if tail.end > tail.start:
        new.append((tail.start, tail.columns.facts))
    buffer, filled = (None, 0) if cached is None else (cached.buffer, cached.filled)
    if buffer is None or tail.end > buffer.shape[1] or any(_differ(buffer, filled, *one) for one in new):
        larger = np.zeros((len(Facts._fields), tail.end + tail.end // ROOM_SHARE + ROOM_LEAST), np.uint64)
        if buffer is not None:
            filled_to = min(filled, tail.end)
            larger[:, :filled_to] = buffer[:, :filled_to]
        buffer, filled = larger, 0
    for start, facts in new:
        for stored, column in zip(buffer, facts, strict=True):
            stored[start : start + len(column)] = column
    columns = [stored[: tail.end] for stored in buffer]
    for column in columns:
        column.flags.writeable = False
    return _CachedFacts(key, Facts(*columns), buffer, max(filled, tail.end), roots)


def _differ(buffer: NDArray[np.uint64], filled: int, start: int, facts: Facts) -> bool:
    """Return True if `facts` differ from the facts of the same documents in the buffer."""
    count = max(0, min(filled - start, len(facts.sources)))
    pairs = zip(buffer, facts, strict=True)
    return any((stored[start : start + count] != column[:count]).any() for stored, column in pairs)


def _cached(roots: tuple[bytes, ...], rows: tuple[bytes | None, ...]) -> _CachedRows:
    """Return the entry with the rows of a term."""
    df, size = 0, ENTRY_BYTES + 8 * len(rows)
    for row in rows:
        if row is not None:
            df += df_of(row)
            size += len(row) + ROW_BYTES
    return _CachedRows(roots, rows, df, size)


def _known(older: _CachedRows | None) -> dict[bytes, bytes | None]:
    """Return the cached rows of a term, by the roots of the segments."""
    return {} if older is None else dict(zip(older.roots, older.rows, strict=True))


def df_of(row: bytes) -> int:
    """Return the number of documents that the row of a term lists."""
    return int.from_bytes(row[:4], "big")


def part_lengths(decoded: NDArray[np.uint16]) -> PartLengths:
    """Return the lengths of the documents of one part in the form of `Norms`."""
    squares = int((decoded.astype("u8") ** 2).sum())
    return PartLengths(decoded.astype("<u2").tobytes(), int(decoded.min()), int(decoded.max()), squares)
