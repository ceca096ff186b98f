"""Semantic categories of texts, assigned by rules (docs/dreaming.md, What it adds).

    text ──▶ tokens ──▶ marks from fixed word lists ──▶ people · places · times · phrases ──▶ categories

The rules are for English and are not learnt from data. A text belongs to a category if it contains one
strong word or phrase, or at least two different weaker words (hints), or if it matches the rules for names,
places and numbers. In a long text, one word of trade is not enough. This package does not use Python's
Unicode tables, so a text has the same categories on every machine.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

TEXT_CHARS_MAX: Final = 8192
"""The maximum number of characters that are read at the beginning of a text. They are enough to determine the
subject of a longer text."""


class Category(StrEnum):
    """A semantic category of texts. Its value is the tag of the category, in caseless form."""

    RELATIONSHIP = "relationship"
    """The text speaks of at least two people, or of somebody's relative or friend."""
    NARRATIVE = "narrative"
    """Adjacent sentences say what somebody did, and when it happened or after which event."""
    TECHNICAL = "technical"
    """The text has code, identifiers, versions, or words of engineering and the sciences."""
    INDUSTRY = "industry"
    """The text is about companies, work for them, markets or money."""
    LOCATION = "location"
    """The text mentions a place by its name, or says that somebody is at a kind of place."""
    EMOTIONAL = "emotional"
    """The text expresses somebody's feeling."""
    TEMPORAL = "temporal"
    """The text mentions a date, a time of day, a relative time, or an event that dates something."""
    CAUSAL = "causal"
    """The text gives a cause or a consequence."""


def categories_of(text: str, title: str | None = None) -> tuple[Category, ...]:
    """Return the categories that a text and its title belong to, in the order of `Category`.

    The result is empty if the text belongs to no category. A bare greeting, such as "Hi Rob, hello Jade!",
    belongs to no category.

    The function is pure and takes linear time. It reads at most the first 8,192 characters of the text,
    accepts every `str` and raises no error.
    """
    from engine.text.language.categories.category_rules import (
        classify,  # loading the word lists takes 5 ms, and few processes need them
    )

    read = text[:TEXT_CHARS_MAX]
    return classify(read if title is None else f"{title}\n{read}")
