"""The note in docs/spec/checkpoints.md follows from its rules for the worked example."""

from __future__ import annotations

from engine.trust.notes.signing import public_key_of, sign_ed25519, verify_ed25519
from proofs.note import (
    Checkpoint,
    Note,
    Signature,
    cosignature_message,
    format_note,
    origin_of,
    parse_note,
    verify_signatures,
)
from proofs.vkey import COSIGNATURE, ED25519, VerifierKey, parse_vkey
from tests.spec.spec_page import block, example_values, table

TIME = 1_600_000_000
LOG_SEED, WITNESS_SEED = b"\x33" * 32, b"\x44" * 32


def test_the_note_of_the_page_is_made_from_the_example() -> None:
    """Origin, size and root are the example's, and the signatures are those of the seeds, byte for byte."""
    root = bytes.fromhex(example_values()["root log"])
    checkpoint = Checkpoint(origin_of(b"\x11" * 16), 6, root)
    log = VerifierKey(checkpoint.origin, ED25519, public_key_of(LOG_SEED))
    witness = VerifierKey("witness.example/w", COSIGNATURE, public_key_of(WITNESS_SEED))
    cosignature = TIME.to_bytes(8, "big") + sign_ed25519(WITNESS_SEED, cosignature_message(checkpoint, TIME))
    lines = (
        Signature(log.name, log.key_id, sign_ed25519(LOG_SEED, checkpoint.text.encode())),
        Signature(witness.name, witness.key_id, cosignature),
    )
    assert "\n".join(block("note")) + "\n" == format_note(Note(checkpoint, lines)).decode()
    assert block("vkeys") == [log.vkey, witness.vkey]


def test_the_verifier_keys_of_the_page_verify_its_note() -> None:
    """Both lines of the note verify with the keys of the page, and the witness's line has its time."""
    note = parse_note(("\n".join(block("note")) + "\n").encode())
    found = verify_signatures(note, [parse_vkey(text) for text in block("vkeys")], verify_ed25519)
    assert [one and one.time for one in found] == [None, TIME]
    assert all(found)


def test_key_types_are_listed() -> None:
    """The table lists exactly the key types that are checked."""
    assert [int(row[0], 16) for row in table("key types")] == [ED25519, COSIGNATURE]
