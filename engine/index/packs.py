"""The stored form of the rows of terms: one stored row, a *pack*, contains many rows of terms (SPEC: Index).

If each term had its own stored row, most keys would be longer than their values. In a pack, postings also
take fewer bytes than in the form that is hashed: about one byte for each document instead of three. numpy is
imported on first use only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.base.errors import CorruptionError
from engine.index.segments import describe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


PACK_BYTES: Final = 4096
"""A pack ends as soon as its terms and entries have at least this number of bytes."""
SIZE_BYTES: Final = 2
DENSE: Final = 8
"""If at least one in `DENSE` documents has a term, the offsets of the term are stored as bits."""

StoredRow = tuple[bytes, bytes]


class TermPostings(NamedTuple):
    """The postings of some terms, one term after the other."""

    dfs: NDArray[np.int64]
    """The number of postings of each term."""
    offsets: NDArray[np.uint16]
    """The offsets of the documents, ascending within each term."""
    tfs: NDArray[np.uint8]
    """The term frequencies, in the order of `offsets`."""


def pack(terms: Sequence[bytes], entries: Sequence[bytes]) -> Iterator[StoredRow]:
    """Yield (first term, pack) for each pack of one block. The key of a pack ends in the first term.

    `entries` are the stored forms of the postings of `terms`, as `encode_entries` returns them.
    """
    start = size = 0
    for end, (term, entry) in enumerate(zip(terms, entries, strict=True), 1):
        size += len(term) + len(entry)
        if size >= PACK_BYTES or end == len(terms):
            sizes = b"".join([len(one).to_bytes(SIZE_BYTES, "little") for one in entries[start : end - 1]])
            lengths = bytes(map(len, terms[start:end]))
            head = bytes([end - start - 1]) + lengths + sizes
            yield terms[start], head + b"".join([*terms[start:end], *entries[start:end]])
            start, size = end, 0


def _layout(raw: bytes) -> tuple[list[int], list[int]] | None:
    """Return the bounds of the terms and of the entries in a pack, or None if it is malformed."""
    count = raw[0] + 1 if raw else 1
    at = 1 + count
    sizes_end = at + SIZE_BYTES * (count - 1)
    terms = list(accumulate(raw[1:at], initial=sizes_end))
    sizes = [
        int.from_bytes(raw[place : place + SIZE_BYTES], "little")
        for place in range(at, sizes_end, SIZE_BYTES)
    ]
    entries = [*accumulate(sizes, initial=terms[-1]), len(raw)]
    if len(terms) != count + 1 or entries[-2] >= len(raw):
        return None
    return terms, entries


def split(raw: bytes) -> tuple[list[bytes], list[bytes]] | None:
    """Return the terms and the entries of a pack, or None if the pack is malformed."""
    bounds = _layout(raw)
    if bounds is None:
        return None
    terms, entries = ([raw[start:end] for start, end in pairwise(places)] for places in bounds)
    return terms, entries


def encode_entries(postings: TermPostings, documents: int) -> list[bytes]:
    """Return the stored form of the postings of each term. The segment has `documents` ordinals."""
    import numpy as np

    dfs, offsets, tfs = postings
    if not len(dfs):
        return []
    ends = np.cumsum(dfs)
    starts = ends - dfs
    gaps = offsets.astype(np.int64)
    gaps[1:] -= gaps[:-1].copy() + 1
    gaps[starts] = offsets[starts]
    raw, bounds = _encode_varints(gaps)
    bytes_of = bounds[np.concatenate([starts, ends[-1:]])].tolist()
    repeated = np.maximum.reduceat(tfs, starts) > 1
    heads, head_bounds = _encode_varints(2 * dfs + repeated)
    heads_at = head_bounds.tolist()
    entries = [
        heads[heads_at[at] : heads_at[at + 1]] + raw[bytes_of[at] : bytes_of[at + 1]]
        for at in range(len(dfs))
    ]
    dense = dfs * DENSE >= documents
    for at in np.flatnonzero(repeated | dense).tolist():
        start, end = starts[at], ends[at]
        entry = heads[heads_at[at] : heads_at[at + 1]]
        if repeated[at]:
            more = tfs[start:end] > 1
            entry += np.packbits(more, bitorder="little").tobytes() + tfs[start:end][more].tobytes()
        if dense[at]:
            members = np.zeros(documents, np.bool_)
            members[offsets[start:end]] = True
            entry += np.packbits(members, bitorder="little").tobytes()
        else:
            entry += raw[bytes_of[at] : bytes_of[at + 1]]
        entries[at] = entry
    return entries


def _encode_varints(numbers: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]:
    """Encode numbers below 2^21 in groups of seven bits, lowest group first; return bytes and bounds."""
    import numpy as np

    widths = 1 + (numbers > 0x7F) + (numbers > 0x3FFF)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
    raw = np.zeros(int(bounds[-1]), np.uint8)
    for place in range(3):
        has = widths > place
        group = numbers[has] >> 7 * place & 0x7F
        raw[bounds[:-1][has] + place] = group | np.where(widths[has] > place + 1, 0x80, 0)
    return raw.tobytes(), bounds


def decode_entries(entries: Sequence[bytes], documents: int) -> TermPostings | None:
    """Decode the postings of terms, or return None if an entry is malformed.

    Only the bytes that `encode_entries` returns are accepted.
    """
    heads = _Heads()
    if not all(heads.take(entry, documents) for entry in entries):
        return None
    return heads.postings(documents)


class _Heads:
    """The fields at the beginnings of entries, and the other parts of the entries.

    The parts of all entries are decoded together, because decoding each entry by itself takes 20 times
    longer.
    """

    def __init__(self) -> None:
        self._dfs: list[int] = []
        self._repeated: list[bool] = []
        self._bits: list[bytes] = []
        self._greater: list[bytes] = []
        self._gaps: list[bytes] = []
        self._dense: list[bytes] = []

    def take(self, entry: bytes, documents: int) -> bool:
        """Divide an entry into its parts; return False if it is malformed."""
        number = at = 0
        for at, byte in enumerate(entry[:3], 1):
            number |= (byte & 0x7F) << 7 * (at - 1)
            if byte < 0x80:
                break
        df, repeated = number >> 1, bool(number & 1)
        if not 0 < df <= documents or entry[at - 1] > 0x7F or (at > 1 and not entry[at - 1]):
            return False
        if repeated:
            bits = entry[at : at + (df + 7) // 8]
            marked = int.from_bytes(bits, "little")
            at += len(bits)
            greater = entry[at : at + marked.bit_count()]
            at += len(greater)
            # There is a bit beyond the last posting, or no bit at all, or a frequency that should not be
            # stored.
            if marked >> df or not marked or len(greater) < marked.bit_count() or min(greater) < 2:
                return False
            self._bits.append(bits)
            self._greater.append(greater)
        (self._dense if df * DENSE >= documents else self._gaps).append(entry[at:])
        self._dfs.append(df)
        self._repeated.append(repeated)
        return True

    def postings(self, documents: int) -> TermPostings | None:
        """Return the postings of all entries, or None if one is malformed."""
        import numpy as np

        dfs = np.array(self._dfs, np.int64)
        dense = dfs * DENSE >= documents
        far = self._far(dfs[~dense], documents)
        near = self._near(dfs[dense].tolist(), documents)
        if far is None or near is None:
            return None
        offsets = np.empty(int(dfs.sum()), np.int64)
        is_dense = np.repeat(dense, dfs)
        offsets[is_dense], offsets[~is_dense] = near, far
        tfs = np.ones(len(offsets), np.uint8)
        repeated = np.array(self._repeated, np.bool_)
        if repeated.any():
            bits = np.unpackbits(np.frombuffer(b"".join(self._bits), np.uint8), bitorder="little")
            counts = dfs[repeated]
            before = np.cumsum(8 * ((counts + 7) // 8)) - 8 * ((counts + 7) // 8)
            inner = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            more = np.flatnonzero(np.repeat(repeated, dfs))[bits[np.repeat(before, counts) + inner] == 1]
            tfs[more] = np.frombuffer(b"".join(self._greater), np.uint8)
        return TermPostings(dfs, offsets.astype("<u2"), tfs)

    def _far(self, dfs: NDArray[np.int64], documents: int) -> NDArray[np.int64] | None:
        """Return the offsets of the terms whose gaps are stored."""
        import numpy as np

        raw = np.frombuffer(b"".join(self._gaps), np.uint8)
        if not len(dfs):
            return np.zeros(0, np.int64)
        last = np.flatnonzero(raw < 0x80)
        ends = np.cumsum(dfs)
        sizes = np.cumsum(np.fromiter(map(len, self._gaps), np.int64, len(self._gaps)))
        # The last byte of each term's gaps must end a number, and the number of gaps must agree with df.
        if len(last) != ends[-1] or (last[ends - 1] != sizes - 1).any():
            return None
        first = np.concatenate([np.zeros(1, np.int64), last[:-1] + 1])
        widths = last - first + 1
        if widths.max() > 3 or not raw[last[widths > 1]].all():
            return None
        gaps = raw[first].astype(np.int64) & 0x7F
        for place in (1, 2):
            has = widths > place
            gaps[has] |= (raw[first[has] + place].astype(np.int64) & 0x7F) << 7 * place
        total = np.cumsum(gaps + 1)
        before = np.concatenate([np.zeros(1, np.int64), total[ends[:-1] - 1]])
        offsets: NDArray[np.int64] = total - np.repeat(before, dfs) - 1
        return None if (offsets[ends - 1] >= documents).any() else offsets

    def _near(self, dfs: list[int], documents: int) -> NDArray[np.int64] | None:
        """Return the offsets of the terms that many documents contain. These offsets are stored as bits."""
        import numpy as np

        places = [np.zeros(0, np.int64)]
        for df, raw in zip(dfs, self._dense, strict=True):
            members = np.flatnonzero(np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little"))
            if len(raw) != (documents + 7) // 8 or len(members) != df or members[-1] >= documents:
                return None
            places.append(members)
        return np.concatenate(places)


def row_values(postings: TermPostings) -> list[bytes]:
    """Return the rows of terms in the form that is hashed: df, greatest tf, offsets, frequencies."""
    import numpy as np

    dfs, offsets, tfs = postings
    ends = np.cumsum(dfs)
    starts = ends - dfs
    heads = np.zeros(len(dfs), dtype=[("df", ">u4"), ("max", "u1")])
    heads["df"] = dfs
    if len(dfs):
        heads["max"] = np.maximum.reduceat(tfs, starts)
    head, low, high = heads.tobytes(), offsets.astype("<u2").tobytes(), tfs.tobytes()
    width = heads.dtype.itemsize
    return [
        head[at * width : (at + 1) * width] + low[2 * start : 2 * end] + high[start:end]
        for at, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
    ]


def find_row(key: bytes, raw: bytes, term: bytes, documents: int) -> bytes | None:
    """Return the row of `term` in the form that is hashed, or None if the pack `raw` does not contain `term`.

    Raises:
        CorruptionError: the pack, or its entry for the term, is malformed.
    """
    bounds = _layout(raw)
    if bounds is None:
        raise malformed(key, term)
    terms, entries = bounds
    at = bisect_left(range(len(terms) - 1), term, key=lambda at: raw[terms[at] : terms[at + 1]])
    if at + 1 == len(terms) or raw[terms[at] : terms[at + 1]] != term:
        return None
    postings = decode_entries([raw[entries[at] : entries[at + 1]]], documents)
    if postings is None:
        raise malformed(key, term)
    return row_values(postings)[0]


def decode_packs(
    packs: Sequence[StoredRow], prefix: bytes, documents: int
) -> tuple[list[bytes], TermPostings]:
    """Return the terms of consecutive packs, and the postings of these terms.

    The keys of the packs begin with `prefix`. This checks that the terms ascend, and that each key ends in
    the first term of its pack. It makes no other check of the terms.

    Raises:
        CorruptionError: a pack is malformed.
    """
    terms: list[bytes] = []
    entries: list[bytes] = []
    for key, raw in packs:
        parts = split(raw)
        if parts is None or key != prefix + parts[0][0]:
            raise malformed(key)
        terms += parts[0]
        entries += parts[1]
        if any(first >= second for first, second in pairwise(terms[-len(parts[0]) - 1 :])):
            raise malformed(key)
    postings = decode_entries(entries, documents)
    if postings is None:
        # Decoding all entries together is quicker; this loop finds the row to report.
        for key, raw in packs:
            for term, entry in zip(*(split(raw) or ([], [])), strict=True):
                if decode_entries([entry], documents) is None:
                    raise malformed(key, term)
        raise malformed(prefix)
    return terms, postings


def malformed(key: bytes, term: bytes | None = None) -> CorruptionError:
    """Return the error for a malformed pack."""
    where = "" if term is None else f" for the term {term!r}"
    return CorruptionError(f"{describe(key)} does not have valid postings{where}")
