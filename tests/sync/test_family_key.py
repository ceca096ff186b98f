"""The phrase of a family."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import EngineError, InvalidInputError
from engine.sync.family_key import FamilyKey, open_sealed


@given(
    st.binary(min_size=22, max_size=22),
    st.integers(0, 39),
    st.sampled_from("abcdefghijklmnopqrstuvwxyz234567"),
)
def test_a_phrase_is_read_back_and_a_wrong_letter_is_noticed(secret: bytes, at: int, letter: str) -> None:
    """A phrase gives the same key in any case and spacing; with one other letter it is refused."""
    phrase = FamilyKey(secret).phrase
    assert FamilyKey.of(f" {phrase.upper().replace('-', ' ')}\n").secret == secret
    letters = phrase.replace("-", "")
    wrong = letters[:at] + letter + letters[at + 1 :]
    if wrong != letters:
        with pytest.raises(InvalidInputError) as caught:
            FamilyKey.of(wrong)
        assert wrong not in str(caught.value)


@given(st.binary(min_size=60, max_size=90), st.data())
def test_nothing_opens_but_what_was_sealed(data: bytes, draw: st.DataObject) -> None:
    """A sealed file with a flipped bit, cut, of another kind or in another place does not open."""
    key = FamilyKey(bytes(22))
    raw = key.seal(b"kind", data, b"place")
    assert open_sealed(b"kind", raw, b"place", [key]) == data
    at, bit = draw.draw(st.integers(0, len(raw) - 1)), draw.draw(st.integers(0, 7))
    flipped = raw[:at] + bytes([raw[at] ^ 1 << bit]) + raw[at + 1 :]
    for name, changed, place in (
        (b"kind", flipped, b"place"),
        (b"kind", raw[:at], b"place"),
        (b"other", raw, b"place"),
        (b"kind", raw, b"elsewhere"),
    ):
        with pytest.raises(EngineError):
            open_sealed(name, changed, place, [key])
