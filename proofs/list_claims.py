"""Checks of claims about all live atoms with a tag or a term (SPEC, sections 20.5 and 20.8).

Such claims need the `index` tree, which a proof includes as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from proofs.basis import Lookups
from proofs.claims import AtomsMentioning, AtomsTagged, EdgesOf, NoneMentioning, NoneTagged
from proofs.errors import ProofError
from proofs.forms import edge_code, sized, uint
from proofs.hashing import edges_beginning, inner_row_hash, position, row_hash
from proofs.labels import LABEL_BYTES, unsalted
from proofs.leaves import (
    CHUNK_BITS,
    DENSE_BYTES,
    ID_BYTES,
    SEGMENT_DOCUMENTS,
    TAIL_LEVEL,
    Group,
    State,
    Summary,
    bits_of,
    fits,
    index_root,
    members_in,
    number_of_segments,
    segment_key,
    segments_of,
)
from proofs.proof_file import MAYBE_RAW, RAW, Segments, checked_array, checked_fields, read_value, with_reason
from proofs.rows import read_postings, shown_root
from proofs.verified import (
    AllEdges,
    AllMentioning,
    AllTagged,
    ListedAtom,
    ListedEdge,
    TagUnused,
    TermUnused,
)


class IndexPart(NamedTuple):
    """A segment of the index, or the tail after the last segment, with the summary in the `index` tree."""

    start: int
    size: int
    """The number of ordinals that the segment or the tail covers."""
    summary: Summary


class Index(NamedTuple):
    """The index of a store without the rows: the number of ordinals and all segments."""

    ordinals: int
    """N, the number of ordinals, including dead ordinals."""
    parts: list[IndexPart]


def read_index(segments: Segments, root: bytes) -> Index:
    """Return the index that `segments` describes, after checking that `root` is the root of their tree.

    Raises:
        ProofError: the number of segments is wrong or a summary is impossible (`segments`), or the tree of
            the segments has a different root (`index`).
    """
    count = segments.ordinals
    if len(segments.summaries) != number_of_segments(count):
        raise ProofError(
            "segments", f"{len(segments.summaries)} is the wrong number of segments for {count} ordinals"
        )
    places = [(segment.key, segment.start, segment.size) for segment in segments_of(count)]
    if tail := count % SEGMENT_DOCUMENTS:
        places.append((segment_key(TAIL_LEVEL, count - tail), count - tail, tail))
    leaves, parts = [], []
    for (key, start, size), fields in zip(places, segments.summaries, strict=True):
        summary = Summary(*fields)
        if not fits(summary, size):
            raise ProofError("segments", f"a segment of {size} ordinals cannot have the summary {fields[:3]}")
        leaves.append((key, summary))
        parts.append(IndexPart(start, size, summary))
    if index_root(count, leaves) != root:
        raise ProofError("index", "the segments do not hash to the root of the index")
    return Index(count, parts)


def check_tagged(claim: AtomsTagged, fields: list[Any], lookups: Lookups, index: Index) -> AllTagged:
    """Check the witness of a list by tag: `fields` holds chunks of sets, and atoms.

    Raises:
        ProofError: the witness does not show the claim.
    """
    sets, atoms = checked_array(fields, "the witness of a list by tag", 2)
    listed = checked_array(atoms, "the atoms")
    live = _live_tagged(claim, sets, lookups, index, most=len(listed))
    return AllTagged(
        claim, listed_atoms([(ordinal, None) for ordinal in live], listed, lookups), index.ordinals
    )


def check_none_tagged(claim: NoneTagged, fields: list[Any], lookups: Lookups, index: Index) -> TagUnused:
    """Check the witness of an unused tag: `fields` holds chunks of sets.

    Raises:
        ProofError: the witness does not show the claim.
    """
    (sets,) = checked_array(fields, "the witness of an unused tag", 1)
    _live_tagged(claim, sets, lookups, index, most=0)
    return TagUnused(claim, index.ordinals)


def check_mentioning(
    claim: AtomsMentioning, fields: list[Any], lookups: Lookups, index: Index
) -> AllMentioning:
    """Check the witness of a list by term: `fields` holds rows, chunks of the live ordinals, and atoms.

    Raises:
        ProofError: the witness does not show the claim.
    """
    rows, live_chunks, atoms = checked_array(fields, "the witness of a list by term", 3)
    listed = checked_array(atoms, "the atoms")
    live = _live_mentioning(claim, rows, live_chunks, lookups, index, most=len(listed))
    return AllMentioning(claim, listed_atoms(live, listed, lookups), index.ordinals)


def check_edges(claim: EdgesOf, fields: list[Any], lookups: Lookups) -> AllEdges:
    """Check the witness of a list of edges: `fields` holds a key and a value for each leaf of a subtree.

    The subtree is that of the atom and the direction or, if the claim names a type, of this type in it. It is
    named by at most four bytes of a hash, so leaves of other atoms, types or directions may be in it.

    Raises:
        ProofError: the witness does not show the claim.
    """
    (leaves,) = checked_array(fields, "the witness of edges", 1)
    beginning = edges_beginning(claim.direction, claim.id, claim.code)
    listed = checked_array(leaves, "the edges")
    lookups.require_complete(beginning, len(listed))
    edges, last = [], b""
    for pair in listed:
        key, raw = checked_fields(pair, (RAW, RAW), "an edge of the list")
        end, code, other = key[:17], key[17:-16], key[-16:]
        if not edge_code(code) or not last < key:
            raise ProofError(
                "list", "the edges are not in the order of their keys, or a key is not of an edge"
            )
        if not position("edges", key).startswith(beginning):
            raise ProofError("list", "an edge does not belong to the list")
        value, last = read_value(raw), key
        if value.ordinal:
            raise ProofError("value", "the ordinal of an edge must be 0")
        lookups.require("edges", key, raw)
        if end == bytes([claim.direction]) + claim.id and claim.code in {None, code}:
            edges.append(ListedEdge(code, other, value))
    return AllEdges(claim, tuple(edges))


def check_none_mentioning(
    claim: NoneMentioning, fields: list[Any], lookups: Lookups, index: Index
) -> TermUnused:
    """Check the witness of an unused term: `fields` holds rows and chunks of the live ordinals.

    Raises:
        ProofError: the witness does not show the claim.
    """
    rows, live_chunks = checked_array(fields, "the witness of an unused term", 2)
    _live_mentioning(claim, rows, live_chunks, lookups, index, most=0)
    return TermUnused(claim, index.ordinals)


def chunks_of(claim: AtomsTagged | NoneTagged, ordinals: int) -> range:
    """Return the numbers of the chunks that a claim is about, in an index of this many ordinals."""
    last = min(claim.last, ordinals - 1)
    return range(claim.first >> CHUNK_BITS, (last >> CHUNK_BITS) + 1) if claim.first <= last else range(0)


def _live_tagged(
    claim: AtomsTagged | NoneTagged, sets: Any, lookups: Lookups, index: Index, *, most: int
) -> list[int]:
    """Return the ordinals of live atoms in the set that the claim is about, ascending.

    The witness must include every chunk. `most` is the maximum number of live ordinals.
    """
    numbers = chunks_of(claim, index.ordinals)
    ordinals: list[int] = []
    for number, pair in zip(numbers, checked_array(sets, "the sets", len(numbers)), strict=True):
        if pair is None:
            lookups.require_chunk(claim.group, claim.value, number, None)
            continue
        committed, live = checked_fields(pair, (RAW, MAYBE_RAW), "a chunk and its live chunk")
        chunk = lookups.require_chunk(claim.group, claim.value, number, committed)
        both = chunk_bits(chunk or b"", number, index) & live_bits(live, number, lookups, index)
        both &= _within(claim.first - (number << CHUNK_BITS), claim.last - (number << CHUNK_BITS))
        check_count(len(ordinals) + both.bit_count(), most)
        ordinals += [number << CHUNK_BITS | member for member in members_in(both)]
    return ordinals


def _within(first: int, last: int) -> int:
    """Return the bits of all members of a chunk from `first` to `last`, either of which may be outside."""
    first, last = max(first, 0), min(last, (1 << CHUNK_BITS) - 1)
    return (1 << last + 1) - (1 << first)


def live_bits(raw: bytes | None, number: int, lookups: Lookups, index: Index) -> int:
    """Return the live ordinals of chunk `number`, as the bits of an integer.

    Register in `lookups` that the tree must contain this chunk or, if `raw` is None, must not contain it.

    Raises:
        ProofError: the bytes are not a chunk of existing ordinals (`chunk`).
    """
    chunk = lookups.require_chunk(Group.LIVE, "", number, raw)
    return 0 if chunk is None else chunk_bits(chunk, number, index)


def chunk_bits(raw: bytes, number: int, index: Index) -> int:
    """Return the members of chunk `number` of a set, as the bits of an integer.

    Raises:
        ProofError: the bytes are not a chunk of existing ordinals (`chunk`).
    """
    bits = with_reason("chunk", bits_of, raw)
    if (number << CHUNK_BITS) + bits.bit_length() > index.ordinals:
        raise ProofError("chunk", f"a set has an ordinal that is not below {index.ordinals}")
    return bits


def check_count(count: int, most: int) -> None:
    """Check that there are not more live ordinals than `most`, the number of atoms listed.

    The function is called while the ordinals are still being counted, so that a proof with too many ordinals
    is refused early.

    Raises:
        ProofError: there are more than `most` live ordinals (reason `list`).
    """
    if count > most:
        raise ProofError(
            "list", f"there are more than {most} live atoms, which is the number of atoms listed"
        )


def listed_atoms(
    live: Sequence[tuple[int, int | None]], atoms: list[Any], lookups: Lookups
) -> tuple[ListedAtom, ...]:
    """Check that `atoms` lists exactly the atoms of the ordinals in `live`, in order, and return them.

    `live` holds pairs: a live ordinal, and a term frequency or None.

    Raises:
        ProofError: the atoms are not those of the live ordinals, or `live` is empty (reason `list` in
            both cases).
    """
    if not live or len(live) != len(atoms):
        raise ProofError("list", f"{len(atoms)} atoms are listed for {len(live)} live ordinals")
    listed, ids = [], set()
    for (ordinal, tf), pair in zip(live, atoms, strict=True):
        atom, raw = checked_fields(pair, (sized(ID_BYTES), RAW), "an atom of the list")
        value = read_value(raw)
        if value.ordinal != ordinal or value.state != State.LIVE or atom in ids:
            raise ProofError("list", f"atom {atom.hex()} is not the live atom with ordinal {ordinal}")
        lookups.require("atoms", atom, raw)
        ids.add(atom)
        listed.append(ListedAtom(atom, value, tf))
    return tuple(listed)


def _live_mentioning(
    claim: AtomsMentioning | NoneMentioning,
    rows: Any,
    live_chunks: Any,
    lookups: Lookups,
    index: Index,
    *,
    most: int,
) -> list[tuple[int, int | None]]:
    """Return the ordinals of live atoms whose text contains the term, ascending, with the term frequencies.

    The witness must include every segment that the claim is about. `most` is the maximum number of live
    ordinals.
    """
    name = lookups.label(claim.term.encode())
    parts = [
        part for part in index.parts if part.start <= claim.last and claim.first < part.start + part.size
    ]
    entries = zip(checked_array(rows, "the rows", len(parts)), parts, strict=True)
    rows_of = ((part, _row_of(name, entry, part.summary)) for entry, part in entries)
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
            if claim.first <= ordinal <= claim.last and live[(ordinal & 0xFFFF) >> 3] >> (ordinal & 7) & 1:
                check_count(len(matches) + 1, most)
                matches.append((ordinal, tf))
    return matches


def _live_bytes(raw: Any, number: int, lookups: Lookups, index: Index) -> bytes:
    (chunk,) = checked_fields([raw], (MAYBE_RAW,), "a live chunk")
    return live_bits(chunk, number, lookups, index).to_bytes(DENSE_BYTES, "little")


def _row_of(name: bytes, entry: Any, summary: Summary) -> bytes | None:
    """Return the row with this name in `entry`, or None if `entry` shows that the segment has no such row."""
    first, shown, hashes = checked_array(entry, "a row", 3)
    if type(shown) is list:
        _check_between(name, first, shown, hashes, summary)
        return None
    first, committed, hashes = checked_fields([first, shown, hashes], (uint(), RAW, RAW), "a row")
    _check_shown(first, [row_hash(name, inner_row_hash(committed))], hashes, summary)
    return unsalted(committed)


def _check_between(name: bytes, first: Any, shown: list[Any], hashes: Any, summary: Summary) -> None:
    """Raise ProofError unless two neighbouring rows, or the last row alone, show that the term has no row."""
    first, hashes = checked_fields([first, hashes], (uint(), RAW), "a row")
    kinds = (RAW, sized(32)) if len(shown) == 2 else (RAW, sized(32), RAW, sized(32))
    flat = checked_fields(shown, kinds, "the neighbours of a term")
    names, inners = flat[::2], flat[1::2]
    if not all(0 < len(one) <= LABEL_BYTES for one in names):
        raise ProofError("neighbours", f"a row's name has 1 to {LABEL_BYTES} bytes")
    if not names[0] < name or (len(names) == 2 and not name < names[1]):
        raise ProofError("neighbours", "the term is not between the two rows shown in the order of names")
    if len(names) == 1 and first != summary.rows - 1:
        raise ProofError("neighbours", "a row that is shown without the next row is not the last row")
    _check_shown(first, [row_hash(*pair) for pair in zip(names, inners, strict=True)], hashes, summary)


def _check_shown(first: int, leaves: list[bytes], hashes: bytes, summary: Summary) -> None:
    if first + len(leaves) > summary.rows:
        raise ProofError(
            "row", f"row {first + len(leaves) - 1} is beyond the {summary.rows} rows of the segment"
        )
    if shown_root(summary.rows, first, leaves, hashes) != summary.root:
        raise ProofError("row", "the rows do not hash to the root of their segment")
