"""Checks of claims about all atoms with a tag, and code shared with lists by term (SPEC, section 20.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proofs.claims import AtomsTagged, NoneTagged
from proofs.errors import ProofError
from proofs.file import MAYBE_RAW, RAW
from proofs.forms import sized
from proofs.index_table import Index
from proofs.leaf_claims import read_value
from proofs.leaves import State
from proofs.lookups import Lookups
from proofs.sets import CHUNK_BITS, Group, bits_of, members_in, set_row
from proofs.strict_cbor import checked_array, checked_fields, with_reason
from proofs.subjects import ID_BYTES
from proofs.verified import AllTagged, ListedAtom, TagUnused


def check_tagged(claim: AtomsTagged, fields: list[Any], lookups: Lookups, index: Index) -> AllTagged:
    """Check the witness of a list by tag: `fields` holds chunks of sets, and atoms.

    Raises:
        ProofError: the witness does not show the claim.
    """
    sets, atoms = checked_array(fields, "the witness of a list by tag", 2)
    listed = checked_array(atoms, "the atoms")
    live = _live_tagged(claim.identity, sets, lookups, index, most=len(listed))
    return AllTagged(
        claim, listed_atoms([(ordinal, None) for ordinal in live], listed, lookups), index.ordinals
    )


def check_none_tagged(claim: NoneTagged, fields: list[Any], lookups: Lookups, index: Index) -> TagUnused:
    """Check the witness of an unused tag: `fields` holds chunks of sets.

    Raises:
        ProofError: the witness does not show the claim.
    """
    (sets,) = checked_array(fields, "the witness of an unused tag", 1)
    _live_tagged(claim.identity, sets, lookups, index, most=0)
    return TagUnused(claim, index.ordinals)


def _live_tagged(identity: str, sets: Any, lookups: Lookups, index: Index, *, most: int) -> list[int]:
    """Return the ordinals of live atoms that have the tag, ascending.

    The witness must include every chunk. `most` is the maximum number of live ordinals.
    """
    chunks = -(-index.ordinals // (1 << CHUNK_BITS))
    ordinals: list[int] = []
    for number, pair in enumerate(checked_array(sets, "the sets", chunks)):
        if pair is None:
            lookups.require("tags", set_row(Group.TAG, identity, number), None)
            continue
        chunk, live = checked_fields(pair, (RAW, MAYBE_RAW), "a chunk and its live chunk")
        lookups.require("tags", set_row(Group.TAG, identity, number), chunk)
        both = chunk_bits(chunk, number, index) & live_bits(live, number, lookups, index)
        check_count(len(ordinals) + both.bit_count(), most)
        ordinals += [number << CHUNK_BITS | member for member in members_in(both)]
    return ordinals


def live_bits(raw: bytes | None, number: int, lookups: Lookups, index: Index) -> int:
    """Return the live ordinals of chunk `number`, as the bits of an integer.

    Register in `lookups` that the tree must contain this chunk or, if `raw` is None, must not contain it.

    Raises:
        ProofError: the bytes are not a chunk of existing ordinals (`chunk`).
    """
    lookups.require("tags", set_row(Group.LIVE, "", number), raw)
    return 0 if raw is None else chunk_bits(raw, number, index)


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
