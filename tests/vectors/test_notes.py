"""The vectors of notes hold."""

from __future__ import annotations

import pytest

from proofs.errors import ProofError
from proofs.note import format_note
from tests.vectors.notes import judged
from tests.vectors.reading import Vector, read


def note_of(vector: Vector) -> bytes:
    """The bytes of a note."""
    return bytes.fromhex(vector["hex"]) if "hex" in vector else vector["note"].encode()


def known(vector: Vector) -> list[str]:
    """The verifier keys that are known."""
    return [read("notes")["keys"][name]["vkey"] for name in vector["known"]]


def test_valid_notes_say_what_they_say() -> None:
    """Each valid note is read, judged and written again as the file says."""
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
    """Each invalid note is refused for the reason that the file gives."""
    for vector in read("notes")["invalid"]:
        with pytest.raises(ProofError) as why:
            judged(note_of(vector), known(vector))
        assert why.value.reason == vector["reason"], vector["what"]
