"""Tests of the validation of tags: one stored form, one identity, and no invisible characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base import validation
from engine.base.errors import InvalidInputError
from engine.query.filters import Filters
from proofs.leaves import tag_identity
from tests.support.engines import engine_on, refuses


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("e\u0301", "é"),
        ("#red", "red"),
        ("##red", "red"),
        ("  red ", "red"),
        ("two  words", "two-words"),
        ("tab\there", "tab-here"),
        ("Red", "Red"),
        ("a/b", "a/b"),
        ("ﬁx", "ﬁx"),
        ("ｒｅｄ", "ｒｅｄ"),
        ("\u1e9b\u0323", "\u1e9b\u0323"),
    ],
    ids=ascii,
)
def test_a_tag_is_kept_in_its_form(given: str, kept: str) -> None:
    """A tag is stored in NFC, without leading #, with hyphens for white space; its case is preserved."""
    assert validation.tag(given) == kept


@pytest.mark.parametrize(
    "given",
    [
        "",
        "#",
        " ",
        "\u200b",
        "a\u200bb",
        "a\u200db",
        "a\u202eb",
        "a\u2066b",
        "\ue000",
        "a\U000e0061",
        "\u0378",
        "\ufdd0",
        "a\x07b",
        "\xad",
        "🫨",
    ],
    ids=ascii,
)
def test_a_tag_with_invisible_characters_is_rejected(given: str) -> None:
    """Zero-width, bidi, tag, private and unassigned code points of Unicode 14 are rejected."""
    engine = engine_on()
    atom = engine.add("text").subject
    assert refuses(engine, InvalidInputError, engine.tag, atom, given)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("é", "e\u0301", True),
        ("RED", "red", True),
        ("Straße", "STRASSE", True),
        ("ΣΊΣΥΦΟΣ", "σίσυφος", True),
        ("ｒｅｄ", "red", False),
        ("ﬁx", "fix", True),
        ("рed", "red", False),
        ("İ", "i", False),
    ],
    ids=ascii,
)
def test_two_spellings_of_a_tag_are_equal(one: str, other: str, same: bool) -> None:
    """Tags are equal if their caseless NFC forms are; look-alikes of other scripts are not."""
    engine = engine_on()
    atom = engine.add("text", tags=[one]).subject
    assert engine.tag(atom, other).changed is not same
    assert len(engine.find(limit=5, filters=Filters(tags=(other,)))) == 1
    engine.untag(atom, other)
    assert len(engine.get(atom).tags) == (0 if same else 1)


TAG_TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("#- \u0301\u0345ßİΣς"), max_size=12
)


@settings(max_examples=400, deadline=None)
@given(TAG_TEXT)
def test_the_form_of_a_tag_is_stable(given: str) -> None:
    """Normalising a tag or its identity a second time changes nothing, and both are in NFC."""
    try:
        kept = validation.tag(given)
    except InvalidInputError:
        return
    identity = tag_identity(kept)
    assert validation.tag(kept) == kept
    assert tag_identity(identity) == identity
    assert unicodedata.is_normalized("NFC", kept)
    assert unicodedata.is_normalized("NFC", identity)


@settings(max_examples=100, deadline=None)
@given(st.lists(TAG_TEXT, max_size=6))
def test_a_tag_is_found_by_all_its_spellings(given: list[str]) -> None:
    """A tag is found by all its spellings: `lookup(x) == lookup(normalise(x))`."""
    engine = engine_on()
    try:
        engine.add("text", tags=given)
    except InvalidInputError:
        return
    assert all(engine.find(limit=1, filters=Filters(tags=(tag,))) for tag in given)
    assert all(engine.find(limit=1, filters=Filters(tags=(validation.tag(tag),))) for tag in given)


@pytest.mark.parametrize("given", ["red", b"red", "", 0, 5, True, [5], [None], [["red"]]], ids=repr)
def test_tags_are_a_list_of_texts(given: object) -> None:
    """A single text is rejected as a list of tags, and so is a tag that is not text."""
    engine = engine_on()
    assert refuses(engine, InvalidInputError, engine.add, "text", tags=given)
