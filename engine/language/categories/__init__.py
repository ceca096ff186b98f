"""Semantic categories of texts, assigned by rules (Standard 065 and 084).

    text ── tokens ──▶ marks by closed word tables ──▶ people · places · times · phrases ──▶ categories

The rules are for English and are not learnt from data. A category results from one strong word or phrase,
from two different hints, or from the rules for names, places and numbers. This package does not use Python's
Unicode tables, so a text has the same categories on every machine.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

TEXT_CHARS_MAX: Final = 8192
"""The number of characters that are read; the beginning of a longer text is enough to tell its subject."""


class Category(StrEnum):
    """A semantic category. The value is the tag with this name in its caseless form."""

    RELATIONSHIP = "relationship"
    """The text names at least two people."""
    NARRATIVE = "narrative"
    """The text tells what somebody did, and when or after what."""
    TECHNICAL = "technical"
    """The text has code, identifiers, versions, or words of engineering and the sciences."""
    INDUSTRY = "industry"
    """The text is about companies, markets or money."""
    LOCATION = "location"
    """The text mentions a place by its name, or says that somebody is at a kind of place."""
    EMOTIONAL = "emotional"
    """The text expresses somebody's feeling."""
    TEMPORAL = "temporal"
    """The text mentions a date, a time of day, or a relative time."""
    CAUSAL = "causal"
    """The text gives a cause or a consequence."""


def categories_of(text: str, title: str | None = None) -> tuple[Category, ...]:
    """Return the categories of a text and its title, possibly none, in the order of `Category`.

    The function is pure and takes linear time. It reads at most the first 8,192 characters of the text,
    accepts every `str` and raises no error.
    """
    from engine.language.categories.rules import (
        classify,  # loads word lists for 5 ms; few processes need them
    )

    read = text[:TEXT_CHARS_MAX]
    return classify(read if title is None else f"{title}\n{read}")
