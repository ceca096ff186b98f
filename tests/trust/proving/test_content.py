"""Content, tags and claims of any text stay data in the output of a verifier."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest

from engine.base.errors import InvalidInputError
from engine.engine import Engine
from tests.support.command_line import surroundings
from tests.support.engines import engine_on
from tests.support.shared_data import needs
from tests.trust.proving.commands import alone

pytestmark = pytest.mark.slow

__all__ = ["surroundings"]

HOSTILE = "\x1b[2J\x1b]0;gone\x07 \x7f \x85 \u202e \u2028 é 😀 </script> %s {0} $(x)"


def added(engine: Engine, text: str) -> str | None:
    """Return the id of an atom with this content, or None if the engine refuses the content."""
    try:
        return engine.add(text).subject
    except InvalidInputError:
        return None


def stays_data(capsys: pytest.CaptureFixture[str], texts: Sequence[str]) -> int:
    """Return the number of texts that are accepted as content, after checking their escaped output."""
    engine = engine_on()
    atoms = {text: atom for text in texts if (atom := added(engine, text))}
    for text, atom in atoms.items():
        proof = engine.prove([["atom", atom]])
        Path("one.proof").write_bytes(proof.data)
        options = ["--root", proof.basis.root.hex(), "--store", str(UUID(bytes=proof.basis.store_id))]
        code, answer = alone(capsys, "one.proof", *options, "atom", atom)
        assert (code, answer["shown"][0]["body"]["content"]) == (0, text)
    return len(atoms)


@pytest.mark.usefixtures("surroundings")
def test_content_stays_data(capsys: pytest.CaptureFixture[str]) -> None:
    """Terminal escapes, controls and directional characters are printed as escaped ASCII JSON."""
    assert stays_data(capsys, [HOSTILE]) == 1


@pytest.mark.usefixtures("surroundings")
def test_naughty_content_stays_data(capsys: pytest.CaptureFixture[str]) -> None:
    """Every naughty string that is accepted as content is printed as escaped ASCII JSON."""
    assert stays_data(capsys, json.loads(needs("vectors/strings/blns.json").read_text("utf-8"))) > 400


@pytest.mark.usefixtures("surroundings")
def test_hostile_words_come_back_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """The error about a claim, root, note or file of hostile text contains no control character."""
    options = ["--root", "ab" * 32, "--store", str(UUID(int=7))]
    Path("x").write_bytes(b"\x8a\x6ememroot-proof\x03")
    for words in (
        ["x", "tagged", HOSTILE],
        ["x", HOSTILE],
        [HOSTILE, "tagged", "a"],
        ["x", "event", HOSTILE],
    ):
        code, answer = alone(capsys, *words, *options)
        assert code in {2, 3, 4}
        assert answer["verified"] is False
    assert alone(capsys, "x", "--root", HOSTILE, "--store", HOSTILE, "tagged", "a")[0] in {2, 3, 4}
