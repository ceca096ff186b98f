"""The envelope: one file that holds a proof, its basis and its claims (SPEC, section 20.12).

An envelope is untrusted. A verifier that has only this file shows that the claims follow from the root in the
file. Whether the store had this root, the person has to find out by other means; `Checked.compare` says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from proofs.basis import Basis, LogHead, Root
from proofs.claim_words import parse_claim, words_of
from proofs.claims import Claim
from proofs.codec import pack
from proofs.errors import ProofError
from proofs.forms import Check, many, raw_up_to, sized, text
from proofs.hashing import FORMAT, STORE_ID_BYTES
from proofs.limits import BUNDLE_BYTES_MAX
from proofs.note import Note, format_note, parse_note, store_id_of
from proofs.proof_file import ITEMS_MAX, checked_array, checked_fields, decode_strict, sort_claims
from proofs.verified import Verified
from proofs.verifier import examine

MAGIC: Final = "memroot-envelope"
BEGINNING: Final = b"\x86" + bytes([0x60 + len(MAGIC)]) + MAGIC.encode() + bytes([FORMAT])
"""The first bytes of every envelope: the head of an array of six items, the magic text and the format."""
ENVELOPE_BYTES_MAX: Final = 2 * BUNDLE_BYTES_MAX
"""The maximum size of an envelope, in bytes."""
CLAIM_BYTES_MAX: Final = 4096
"""The maximum size of the words of one claim, in bytes."""
_PARTS: Final[tuple[Check, ...]] = (
    sized(STORE_ID_BYTES),
    many(text(CLAIM_BYTES_MAX, 1), ITEMS_MAX, 1),
    raw_up_to(BUNDLE_BYTES_MAX),
)


class Envelope(NamedTuple):
    """The parts of an envelope. Each part is well-formed, but no part has been verified yet."""

    basis: Basis
    note: Note | None
    """The checkpoint note that holds the basis, or None if the basis is an overall root."""
    claims: tuple[Claim, ...]
    proof: bytes


class Checked(NamedTuple):
    """What an envelope shows."""

    facts: tuple[Verified, ...]
    """One fact for each claim, in the order of the claims."""
    size: int
    """The number of events that the facts cover."""
    basis: Basis
    compare: str
    """A sentence that says which root or keys must be compared by other means."""

    @property
    def lines(self) -> list[str]:
        """One line for each claim: its words."""
        return [" ".join(words_of(fact.claim)) for fact in self.facts]


def encode(basis: Root | Note, claims: Sequence[Claim], proof: bytes) -> bytes:
    """Return the envelope of a proof.

    Args:
        basis: The overall root, or the checkpoint note, for which the proof was made.
        claims: The claims that the proof shows.
        proof: The bytes of the proof. They are not verified.

    Raises:
        ProofError: the parts are too large for an envelope (`size`), there is no claim or the same claim
            twice (`form`), or the note has no text or is of no store (`note`, `origin`).
    """
    head: list[bytes | str] = (
        [basis.store_id, basis.root]
        if isinstance(basis, Root)
        else [store_id_of(basis.checkpoint.origin), format_note(basis).decode()]
    )
    data = pack([MAGIC, FORMAT, *head, [" ".join(words_of(claim)) for claim in claims], proof])
    decode(data)
    return data


def decode(data: bytes) -> Envelope:
    """Decode an envelope without verifying the proof in it.

    Raises:
        ProofError: `data` is not bytes (`input`), too large (`size`), not an envelope of this format
            (`encoding`, `version`, `form`), or the note is malformed or of another store (`note`, `origin`).
    """
    if type(data) is not bytes:
        raise ProofError("input", f"an envelope must be bytes, not {type(data).__name__}")
    if len(data) > ENVELOPE_BYTES_MAX:
        raise ProofError("size", f"an envelope has at most {ENVELOPE_BYTES_MAX} bytes")
    whole = checked_array(decode_strict(data, "the envelope"), "an envelope")
    if whole[:2] != [MAGIC, FORMAT] or type(whole[1]) is not int:
        raise ProofError("version", f"this is not an envelope or proof of format {FORMAT}")
    _, _, store_id, head, listed, proof = checked_array(whole, "an envelope", 6)
    checked_fields([store_id, listed, proof], _PARTS, "the envelope")
    note = parse_note(head.encode()) if type(head) is str else None
    try:
        basis: Basis = Root(store_id, head) if note is None else LogHead.of(head)
        claims = tuple(parse_claim(words.split(" ")) for words in listed)
        sort_claims(claims)
    except ProofError as error:
        if error.reason != "input":
            raise
        # A file has no caller whose input could be wrong.
        raise ProofError("form", str(error).partition(": ")[2]) from error
    if basis.store_id != store_id:
        raise ProofError("origin", "the checkpoint in the envelope belongs to a different store")
    return Envelope(basis, note, claims, proof)


def check_envelope(data: bytes) -> Checked:
    """Verify the proof in an envelope, and return what it shows, given the root in the envelope.

    Raises:
        ProofError: see `decode` and `proofs.verify`.
    """
    envelope = decode(data)
    facts, size = examine(envelope.proof, envelope.basis, envelope.claims)
    return Checked(facts, size, envelope.basis, to_compare(envelope))


def to_compare(envelope: Envelope) -> str:
    """Return the sentence that says which root or keys must be compared by other means."""
    basis, store = envelope.basis, UUID(bytes=envelope.basis.store_id)
    if envelope.note is None:
        return f"compare the overall root {basis.root.hex()} of store {store} with a root that you trust"
    head = f"compare the log root {basis.root.hex()} of {basis.size} events of store {store}"
    keys = [f"{line.name}+{line.key_id.hex()}" for line in envelope.note.signatures]
    if not keys:
        return f"{head} with a checkpoint that you trust"
    return f"{head} with a checkpoint that you trust, or verify the signatures of {', '.join(keys)}"
