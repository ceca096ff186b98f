"""The bytes of a proof: what its parts are, and reading and writing them (SPEC: Proofs, File)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from proofs import limits
from proofs.claims import LISTS, AtomIs, Claim, EdgeIs, EventIs
from proofs.codec import pack
from proofs.errors import ProofError
from proofs.forms import optional, raw_up_to, sized, uint
from proofs.hashing import DIGEST_BYTES, NAMESPACES
from proofs.log import SIZE_MAX
from proofs.strict_cbor import checked_array, checked_fields, decode_strict

MAGIC: Final = "memroot-proof"
VERSION: Final = 2
BEGINNING: Final = b"\x89" + bytes([0x60 + len(MAGIC)]) + MAGIC.encode() + bytes([VERSION])
"""What the bytes of every proof begin with: an array of nine, the text, the version."""
TREES: Final = ("atoms", "edges", "tags")
"""The namespaces that are opened at keys; the tree of `index` is given whole."""

RAW: Final = raw_up_to(limits.BUNDLE_BYTES_MAX)
MAYBE_RAW: Final = optional(RAW)
_HASH: Final = sized(DIGEST_BYTES)
OPENING_FIELDS: Final = (uint(SIZE_MAX), *5 * (_HASH,))
_SUMMARY: Final = (uint(), uint(), uint(), _HASH)


class CheckpointLink(NamedTuple):
    """Shows that a checkpoint event is in the log."""

    header: bytes
    path: bytes


class Opening(NamedTuple):
    """What an overall root is made of, beside the store id."""

    size: int
    log_root: bytes
    atoms_root: bytes
    edges_root: bytes
    index_root: bytes
    tags_root: bytes

    @property
    def roots(self) -> dict[str, bytes]:
        """The root of each namespace's tree, in their order."""
        return dict(
            zip(NAMESPACES, (self.atoms_root, self.edges_root, self.index_root, self.tags_root), strict=True)
        )


class Segments(NamedTuple):
    """All of the `index` tree: how many ordinals, and for each segment the fields of its summary."""

    ordinals: int
    summaries: list[list[Any]]


class TreeOpening(NamedTuple):
    """The two byte strings of `proofs.opening`."""

    shape: bytes
    hashes: bytes


class ProofFile(NamedTuple):
    """The parts of a proof, each of the right form; whether they show anything is yet to be seen."""

    link: CheckpointLink | None
    opening: Opening | None
    segments: Segments | None
    trees: dict[str, TreeOpening | None]
    """By namespace, for each of TREES."""
    witnesses: list[list[Any]]
    """[number of the claim, its fields …] for each claim, in the order of `sort_claims`."""


def sort_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Claims in the order in which a proof has their witnesses.

    Raises:
        ProofError: there are none, or one of them twice (`input`).
    """
    if not claims:
        raise ProofError("input", "there are no claims")
    found = sorted(claims, key=_sort_key)
    for before, after in pairwise(found):
        if _sort_key(before) == _sort_key(after):
            raise ProofError("input", f"a claim is made twice: {after}")
    return found


def _sort_key(claim: Claim) -> tuple[int, bytes]:
    return claim.number, claim.subject


def encode(proof: ProofFile) -> bytes:
    """The one encoding of a proof."""
    parts = [proof.link, proof.opening, proof.segments, *(proof.trees[name] for name in TREES)]
    listed = [None if part is None else list(part) for part in parts]
    return pack([MAGIC, VERSION, *listed, proof.witnesses])


def decode(data: bytes, claims: Sequence[Claim]) -> ProofFile:
    """The parts of a proof of `claims`.

    Raises:
        ProofError: too large (`size`), not a proof of this format (`encoding`, `version`, `form`), or with
            witnesses of other claims (`kind`).
    """
    most = _size_limit(claims)
    if type(data) is not bytes:
        raise ProofError("input", f"a proof is bytes, not {type(data).__name__}")
    if len(data) > most:
        raise ProofError("size", f"a proof of these claims has at most {most} bytes")
    whole = checked_array(decode_strict(data, "the proof"), "a proof")
    if whole[:2] != [MAGIC, VERSION] or type(whole[1]) is not int:
        raise ProofError("version", f"this is no proof of version {VERSION}")
    checked_array(whole, "a proof", 9)
    link, opening, segments, *trees, witnesses = whole[2:]
    proof = ProofFile(
        None if link is None else CheckpointLink(*checked_fields(link, (RAW, RAW), "the link")),
        None
        if opening is None
        else Opening(*checked_fields(opening, OPENING_FIELDS, "the opening of the root")),
        None if segments is None else _segments(segments),
        dict(zip(TREES, map(_tree, trees), strict=True)),
        [checked_array(witness, "a witness") for witness in checked_array(witnesses, "the witnesses")],
    )
    if [witness[:1] for witness in proof.witnesses] != [[claim.number] for claim in claims]:
        raise ProofError("kind", "the witnesses are not those of the claims")
    return proof


def _segments(value: Any) -> Segments:
    ordinals, summaries = checked_array(value, "the segments", 2)
    if type(ordinals) is not int or not 0 <= ordinals <= limits.ORDINAL_MAX + 1:
        raise ProofError("form", f"an index has at most {limits.ORDINAL_MAX + 1} ordinals")
    return Segments(
        ordinals,
        [checked_fields(one, _SUMMARY, "a segment") for one in checked_array(summaries, "the segments")],
    )


def _tree(value: Any) -> TreeOpening | None:
    return None if value is None else TreeOpening(*checked_fields(value, (RAW, RAW), "the opening of a tree"))


def _size_limit(claims: Sequence[Claim]) -> int:
    """How large a proof may be."""
    opens = any(isinstance(claim, (AtomIs, EdgeIs, EventIs)) and claim.opened for claim in claims)
    single = len(claims) == 1 and not isinstance(claims[0], LISTS)
    return limits.PROOF_BYTES_MAX if single and not opens else limits.BUNDLE_BYTES_MAX
