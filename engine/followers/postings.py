"""The rows of a segment as columns of numbers: made from terms, merged, written and read.

The bytes are described in `engine.followers.segments`. numpy is imported on first use only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.errors import CorruptionError
from engine.followers.segments import HEAD_BYTES, LENGTH_MAX, LENGTHS, SegmentName, Summary, describe
from engine.text.identifiers import TERM_BYTES_MAX
from engine.text.words import STOP_WORDS
from proofs.hashing import inner_row_hash, row_hash, rows_node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TF_MAX: Final = 0xFF


class Columns(NamedTuple):
    """The content of a segment, all rows one after the other."""

    terms: list[bytes]
    """Ascending."""
    dfs: NDArray[np.int64]
    """Postings of each term."""
    offsets: NDArray[np.uint16]
    """Of all postings, term by term; ascending within a term."""
    tfs: NDArray[np.uint8]
    lengths: NDArray[np.uint16]
    """Of each document."""


TermRow = tuple[bytes, bytes]
"""A term, or LENGTHS, and its row's value."""


def build(documents: Sequence[Sequence[str]]) -> Columns:
    """The columns of at most LARGEST documents, each given as its terms in any order."""
    import numpy as np

    # Sorting one number for each (term, document) was measured at 4 µs a document of 40 words; a dict
    # of lists, the plain way, at 7 and without the encoding.
    flat = list(chain.from_iterable(documents))
    vocabulary = sorted(set(flat))
    numbers = {term: number for number, term in enumerate(vocabulary)}
    ids = np.fromiter(map(numbers.__getitem__, flat), np.int64, len(flat))
    sizes = np.fromiter(map(len, documents), np.int64, len(documents))
    owners = np.repeat(np.arange(len(documents), dtype=np.int64), sizes)
    pairs, tfs = np.unique(ids << 16 | owners, return_counts=True)
    counted = np.fromiter((term not in STOP_WORDS for term in vocabulary), np.bool_, len(vocabulary))
    lengths = np.bincount(owners[counted[ids]], minlength=len(documents))
    return Columns(
        [term.encode() for term in vocabulary],
        np.bincount(pairs >> 16, minlength=len(vocabulary)),
        (pairs & 0xFFFF).astype("<u2"),
        np.minimum(tfs, TF_MAX).astype("u1"),
        np.minimum(lengths, LENGTH_MAX).astype("<u2"),
    )


def merge(parts: Sequence[Columns]) -> Columns:
    """The columns of neighbouring ranges as those of the one range they make up; no text is needed."""
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    vocabulary = sorted(set(chain.from_iterable(part.terms for part in parts)))
    numbers = {term: number for number, term in enumerate(vocabulary)}
    ids, offsets, before = [], [], 0
    for part in parts:
        own = np.fromiter(map(numbers.__getitem__, part.terms), np.int32, len(part.terms))
        ids.append(np.repeat(own, part.dfs))
        offsets.append(part.offsets.astype(np.int32) + before)
        before += len(part.lengths)
    terms_of = np.concatenate(ids)
    # Within a term the parts are in ascending order already, and a stable sort keeps that.
    order = np.argsort(terms_of, kind="stable")
    return Columns(
        vocabulary,
        np.bincount(terms_of, minlength=len(vocabulary)),
        np.concatenate(offsets)[order].astype("<u2"),
        np.concatenate([part.tfs for part in parts])[order],
        np.concatenate([part.lengths for part in parts]),
    )


def encode(columns: Columns) -> tuple[list[TermRow], Summary]:
    """The rows of a segment in key order, and its summary."""
    import numpy as np

    ends = np.cumsum(columns.dfs)
    starts = ends - columns.dfs
    heads = np.zeros(len(columns.terms), dtype=[("df", ">u4"), ("max", "u1")])
    heads["df"] = columns.dfs
    if columns.terms:
        heads["max"] = np.maximum.reduceat(columns.tfs, starts)
    head, offsets, tfs = heads.tobytes(), columns.offsets.astype("<u2").tobytes(), columns.tfs.tobytes()
    documents = len(columns.lengths)
    rows = [(LENGTHS, documents.to_bytes(4, "big") + b"\x00" + columns.lengths.astype("<u2").tobytes())]
    for number, (term, start, end) in enumerate(
        zip(columns.terms, starts.tolist(), ends.tolist(), strict=True)
    ):
        at = number * HEAD_BYTES
        rows.append((term, head[at : at + HEAD_BYTES] + offsets[2 * start : 2 * end] + tfs[start:end]))
    root = rows_root([row_leaf(term, value) for term, value in rows])
    return rows, Summary(documents, int(columns.lengths.sum(dtype=np.int64)), len(rows), root)


def encode_few(documents: Sequence[Sequence[str]]) -> tuple[list[TermRow], Summary]:
    """What `encode(build(documents))` gives, without NumPy: its import takes longer than this does.

    Measured: 17 ms for 255 documents of 40 words, against 10; the import takes 35 to 75.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    lengths = []
    for offset, terms in enumerate(documents):
        counts = Counter(terms)
        lengths.append(min(sum(tf for term, tf in counts.items() if term not in STOP_WORDS), LENGTH_MAX))
        for term, tf in counts.items():
            found.setdefault(term, []).append((offset, min(tf, TF_MAX)))
    rows = [(LENGTHS, len(documents).to_bytes(4, "big") + b"\x00" + _u16(lengths))]
    for raw, postings in sorted((term.encode(), postings) for term, postings in found.items()):
        tfs = bytes(tf for _, tf in postings)
        head = len(postings).to_bytes(4, "big") + bytes([max(tfs)])
        rows.append((raw, head + _u16(offset for offset, _ in postings) + tfs))
    root = rows_root([row_leaf(term, value) for term, value in rows])
    return rows, Summary(len(documents), sum(lengths), len(rows), root)


def _u16(numbers: Iterable[int]) -> bytes:
    return b"".join(number.to_bytes(2, "little") for number in numbers)


def row_leaf(term: bytes, value: bytes) -> bytes:
    """The leaf hash of a row of a segment, lengths or term."""
    return row_hash(term, inner_row_hash(value))


def rows_root(leaves: Sequence[bytes]) -> bytes:
    """The root over one leaf or more; a last one without a partner moves up, as RFC 6962 splits."""
    level = list(leaves)
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = [rows_node(*pair) for pair in zip(level[::2], level[1::2], strict=False)] + odd
    return level[0]


def decode_lengths(key: bytes, value: bytes | None, documents: int) -> NDArray[np.uint16]:
    """The length of each of `documents` documents.

    Raises:
        CorruptionError: the row is missing or malformed.
    """
    import numpy as np

    if value is None:
        raise CorruptionError(f"{describe(key)}: missing")
    if value[:HEAD_BYTES] != documents.to_bytes(4, "big") + b"\x00" or len(value) != 5 + 2 * documents:
        raise CorruptionError(f"{describe(key)}: not the lengths of {documents} documents")
    return np.frombuffer(value, "<u2", documents, HEAD_BYTES)


def decode_postings(key: bytes, value: bytes, documents: int) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """The offsets and term frequencies of one term's row.

    Raises:
        CorruptionError: the row is malformed.
    """
    import numpy as np

    df = int.from_bytes(value[:4], "big")
    if not 0 < df <= documents or len(value) != HEAD_BYTES + 3 * df:
        raise CorruptionError(f"{describe(key)}: {len(value)} bytes are no postings of {df} documents")
    offsets = np.frombuffer(value, "<u2", df, HEAD_BYTES)
    tfs = np.frombuffer(value, "u1", df, HEAD_BYTES + 2 * df)
    if offsets[-1] >= documents or (df > 1 and not (offsets[1:] > offsets[:-1]).all()):
        raise CorruptionError(f"{describe(key)}: offsets are not ascending below {documents}")
    if not tfs.min() or tfs.max() != value[4]:
        raise CorruptionError(f"{describe(key)}: term frequencies contradict the head")
    return offsets, tfs


def decode(name: SegmentName, summary: Summary, rows: Iterable[TermRow]) -> Columns:
    """The columns of a segment from all its rows, keys included, in key order.

    Raises:
        CorruptionError: a row is malformed, or they are not what the summary counts.
    """
    import numpy as np

    prefix = name.row_prefix
    stored = list(rows)
    if not stored or stored[0][0] != prefix + LENGTHS:
        raise CorruptionError(f"{describe(prefix + LENGTHS)}: missing")
    lengths = decode_lengths(*stored[0], name.documents)
    if len(stored) != summary.rows or int(lengths.sum(dtype=np.int64)) != summary.total_length:
        raise CorruptionError(f"{describe(name.summary_key)}: does not fit the rows of its segment")
    del stored[0]
    terms = [key[len(prefix) :] for key, _ in stored]
    dfs = [int.from_bytes(value[:4], "big") for _, value in stored]
    splits = [HEAD_BYTES + 2 * df for df in dfs]
    columns = Columns(
        terms,
        np.array(dfs, np.int64),
        _join([value[HEAD_BYTES:split] for (_, value), split in zip(stored, splits, strict=True)], "<u2"),
        _join([value[split:] for (_, value), split in zip(stored, splits, strict=True)], "u1"),
        lengths,
    )
    heads = _join([value[4:HEAD_BYTES] for _, value in stored], "u1")
    if not _plausible(columns, heads):
        # All rows were checked at once, 20 times faster than one by one; this finds the one to name.
        for key, value in stored:
            check_term(key, key[len(prefix) :])
            decode_postings(key, value, name.documents)
    return columns


def _join(pieces: list[bytes], kind: str) -> NDArray[Any]:
    import numpy as np

    joined = b"".join(pieces)
    width = np.dtype(kind).itemsize
    return np.frombuffer(joined[: len(joined) // width * width], kind)


def _plausible(columns: Columns, maxima: NDArray[np.uint8]) -> bool:
    """Whether every row would pass `check_term` and `decode_postings`."""
    import numpy as np

    terms, dfs, offsets, tfs, lengths = columns
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
        and all(0 < len(term) <= TERM_BYTES_MAX for term in terms)
    )


def check_term(key: bytes, term: bytes) -> None:
    """Refuse a row whose key ends in no term.

    Raises:
        CorruptionError: not 1 to 64 bytes of UTF-8.
    """
    try:
        fits = 0 < len(term.decode().encode()) <= TERM_BYTES_MAX
    except UnicodeDecodeError:
        fits = False
    if not fits:
        raise CorruptionError(f"{describe(key)}: not a term of 1 to {TERM_BYTES_MAX} bytes of UTF-8")
