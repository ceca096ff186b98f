"""Deterministic keys and notes."""

from __future__ import annotations

import hashlib

from engine.trust.notes.signing import public_key_of, sign_ed25519
from proofs.note import Checkpoint, Note, Signature, cosignature_message, format_note, origin_of
from proofs.vkey import COSIGNATURE, ED25519, VerifierKey

STORE_ID = bytes(range(16))
ORIGIN = origin_of(STORE_ID)
CHECKPOINT = Checkpoint(ORIGIN, 7, hashlib.sha256(b"root").digest())


def seed(name: str) -> bytes:
    """Return a private key derived from a name."""
    return hashlib.sha256(b"seed " + name.encode()).digest()


def log_key(name: str = ORIGIN, made_by: str = "log") -> VerifierKey:
    """Return a log's key."""
    return VerifierKey(name, ED25519, public_key_of(seed(made_by)))


def witness_key(name: str) -> VerifierKey:
    """Return a witness's key."""
    return VerifierKey(name, COSIGNATURE, public_key_of(seed(name)))


def signed(checkpoint: Checkpoint = CHECKPOINT, name: str = ORIGIN, made_by: str = "log") -> Signature:
    """Return a log's signature line."""
    raw = sign_ed25519(seed(made_by), checkpoint.text.encode())
    return Signature(name, log_key(name, made_by).key_id, raw)


def cosigned(name: str, time: int, checkpoint: Checkpoint = CHECKPOINT) -> Signature:
    """Return a witness's signature line."""
    raw = sign_ed25519(seed(name), cosignature_message(checkpoint, time))
    return Signature(name, witness_key(name).key_id, time.to_bytes(8, "big") + raw)


def note_bytes(*signatures: Signature, checkpoint: Checkpoint = CHECKPOINT) -> bytes:
    """Return the bytes of a note in a file."""
    return format_note(Note(checkpoint, signatures))
