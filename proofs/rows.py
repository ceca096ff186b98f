"""The rows of an index segment, and the Merkle tree over them (SPEC, sections 3.9 and 20.8).

There are three kinds of rows: a term with its postings, the lengths of the documents, and facts about the
documents. The rows of a segment, in the order of their keys, are the leaves of a tree that splits like the
tree of RFC 6962.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from proofs.errors import ProofError
from proofs.hashing import DIGEST_BYTES, rows_level, rows_node
from proofs.log import left_half

HEAD_BYTES: Final = 5
TERM_BYTES_MAX: Final = 64
FIRST_OF_TERM: Final = 2
"""The smallest first byte of a term of a text. Keys that begin with 00 are not terms. Keys that begin with 01
are the terms of headings.
"""


class Posting(NamedTuple):
    """One document that contains a term, in the row of the term."""

    offset: int
    """The ordinal of the document, minus the first ordinal of the segment."""
    tf: int


def rows_root(leaves: Sequence[bytes]) -> bytes:
    """Return the root over one or more leaves.

    On each level, a last node without a partner moves up unchanged, which gives the tree of RFC 6962.
    """
    level = leaves
    while len(level) > 1:
        level = rows_level(level)
    return level[0]


def is_term(term: bytes) -> bool:
    """Return whether `term` can be a term of a text, and is not the key of a different kind of row."""
    return 0 < len(term) <= TERM_BYTES_MAX and term[0] >= FIRST_OF_TERM


def read_postings(value: bytes, size: int, documents: int) -> list[Posting]:
    """Return the postings in the row of a term, in a segment of `size` ordinals and `documents` documents.

    Raises:
        ProofError: the bytes are not the canonical row of a term (`row`).
    """
    df = int.from_bytes(value[:4], "big")
    split = HEAD_BYTES + 2 * df
    if not 0 < df <= documents or len(value) != split + df:
        raise ProofError("row", f"{len(value)} bytes are not a row of {df} of {documents} documents")
    offsets = [int.from_bytes(value[at : at + 2], "little") for at in range(HEAD_BYTES, split, 2)]
    tfs = value[split:]
    if offsets[-1] >= size or any(before >= after for before, after in pairwise(offsets)):
        raise ProofError("row", f"the offsets in a row are not ascending and below {size}")
    if not min(tfs) or max(tfs) != value[4]:
        raise ProofError("row", "the term frequencies in a row do not match its head")
    return [Posting(*pair) for pair in zip(offsets, tfs, strict=True)]


def shown_root(size: int, first: int, leaves: Sequence[bytes], hashes: bytes) -> bytes:
    """Return the root of a tree of `size` rows. Only some consecutive rows are shown.

    Hashes stand for the rows that are not shown.

    Args:
        size: The number of rows, at least 1.
        first: The index of the first row shown. The indices of all rows shown are below `size`.
        leaves: The leaf hashes of the rows shown, at least one.
        hashes: The roots of the subtrees without a shown row, from left to right, 32 bytes each.

    Raises:
        ProofError: there are too few or too many hashes (`row`).
    """
    last = first + len(leaves) - 1
    at = 0

    def part(low: int, high: int) -> bytes:
        nonlocal at
        if high <= first or last < low:
            at += DIGEST_BYTES
            return hashes[at - DIGEST_BYTES : at]
        if high - low == 1:
            return leaves[low - first]
        half = low + left_half(high - low)
        left = part(low, half)
        right = part(half, high)
        if len(left) != DIGEST_BYTES or len(right) != DIGEST_BYTES:
            raise ProofError("row", "there are fewer hashes than the position of the rows requires")
        return rows_node(left, right)

    root = part(0, size)
    if at != len(hashes):
        raise ProofError("row", "there are more hashes than the position of the rows requires")
    return root
