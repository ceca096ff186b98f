"""Checks of claims about all atoms with a term: index rows and their neighbours (SPEC, section 20.8)."""

from __future__ import annotations

from typing import Any

from proofs.claims import AtomsMentioning, NoneMentioning
from proofs.errors import ProofError
from proofs.file import MAYBE_RAW, RAW
from proofs.forms import sized, uint
from proofs.hashing import inner_row_hash, row_hash
from proofs.index_table import Index
from proofs.list_claims import check_count, listed_atoms, live_bits
from proofs.lookups import Lookups
from proofs.rows import TERM_BYTES_MAX, read_postings, shown_root
from proofs.segments import Summary
from proofs.sets import CHUNK_BITS, DENSE_BYTES
from proofs.strict_cbor import checked_array, checked_fields
from proofs.verified import AllMentioning, TermUnused


def check_mentioning(
    claim: AtomsMentioning, fields: list[Any], lookups: Lookups, index: Index
) -> AllMentioning:
    """Check the witness of a list by term: `fields` holds rows, chunks of the live ordinals, and atoms.

    Raises:
        ProofError: the witness does not show the claim.
    """
    rows, live_chunks, atoms = checked_array(fields, "the witness of a list by term", 3)
    listed = checked_array(atoms, "the atoms")
    live = _live_mentioning(claim.term.encode(), rows, live_chunks, lookups, index, most=len(listed))
    return AllMentioning(claim, listed_atoms(live, listed, lookups), index.ordinals)


def check_none_mentioning(
    claim: NoneMentioning, fields: list[Any], lookups: Lookups, index: Index
) -> TermUnused:
    """Check the witness of an unused term: `fields` holds rows and chunks of the live ordinals.

    Raises:
        ProofError: the witness does not show the claim.
    """
    rows, live_chunks = checked_array(fields, "the witness of an unused term", 2)
    _live_mentioning(claim.term.encode(), rows, live_chunks, lookups, index, most=0)
    return TermUnused(claim, index.ordinals)


def _live_mentioning(
    term: bytes, rows: Any, live_chunks: Any, lookups: Lookups, index: Index, *, most: int
) -> list[tuple[int, int | None]]:
    """Return the ordinals of live atoms whose text contains the term, ascending, with the term frequencies.

    The witness must include every segment. `most` is the maximum number of live ordinals.
    """
    entries = zip(checked_array(rows, "the rows", len(index.parts)), index.parts, strict=True)
    rows_of = ((part, _row_of(term, entry, part.summary)) for entry, part in entries)
    shown = [(part, row) for part, row in rows_of if row is not None]
    # A segment never spans two chunks: its size divides 65,536, and it starts at a multiple of its size.
    numbers = list(dict.fromkeys(part.start >> CHUNK_BITS for part, _ in shown))
    chunks = iter(checked_array(live_chunks, "the live chunks", len(numbers)))
    matches: list[tuple[int, int | None]] = []
    number, live = -1, b""
    for part, row in shown:
        if part.start >> CHUNK_BITS != number:
            number = part.start >> CHUNK_BITS
            live = _live_bytes(next(chunks), number, lookups, index)
        for offset, tf in read_postings(row, part.size, part.summary.documents):
            ordinal = part.start + offset
            if live[(ordinal & 0xFFFF) >> 3] >> (ordinal & 7) & 1:
                check_count(len(matches) + 1, most)
                matches.append((ordinal, tf))
    return matches


def _live_bytes(raw: Any, number: int, lookups: Lookups, index: Index) -> bytes:
    (chunk,) = checked_fields([raw], (MAYBE_RAW,), "a live chunk")
    return live_bits(chunk, number, lookups, index).to_bytes(DENSE_BYTES, "little")


def _row_of(term: bytes, entry: Any, summary: Summary) -> bytes | None:
    """Return the term's row in `entry`, or None if `entry` shows that the segment has no row of the term."""
    first, shown, hashes = checked_array(entry, "a row", 3)
    if type(shown) is list:
        _check_between(term, first, shown, hashes, summary)
        return None
    first, value, hashes = checked_fields([first, shown, hashes], (uint(), RAW, RAW), "a row")
    _check_shown(first, [row_hash(term, inner_row_hash(value))], hashes, summary)
    return bytes(value)


def _check_between(term: bytes, first: Any, shown: list[Any], hashes: Any, summary: Summary) -> None:
    """Raise ProofError unless two neighbouring rows, or the last row alone, show that the term has no row."""
    first, hashes = checked_fields([first, hashes], (uint(), RAW), "a row")
    kinds = (RAW, sized(32)) if len(shown) == 2 else (RAW, sized(32), RAW, sized(32))
    flat = checked_fields(shown, kinds, "the neighbours of a term")
    terms, inners = flat[::2], flat[1::2]
    if not all(0 < len(one) <= TERM_BYTES_MAX + 1 for one in terms):
        raise ProofError("neighbours", "a row's key has 1 to 65 bytes")
    if not terms[0] < term or (len(terms) == 2 and not term < terms[1]):
        raise ProofError("neighbours", "the term is not between the two rows shown in the order of keys")
    if len(terms) == 1 and first != summary.rows - 1:
        raise ProofError("neighbours", "a row that is shown without the next row is not the last row")
    _check_shown(first, [row_hash(*pair) for pair in zip(terms, inners, strict=True)], hashes, summary)


def _check_shown(first: int, leaves: list[bytes], hashes: bytes, summary: Summary) -> None:
    if first + len(leaves) > summary.rows:
        raise ProofError(
            "row", f"row {first + len(leaves) - 1} is beyond the {summary.rows} rows of the segment"
        )
    if shown_root(summary.rows, first, leaves, hashes) != summary.root:
        raise ProofError("row", "the rows do not hash to the root of their segment")
