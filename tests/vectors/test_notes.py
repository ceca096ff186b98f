"""The verifier reads and refuses the notes of notes.json as the file states."""

from __future__ import annotations

import pytest

from proofs.errors import ProofError
from proofs.note import format_note
from proofs.vkey import parse_vkey
from tests.vectors.load import Vector, read
from tests.vectors.notes import judged


def note_of(vector: Vector) -> bytes:
    """Return the bytes of a note."""
    return bytes.fromhex(vector["hex"]) if "hex" in vector else vector["note"].encode()


def known(vector: Vector) -> list[str]:
    """Return the known verifier keys."""
    return [read("notes")["keys"][name]["vkey"] for name in vector["known"]]


def test_valid_notes_are_read_as_the_file_states() -> None:
    """Each valid note is read, checked and written again as the file states."""
    for vector in read("notes")["valid"]:
        note, lines = judged(note_of(vector), known(vector))
        assert format_note(note) == note_of(vector)
        assert [note.checkpoint.origin, note.checkpoint.size, note.checkpoint.root.hex()] == [
            vector[name] for name in ("origin", "size", "root")
        ]
        found = [
            [line.name, line.key_id.hex(), by is not None, by and by.time]
            for line, by in zip(note.signatures, lines, strict=True)
        ]
        assert found == [list(line.values()) for line in vector["signatures"]], vector["what"]


def test_invalid_notes_are_refused() -> None:
    """Each invalid note is refused with the reason in the file."""
    for vector in read("notes")["invalid"]:
        with pytest.raises(ProofError) as why:
            judged(note_of(vector), known(vector))
        assert why.value.reason == vector["reason"], vector["what"]


def test_verifier_keys_are_read_as_the_file_states() -> None:
    """Each verifier key has the name, key id, type and public key in the file, and is written the same."""
    for vector in read("notes")["vkeys"]:
        key = parse_vkey(vector["vkey"])
        found = [key.vkey, key.name, key.key_id.hex(), key.type, key.public.hex()]
        assert found == list(vector.values())


def test_other_verifier_keys_are_refused() -> None:
    """A text of another form, case or length, with another key id or of another type, is refused."""
    for vector in read("notes")["invalid vkeys"]:
        with pytest.raises(ProofError) as why:
            parse_vkey(vector["vkey"])
        assert why.value.reason == "input", vector["what"]
