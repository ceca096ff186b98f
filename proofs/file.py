"""The file format of a proof: the parts of a proof, and their encoding and decoding (SPEC, section 20.4)."""

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
"""The first bytes of every proof: the head of an array of nine items, then the magic text and the version."""
TREES: Final = ("atoms", "edges", "tags")
"""The namespaces whose trees a proof opens only at some keys. The tree of `index` is included as a whole."""

RAW: Final = raw_up_to(limits.BUNDLE_BYTES_MAX)
MAYBE_RAW: Final = optional(RAW)
_HASH: Final = sized(DIGEST_BYTES)
OPENING_FIELDS: Final = (uint(SIZE_MAX), *5 * (_HASH,))
_SUMMARY: Final = (uint(), uint(), uint(), _HASH)


class CheckpointLink(NamedTuple):
    """Evidence that a checkpoint event is in the log: the header of the event and an inclusion path."""

    header: bytes
    path: bytes


class Opening(NamedTuple):
    """The parts that an overall root is computed from, except the store id."""

    size: int
    log_root: bytes
    atoms_root: bytes
    edges_root: bytes
    index_root: bytes
    tags_root: bytes

    @property
    def roots(self) -> dict[str, bytes]:
        """The root of each namespace's tree, in the order of NAMESPACES."""
        return dict(
            zip(NAMESPACES, (self.atoms_root, self.edges_root, self.index_root, self.tags_root), strict=True)
        )


class Segments(NamedTuple):
    """The whole `index` tree: the number of ordinals, and the fields of each segment's summary."""

    ordinals: int
    summaries: list[list[Any]]


class TreeOpening(NamedTuple):
    """The opening of a tree: the two byte strings from which `proofs.opening` computes the root."""

    shape: bytes
    hashes: bytes


class ProofFile(NamedTuple):
    """The parts of a proof. Each part is well-formed, but no part has been verified yet."""

    link: CheckpointLink | None
    opening: Opening | None
    segments: Segments | None
    trees: dict[str, TreeOpening | None]
    """Namespace → opening, for each of TREES."""
    witnesses: list[list[Any]]
    """For each claim, in the order of `sort_claims`: [claim number, fields of the witness …]."""


def sort_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims in the order in which a proof holds their witnesses.

    Raises:
        ProofError: there are no claims, or a claim occurs twice (`input`).
    """
    if not claims:
        raise ProofError("input", "at least one claim is required")
    ordered = sorted(claims, key=_sort_key)
    for before, after in pairwise(ordered):
        if _sort_key(before) == _sort_key(after):
            raise ProofError("input", f"the same claim occurs twice: {after}")
    return ordered


def _sort_key(claim: Claim) -> tuple[int, bytes]:
    return claim.number, claim.subject


def encode(proof: ProofFile) -> bytes:
    """Return the canonical encoding of a proof."""
    parts = [proof.link, proof.opening, proof.segments, *(proof.trees[name] for name in TREES)]
    listed = [None if part is None else list(part) for part in parts]
    return pack([MAGIC, VERSION, *listed, proof.witnesses])


def decode(data: bytes, claims: Sequence[Claim]) -> ProofFile:
    """Decode a proof of `claims`.

    Raises:
        ProofError: `data` is not bytes (`input`), too large (`size`), not a proof of this format (`encoding`,
            `version`, `form`), or the witnesses in it do not match the claims (`kind`).
    """
    most = _size_limit(claims)
    if type(data) is not bytes:
        raise ProofError("input", f"a proof must be bytes, not {type(data).__name__}")
    if len(data) > most:
        raise ProofError("size", f"a proof of these claims has at most {most} bytes")
    whole = checked_array(decode_strict(data, "the proof"), "a proof")
    if whole[:2] != [MAGIC, VERSION] or type(whole[1]) is not int:
        raise ProofError("version", f"this is not a proof of version {VERSION}")
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
        raise ProofError("kind", "the witnesses do not match the claims")
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
    """Return the maximum size of a proof of `claims`, in bytes."""
    opens = any(isinstance(claim, (AtomIs, EdgeIs, EventIs)) and claim.opened for claim in claims)
    single = len(claims) == 1 and not isinstance(claims[0], LISTS)
    return limits.PROOF_BYTES_MAX if single and not opens else limits.BUNDLE_BYTES_MAX
