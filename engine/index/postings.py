"""Encoding and decoding of the rows of a segment.

SPEC: Index defines the bytes. numpy is imported on first use only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.index.columns import (
    FIRST_OF_TEXT,
    Columns,
    NewDocument,
    build,
    decode_facts,
    decode_lengths,
    encode_facts,
    facts_row,
    lengths_row,
    merge,
    remove,
)
from engine.index.document_numbers import encode_numbers
from engine.index.packs import (
    TermPostings,
    decode_packs,
    encode_entries,
    malformed,
    pack,
    row_values,
)
from engine.index.segments import (
    BLOCK_ROWS,
    FACTS,
    HEAD,
    LENGTHS,
    Blocks,
    SegmentName,
    block_roots,
    describe,
    encode_blocks,
)
from engine.text.analyzer import KERNEL_TERMS, TERM_BYTES_MAX
from proofs.hashing import row_leaf
from proofs.leaves import Summary
from proofs.rows import rows_root

TermRow = tuple[bytes, bytes]
"""A row of a segment as a pair (key, value), in the stored form or in the form that is hashed. The key is a
term, LENGTHS or FACTS. It does not include the prefix of the segment unless the function says so."""

COLUMN_ROWS: Final = (LENGTHS, FACTS)
"""The names of a segment's rows other than the rows of terms. These rows precede the rows of terms."""


class StoredPart(NamedTuple):
    """A stored segment that becomes a part of a larger one, or is written again without erased documents."""

    name: SegmentName
    summary: Summary
    rows: list[TermRow]
    """All stored rows of the segment with their whole keys, in key order."""
    removed: list[int]
    """The offsets of the documents to remove, ascending. A document may not be removed twice."""


class Encoded(NamedTuple):
    """The stored form of a segment."""

    rows: dict[bytes, bytes]
    """The stored rows in key order: the columns, and then the packs."""
    summary: Summary
    blocks: bytes
    """The value of the row of blocks (see `engine.index.segments`)."""


def build_segment(prefix: bytes, parts: Sequence[StoredPart], documents: Sequence[NewDocument]) -> Encoded:
    """Return the segment that consists of the adjacent `parts`, followed by the `documents`.

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
            rows, kept_rows, total, count, root, blocks = encoded
            return Encoded(rows, Summary(kept_rows, total, count, root), blocks)
    columns = []
    for name, summary, rows, removed in parts:
        part = decode(name, summary, rows)
        columns.append(remove(part, removed) if removed else part)
    if documents or not columns:
        columns.append(build([document.analysed for document in documents]))
    return encode(prefix, merge(columns))


def encode(prefix: bytes, columns: Columns) -> Encoded:
    """Encode the columns of a segment as its stored rows, its summary and its row of blocks."""
    import numpy as np

    documents = len(columns.lengths)
    postings = TermPostings(columns.dfs, columns.offsets, columns.tfs)
    roots = block_roots([row_leaf(term, value) for term, value in hashed_rows(columns)])
    names = [LENGTHS, FACTS, *columns.terms]
    entries = [encode_numbers(columns.lengths), encode_facts(columns.facts)]
    stored = dict(zip(names, entries, strict=False))
    entries += encode_entries(postings, documents)
    starts = [0]
    for start in range(0, len(names), BLOCK_ROWS):
        # The rows of lengths and of facts, which begin the first block, are in no pack.
        block = slice(max(start, len(COLUMN_ROWS)), start + BLOCK_ROWS)
        stored.update(pack(names[block], entries[block]))
        starts.append(len(stored))
    total = int(columns.lengths.sum(dtype=np.int64))
    return Encoded(
        {prefix + name: value for name, value in stored.items()},
        Summary(columns.documents, total, len(names), rows_root(roots)),
        encode_blocks(Blocks(list(stored), starts, roots)),
    )


def hashed_rows(columns: Columns) -> list[TermRow]:
    """Return the rows of a segment in the form that is hashed, in key order."""
    values = row_values(TermPostings(columns.dfs, columns.offsets, columns.tfs))
    columns_first = [(LENGTHS, lengths_row(columns.lengths)), (FACTS, facts_row(columns.facts))]
    return [*columns_first, *zip(columns.terms, values, strict=True)]


def stored_block(prefix: bytes, stored: Sequence[TermRow], documents: int) -> list[TermRow]:
    """Return the rows of a block in the form that is hashed. `stored` has its stored rows with whole keys.

    Raises:
        CorruptionError: a stored row is malformed, or does not have the bytes that encoding produces.
    """
    rows: list[TermRow] = []
    packs = list(stored)
    written: list[bytes] = []
    if stored and stored[0][0] == prefix + LENGTHS:
        lengths = decode_lengths(*stored[0], documents)
        facts = decode_facts(*_second(stored, prefix + FACTS), documents)
        rows = [(LENGTHS, lengths_row(lengths)), (FACTS, facts_row(facts))]
        written = [encode_numbers(lengths), encode_facts(facts)]
        del packs[:2]
    if packs:
        terms, postings = decode_packs(packs, prefix, documents)
        rows += zip(terms, row_values(postings), strict=True)
        written += [value for _, value in pack(terms, encode_entries(postings, documents))]
    for (key, value), expected in zip_longest(stored, written, fillvalue=(prefix, b"")):
        if value != expected:
            raise malformed(key)
    return rows


def _second(stored: Sequence[TermRow], key: bytes) -> tuple[bytes, bytes | None]:
    """Return the second stored row if it has this key; otherwise return the key and None."""
    return stored[1] if stored[1:] and stored[1][0] == key else (key, None)


def decode(name: SegmentName, summary: Summary, rows: Iterable[TermRow]) -> Columns:
    """Decode the columns of a segment from all its stored rows, which are (key, value) pairs in key order.

    Raises:
        CorruptionError: a row is malformed, or the rows do not match the summary.
    """
    import numpy as np

    prefix = name.row_prefix
    stored = list(rows)
    if not stored or stored[0][0] != prefix + LENGTHS:
        raise CorruptionError(f"{describe(prefix + LENGTHS)} is missing")
    lengths = decode_lengths(*stored[0], name.size)
    facts = decode_facts(*_second(stored, prefix + FACTS), name.size)
    terms, postings = decode_packs(stored[2:], prefix, name.size)
    if not _are_valid(terms):
        for term in terms:
            check_term(prefix + term, term)
    total = int(lengths.sum(dtype=np.int64))
    if len(terms) + len(COLUMN_ROWS) != summary.rows or total != summary.total_length:
        raise CorruptionError(f"{describe(name.summary_key)} does not match the rows of its segment")
    return Columns(terms, *postings, lengths, facts, summary.documents)


def _are_valid(terms: list[bytes]) -> bool:
    """Return True if every term would pass `check_term`. The terms are ascending."""
    try:
        b"\n".join(terms).decode()
    except UnicodeDecodeError:
        return False
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
