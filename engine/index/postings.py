"""Encoding and decoding of the rows of a segment.

SPEC: Index defines the bytes. numpy is imported on first use only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.index.columns import (
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
    LENGTHS,
    Blocks,
    IndexKeys,
    SegmentName,
    block_roots,
    describe,
    encode_blocks,
    is_name,
    row_prefix,
)
from engine.text.analyzer import KERNEL_TERMS
from proofs.hashing import row_leaf
from proofs.labels import salted
from proofs.leaves import Summary
from proofs.rows import rows_root

TermRow = tuple[bytes, bytes]
"""A row of a segment as a pair (name, value), in the stored form or in the form that is hashed.

The name is the label of a term, LENGTHS or FACTS. It does not include the prefix of the segment unless the
function
says so."""

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


def build_segment(
    key: bytes, parts: Sequence[StoredPart], documents: Sequence[NewDocument], keys: IndexKeys
) -> Encoded:
    """Return the segment that consists of the adjacent `parts`, followed by the `documents`.

    `key` is the key of the segment in the tree; the keys of the rows begin with its `row_prefix`.

    Raises:
        CorruptionError: a row of a part is malformed, or the rows do not match the summary.
    """
    if NATIVE is not None:
        stored = [
            (len(name.row_prefix), name.size, *summary[:3], rows, removed)
            for name, summary, rows, removed in parts
        ]
        items = [document.kernel_item for document in documents]
        encoded = NATIVE.build_segment(KERNEL_TERMS, row_prefix(key), key, *keys, stored, items)
        if encoded is not None:
            rows, kept_rows, total, count, root, blocks = encoded
            return Encoded(rows, Summary(kept_rows, total, count, root), blocks)
    columns = []
    for name, summary, rows, removed in parts:
        part = decode(name, summary, rows)
        columns.append(remove(part, removed) if removed else part)
    if documents or not columns:
        columns.append(build([document.analysed for document in documents], keys))
    return encode(key, merge(columns), keys)


def encode(key: bytes, columns: Columns, keys: IndexKeys) -> Encoded:
    """Encode the columns of a segment as its stored rows, its summary and its row of blocks."""
    import numpy as np

    documents = len(columns.lengths)
    postings = TermPostings(columns.dfs, columns.offsets, columns.tfs)
    rows = salted_rows(key, hashed_rows(columns), keys)
    roots = block_roots([row_leaf(name, value) for name, value in rows])
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
        {row_prefix(key) + name: value for name, value in stored.items()},
        Summary(columns.documents, total, len(names), rows_root(roots)),
        encode_blocks(Blocks(list(stored), starts, roots)),
    )


def salted_rows(key: bytes, rows: Sequence[TermRow], keys: IndexKeys) -> list[TermRow]:
    """Return rows of the segment with this key, with the values behind their salts: what is hashed."""
    return [(name, salted(keys.rows, "index", key + name, value)) for name, value in rows]


def hashed_rows(columns: Columns) -> list[TermRow]:
    """Return the rows of a segment in the form that is hashed, in key order, without salts."""
    values = row_values(TermPostings(columns.dfs, columns.offsets, columns.tfs))
    columns_first = [(LENGTHS, lengths_row(columns.lengths)), (FACTS, facts_row(columns.facts))]
    return [*columns_first, *zip(columns.terms, values, strict=True)]


def stored_block(prefix: bytes, stored: Sequence[TermRow], documents: int) -> list[TermRow]:
    """Return the rows of a block as `hashed_rows`. `stored` has its stored rows with whole keys.

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
    for term in terms:
        if not is_name(term):
            raise CorruptionError(f"{describe(prefix + term)} does not end in the label of a term")
    total = int(lengths.sum(dtype=np.int64))
    if len(terms) + len(COLUMN_ROWS) != summary.rows or total != summary.total_length:
        raise CorruptionError(f"{describe(name.summary_key)} does not match the rows of its segment")
    return Columns(terms, *postings, lengths, facts, summary.documents)
