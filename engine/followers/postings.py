"""Encoding and decoding of the rows of a segment, and the tail: documents that have no rows yet.

SPEC: Index defines the bytes. numpy is imported on first use only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.base.errors import CorruptionError
from engine.followers.columns import (
    FIRST_OF_TEXT,
    Columns,
    NewDocument,
    build,
    columns_of,
    decode_facts,
    encode_facts,
    merge,
    remove,
)
from engine.followers.segments import (
    BLOCK_ROWS,
    FACTS,
    HEAD,
    HEAD_BYTES,
    LENGTHS,
    SegmentName,
    block_roots,
    columns_head,
    describe,
    encode_blocks,
)
from engine.kernels import NATIVE
from engine.text.analyzer import KERNEL_TERMS
from engine.text.identifiers import TERM_BYTES_MAX
from proofs.hashing import row_leaf
from proofs.rows import rows_root
from proofs.segments import TAIL_LEVEL, Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TermRow = tuple[bytes, bytes]
"""A row of a segment as a pair (key, value). The key is a term, LENGTHS or FACTS, without the prefix of the
segment."""


class StoredPart(NamedTuple):
    """A stored segment that becomes a part of a larger one, or is written again without erased documents."""

    name: SegmentName
    summary: Summary
    rows: list[TermRow]
    """All rows of the segment with their whole keys, in key order."""
    removed: list[int]
    """The offsets of the documents to remove, ascending. None of them may be removed already."""


class Encoded(NamedTuple):
    """The stored form of a segment."""

    rows: dict[bytes, bytes]
    """The rows in key order."""
    summary: Summary
    blocks: bytes
    """The value of the row of blocks, which `engine.followers.segments` describes."""


def build_segment(prefix: bytes, parts: Sequence[StoredPart], documents: Sequence[NewDocument]) -> Encoded:
    """Return the segment that consists of `parts`, which are adjacent, and of the `documents` after them.

    The keys of the rows begin with `prefix`.

    Raises:
        CorruptionError: a row of a part is malformed, or the rows do not match the summary.
    """
    if NATIVE is not None:
        stored = [
            (len(name.row_prefix), name.size, *summary[:3], rows, removed)
            for name, summary, rows, removed in parts
        ]
        items = [document.kernel_item for document in documents]
        encoded = NATIVE.build_segment(KERNEL_TERMS, prefix, stored, items)
        if encoded is not None:
            rows, kept, total, count, root, blocks = encoded
            return Encoded(rows, Summary(kept, total, count, root), blocks)
    columns = []
    for name, summary, rows, removed in parts:
        part = decode(name, summary, rows)
        columns.append(remove(part, removed) if removed else part)
    if documents or not columns:
        columns.append(build([document.analysed for document in documents]))
    return encode(prefix, merge(columns))


def encode(prefix: bytes, columns: Columns) -> Encoded:
    """Encode the columns of a segment as its rows, its summary and its row of blocks."""
    import numpy as np

    ends = np.cumsum(columns.dfs)
    starts = ends - columns.dfs
    heads = np.zeros(len(columns.terms), dtype=[("df", ">u4"), ("max", "u1")])
    heads["df"] = columns.dfs
    if columns.terms:
        heads["max"] = np.maximum.reduceat(columns.tfs, starts)
    head, offsets, tfs = heads.tobytes(), columns.offsets.astype("<u2").tobytes(), columns.tfs.tobytes()
    rows = [
        (LENGTHS, columns_head(len(columns.lengths)) + columns.lengths.astype("<u2").tobytes()),
        (FACTS, encode_facts(columns.facts)),
    ]
    for number, (term, start, end) in enumerate(
        zip(columns.terms, starts.tolist(), ends.tolist(), strict=True)
    ):
        at = number * HEAD_BYTES
        rows.append((term, head[at : at + HEAD_BYTES] + offsets[2 * start : 2 * end] + tfs[start:end]))
    roots = block_roots([row_leaf(term, value) for term, value in rows])
    total = int(columns.lengths.sum(dtype=np.int64))
    blocks = encode_blocks([term for term, _ in rows[::BLOCK_ROWS]], roots)
    keyed = {prefix + term: value for term, value in rows}
    return Encoded(keyed, Summary(columns.documents, total, len(rows), rows_root(roots)), blocks)


def decode_lengths(key: bytes, value: bytes | None, documents: int) -> NDArray[np.uint16]:
    """Decode the lengths of `documents` documents.

    Raises:
        CorruptionError: the row is missing or malformed.
    """
    import numpy as np

    if value is None:
        raise CorruptionError(f"{describe(key)} is missing")
    if value[:HEAD_BYTES] != columns_head(documents) or len(value) != 5 + 2 * documents:
        raise CorruptionError(f"{describe(key)} does not have the lengths of {documents} documents")
    return np.frombuffer(value, "<u2", documents, HEAD_BYTES)


def decode_postings(key: bytes, value: bytes, documents: int) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Decode the offsets and term frequencies in the row of one term.

    Raises:
        CorruptionError: the row is malformed.
    """
    import numpy as np

    df = int.from_bytes(value[:4], "big")
    if not 0 < df <= documents or len(value) != HEAD_BYTES + 3 * df:
        raise CorruptionError(
            f"{describe(key)} has {len(value)} bytes and {df} postings, which is not a valid combination"
        )
    offsets = np.frombuffer(value, "<u2", df, HEAD_BYTES)
    tfs = np.frombuffer(value, "u1", df, HEAD_BYTES + 2 * df)
    if offsets[-1] >= documents or (df > 1 and not (offsets[1:] > offsets[:-1]).all()):
        raise CorruptionError(f"{describe(key)} has offsets that are not ascending or not below {documents}")
    if not tfs.min() or tfs.max() != value[4]:
        raise CorruptionError(
            f"{describe(key)} has a term frequency of 0, or states a wrong maximum of its term frequencies"
        )
    return offsets, tfs


def decode(name: SegmentName, summary: Summary, rows: Iterable[TermRow]) -> Columns:
    """Decode the columns of a segment from all its rows, which are (key, value) pairs in key order.

    Raises:
        CorruptionError: a row is malformed, or the rows do not match the summary.
    """
    import numpy as np

    prefix = name.row_prefix
    stored = list(rows)
    for at, first in enumerate((LENGTHS, FACTS)):
        if len(stored) <= at or stored[at][0] != prefix + first:
            raise CorruptionError(f"{describe(prefix + first)} is missing")
    lengths = decode_lengths(*stored[0], name.size)
    facts = decode_facts(*stored[1], name.size)
    if len(stored) != summary.rows or int(lengths.sum(dtype=np.int64)) != summary.total_length:
        raise CorruptionError(f"{describe(name.summary_key)} does not match the rows of its segment")
    del stored[:2]
    terms = [key[len(prefix) :] for key, _ in stored]
    dfs = [int.from_bytes(value[:4], "big") for _, value in stored]
    splits = [HEAD_BYTES + 2 * df for df in dfs]
    columns = Columns(
        terms,
        np.array(dfs, np.int64),
        _join([value[HEAD_BYTES:split] for (_, value), split in zip(stored, splits, strict=True)], "<u2"),
        _join([value[split:] for (_, value), split in zip(stored, splits, strict=True)], "u1"),
        lengths,
        facts,
        summary.documents,
    )
    maxima = _join([value[4:HEAD_BYTES] for _, value in stored], "u1")
    if not _are_valid(columns, maxima):
        # Checking all rows together is 20 times faster than one by one; this loop finds the row to report.
        for key, value in stored:
            check_term(key, key[len(prefix) :])
            decode_postings(key, value, name.size)
    return columns


def _join(pieces: list[bytes], kind: str) -> NDArray[Any]:
    import numpy as np

    joined = b"".join(pieces)
    width = np.dtype(kind).itemsize
    return np.frombuffer(joined[: len(joined) // width * width], kind)


def _are_valid(columns: Columns, maxima: NDArray[np.uint8]) -> bool:
    """Return True if every row would pass `check_term` and `decode_postings`."""
    import numpy as np

    terms, dfs, offsets, tfs, lengths, *_ = columns
    total = int(dfs.sum())
    if not terms:
        return True
    if not dfs.all() or not total == len(offsets) == len(tfs) or len(maxima) != len(terms):
        return False
    ends = np.cumsum(dfs)
    starts = ends - dfs
    ascending = offsets[1:] > offsets[:-1]
    ascending[starts[1:] - 1] = True
    try:
        b"\n".join(terms).decode()
    except UnicodeDecodeError:
        return False
    return bool(
        ascending.all()
        and (offsets[ends - 1] < len(lengths)).all()
        and tfs.all()
        and (np.maximum.reduceat(tfs, starts) == maxima).all()
        and _are_terms(terms)
    )


def _are_terms(terms: list[bytes]) -> bool:
    """Return True if all `terms`, which are ascending and valid UTF-8, would pass `check_term`."""
    heads = bisect_left(terms, FIRST_OF_TEXT)
    head_terms = [term.removeprefix(HEAD) for term in terms[:heads]]
    return all(term >= FIRST_OF_TEXT for term in head_terms) and all(
        0 < len(term) <= TERM_BYTES_MAX for term in chain(head_terms, terms[heads:])
    )


def check_term(key: bytes, term: bytes) -> None:
    """Check that `term`, the last part of the row key `key`, is a term of a head or of a text.

    Raises:
        CorruptionError: the term is not 1 to 64 bytes of UTF-8, or has a first byte that no term has.
    """
    term = term.removeprefix(HEAD)
    try:
        fits = 0 < len(term.decode().encode()) <= TERM_BYTES_MAX and term >= FIRST_OF_TEXT
    except UnicodeDecodeError:
        fits = False
    if not fits:
        raise CorruptionError(
            f"{describe(key)} does not end in a term of 1 to {TERM_BYTES_MAX} bytes of UTF-8"
        )


class Postings(NamedTuple):
    """The postings of a term in one segment, as two read-only arrays of equal length."""

    start: int
    """The ordinal of the document at offset 0."""
    offsets: NDArray[np.uint16]
    """The offsets of the documents that mention the term, ascending."""
    tfs: NDArray[np.uint8]
    """The frequency of the term in each document of `offsets`."""


class Tail:
    """The documents after the last segment, which are read from the journal. The object is immutable."""

    def __init__(self, head: bytes, start: int, documents: tuple[NewDocument, ...]) -> None:
        """`head` is the value of the row `i/head`; `start` is the ordinal of the first of `documents`."""
        self.head = head
        self.start = start
        self.documents = documents

    @property
    def end(self) -> int:
        """The ordinal after the last document of the tail. This is also N, the number of all ordinals."""
        return self.start + len(self.documents)

    @property
    def key(self) -> bytes:
        """The key of the tail in the `index` tree."""
        return bytes([TAIL_LEVEL]) + self.start.to_bytes(4, "big")

    @cached_property
    def columns(self) -> Columns:
        """The content of the tail as columns, in the form that the columns of a segment have."""
        return columns_of(self.documents)

    @cached_property
    def rows(self) -> list[TermRow]:
        """The rows that the tail would have if it were a segment, in key order."""
        return list(self._encoded.rows.items())

    @cached_property
    def summary(self) -> Summary:
        """The summary that the tail would have if it were a segment."""
        return self._encoded.summary

    @property
    def blocks(self) -> bytes:
        """The row of blocks that the tail would have if it were a segment."""
        return self._encoded.blocks

    @cached_property
    def total_length(self) -> int:
        """The sum of the lengths of the documents. Unlike `summary`, this sum is computed without hashing."""
        return int(self.columns.lengths.sum(dtype="i8"))

    @cached_property
    def _encoded(self) -> Encoded:
        return build_segment(b"", (), self.documents)

    @cached_property
    def _ranges(self) -> dict[bytes, tuple[int, int]]:
        ends = self.columns.dfs.cumsum()
        starts = ends - self.columns.dfs
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return dict(zip(self.columns.terms, pairs, strict=True))

    def row(self, term: bytes) -> bytes | None:
        """Return the row that `term` would have if the tail were a segment, or None."""
        bounds = self._ranges.get(term)
        if bounds is None:
            return None
        start, end = bounds
        offsets, tfs = self._raw
        own = tfs[start:end]
        return b"%b%c%b%b" % ((end - start).to_bytes(4, "big"), max(own), offsets[2 * start : 2 * end], own)

    def df(self, term: bytes) -> int:
        """Return the number of documents that have `term`. A term of a head begins with HEAD."""
        start, end = self._ranges.get(term, (0, 0))
        return end - start

    @cached_property
    def _raw(self) -> tuple[bytes, bytes]:
        """The offsets and the frequencies of all postings, in the form of rows."""
        return self.columns.offsets.astype("<u2").tobytes(), self.columns.tfs.tobytes()
