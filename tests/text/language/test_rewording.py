"""Texts that say nearly the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.language.rewording import (
    EDITS_MAX,
    SHARE,
    WORDS_MAX,
    WORDS_MIN,
    Rewording,
    reworded,
    wording_of,
)

TEXT = "We keep the spare lamp oil behind the ladder near the harbour shed"


def between(one: str, other: str) -> Rewording | None:
    """Compare two texts that are not too long."""
    first, second = wording_of(one), wording_of(other)
    assert first is not None
    assert second is not None
    return reworded(first, second)


@pytest.mark.parametrize(
    ("other", "edits"),
    [
        (TEXT.replace("lamp", "paraffin"), ["lamp → paraffin"]),
        (TEXT.replace("spare ", ""), ["− spare"]),
        (TEXT.replace("the ladder", "the wooden ladder"), ["+ wooden"]),
        (TEXT.upper() + "!", []),
    ],
)
def test_one_word_may_differ(other: str, edits: list[str]) -> None:
    """A word may be replaced, removed or inserted; case and punctuation do not count."""
    found = between(TEXT, other)
    assert found is not None
    assert list(map(str, found.edits)) == edits
    assert found.similarity == (round(1 - 1 / max(13, len(other.split())), 3) if edits else 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The ferry carries 40 cars from the old harbour", "The ferry carries 50 cars from the old harbour"),
        (
            "The ferry carries ten cars over the old harbour",
            "The ferry carries nine cars over the old harbour",
        ),
        ("Yesterday we sent the parcel to Anna by train", "Yesterday we sent the parcel to Rob by train"),
        (
            "Anna sent the parcel with the morning train again",
            "Rob sent the parcel with the morning train again",
        ),
        (
            "The parcel has arrived at the office by train",
            "The parcel has not arrived at the office by train",
        ),
        ("They don't open the office when it is raining", "They do open the office when it is raining"),
        (
            "The office is closed to visitors on every Monday",
            "The office is closed to visitors on every Friday",
        ),
        ("The office is closed to visitors in cold January", "The office is closed to visitors in cold June"),
        ("She painted the small boat with a thick brush", "He painted the small boat with a thick brush"),
        ("Turn the valve of the boiler to the left", "Turn the valve of the boiler to the right"),
        ("All boats in the harbour carry a red lantern", "Some boats in the harbour carry a red lantern"),
        (
            "The daemon reads config.toml before it opens the socket",
            "The daemon reads other.toml before it opens the socket",
        ),
    ],
)
def test_another_fact_is_no_rewording(one: str, other: str) -> None:
    """A number, a name, a negation, a day, a person, a direction or a quantity states another fact."""
    assert between(one, other) is None
    assert between(other, one) is None


@pytest.mark.parametrize(
    "other",
    [
        "We keep the spare lamp fuel behind a ladder near the harbour shed",
        "Near the harbour shed we keep the spare lamp oil behind the ladder",
    ],
)
def test_more_words_or_another_order_are_no_rewording(other: str) -> None:
    """Of 13 words, one may differ, and the order must be the same."""
    assert between(TEXT, other) is None


def test_short_texts_are_not_compared() -> None:
    """Below 8 words, one word is too large a share of the text."""
    assert between("We keep the lamp oil there now", "We keep the lamp fuel there now") is None


def test_long_texts_are_not_compared() -> None:
    """A text has a wording only up to a number of words and of characters."""
    assert wording_of("oil " * WORDS_MAX) is not None
    assert wording_of("oil " * (WORDS_MAX + 1)) is None
    assert wording_of("o" * 10_000) is None


@pytest.mark.parametrize(("word", "nothing"), [("really", True), ("wooden", False)])
def test_only_fillers_add_nothing(word: str, nothing: bool) -> None:
    """A rewording adds nothing if only words such as `really` differ."""
    found = between(TEXT, TEXT.replace("We keep", f"We {word} keep"))
    assert found is not None
    assert found.adds_nothing is nothing


WORDS = st.lists(
    st.sampled_from(("oil", "lamp", "shed", "boat", "rope", "tar")), min_size=WORDS_MIN, max_size=40
)


@given(WORDS, st.data())
def test_few_edits_are_found_and_the_order_of_the_texts_does_not_matter(
    words: list[str], data: st.DataObject
) -> None:
    """Up to one edit in 8 words, and up to 4, is found; the similarity is the same in both directions."""
    edited = list(words)
    count = data.draw(st.integers(0, min(len(words) // SHARE, EDITS_MAX)))
    for _ in range(count):
        edited[data.draw(st.integers(0, len(words) - 1))] = "fish"
    one, other = between(" ".join(words), " ".join(edited)), between(" ".join(edited), " ".join(words))
    assert one is not None
    assert other is not None
    assert one.similarity == other.similarity >= 1 - count / len(words) - 0.001
    assert [(edit.after, edit.before) for edit in one.edits] == [tuple(edit) for edit in other.edits]


@given(WORDS, WORDS)
def test_the_edits_make_one_text_of_the_other(one: list[str], other: list[str]) -> None:
    """Each edit accounts for one differing word, so both texts have equally many words that stay."""
    found = between(" ".join(one), " ".join(other))
    if found is not None:
        stay = [len(one) - sum(bool(edit.before) for edit in found.edits)]
        assert stay == [len(other) - sum(bool(edit.after) for edit in found.edits)]
