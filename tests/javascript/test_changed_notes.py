"""Of changed notes, both verifiers say the same: that in Python and that in JavaScript."""

from __future__ import annotations

from random import Random

import pytest

from proofs.errors import ProofError
from tests.javascript.node import Answer, ask
from tests.support.soak import seed, times
from tests.vectors.load import read
from tests.vectors.notes import judged
from tests.vectors.test_notes import known, note_of

PIECES = (
    *("\n", "\n\n", " ", "  ", "\t", "\r", "\0", "\x1f", "\x7f", "\x80", "\xa0", "\xad", "\u061c", "\u180e"),
    *("\u200b", "\u2014", "\u2028", "\u3000", "\ufeff", "\ufff9", "\ufffe", "\U000110bd", "\U00013438"),
    *("\U00013439", "\U000e0001", "\U000e007f", "\U000e0080", "+", "=", "==", "A", "/", "-", "_", "0", "9"),
    *("x" * length for length in (1024, 1025)),
)


def changed(note: bytes, rng: Random) -> bytes:
    """Return the note with a character or line put in, dropped, replaced or doubled, or a bit flipped."""
    if rng.random() < 0.2:
        at = rng.randrange(8 * len(note))
        return note[: at >> 3] + bytes([note[at >> 3] ^ 1 << (at & 7)]) + note[(at >> 3) + 1 :]
    text = note.decode()
    at = rng.randrange(len(text) + 1)
    lines = text.splitlines(keepends=True)
    match rng.randrange(4):
        case 0:
            return (text[:at] + rng.choice(PIECES) + text[at:]).encode()
        case 1:
            return (text[:at] + rng.choice(PIECES) + text[at + 1 :]).encode()
        case 2:
            return (text[:at] + text[at + 1 :]).encode()
    rng.shuffle(lines)
    kept = lines[: rng.randrange(len(lines) + 1)]
    return "".join([*kept, rng.choice(lines)]).encode()


def by_python(note: bytes, keys: list[str]) -> Answer:
    """Return what `proofs` says of a note, in the form of the vectors."""
    try:
        read_note, lines = judged(note, keys)
    except ProofError as error:
        return {"reason": error.reason}
    origin, size, root = read_note.checkpoint.origin, read_note.checkpoint.size, read_note.checkpoint.root
    signatures = [
        {"name": line.name, "key_id": line.key_id.hex(), "known": by is not None, "time": by and by.time}
        for line, by in zip(read_note.signatures, lines, strict=True)
    ]
    return {"origin": origin, "size": size, "root": root.hex(), "signatures": signatures}


def agreed(count: int, number: int) -> set[bool]:
    """State that both verifiers say the same of `count` notes; return the verdicts that occurred."""
    rng = Random(f"notes {number}")
    vectors = [rng.choice(read("notes")["valid"]) for _ in range(count)]
    notes = [(changed(note_of(vector), rng), known(vector)) for vector in vectors]
    answers = ask({"ask": "note", "note": note.hex(), "known": keys} for note, keys in notes)
    accepted = set()
    for (note, keys), answer in zip(notes, answers, strict=True):
        expected = by_python(note, keys)
        assert {name: answer.get(name) for name in expected} == expected, note
        accepted.add("reason" not in expected)
    return accepted


def test_verifiers_agree_on_changed_notes() -> None:
    """Notes changed at random are read alike, or refused for the same reason."""
    assert agreed(times(4_000), 1) == {True, False}


@pytest.mark.soak
@pytest.mark.parametrize("number", range(2, 7))
def test_verifiers_agree_on_many_changed_notes(number: int) -> None:
    """The same, some ten thousands."""
    assert agreed(20_000, seed(number)) == {True, False}
