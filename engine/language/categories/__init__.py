"""Semantic categories: what sort of thing a text says, by rules (Standard 065 and 084).

    text ── tokens ──▶ marks by closed word tables ──▶ people · places · times · phrases ──▶ categories

English only, and nothing is learnt. A category emerges from one strong word or phrase, from two
different hints, or from what the rules make of names, places and numbers. Nothing here asks Python
what a character is, so the same text has the same categories on every machine.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

TEXT_CHARS_MAX: Final = 8192
"""Of a longer text the beginning decides: by then it has said what it is about."""


class Category(StrEnum):
    """What sort of thing a text says. The value is the tag of that name in its caseless form."""

    RELATIONSHIP = "relationship"
    """Two people or more are named."""
    NARRATIVE = "narrative"
    """Somebody did something, and when, or after what."""
    TECHNICAL = "technical"
    """Code, identifiers, versions, the words of engineering and the sciences."""
    INDUSTRY = "industry"
    """Companies, markets, money."""
    LOCATION = "location"
    """A place, by its name or as a kind of place that one is at."""
    EMOTIONAL = "emotional"
    """A feeling of somebody."""
    TEMPORAL = "temporal"
    """A date, a time of day, or a time seen from now."""
    CAUSAL = "causal"
    """Why something is so, or what came of it."""


def categories_of(text: str, title: str | None = None) -> tuple[Category, ...]:
    """The categories that emerge from a text and its title, in the order of `Category`; maybe none.

    Pure, and linear in the text, of which no more than 8,192 characters are read. Every `str` has an
    answer; nothing is raised.
    """
    from engine.language.categories.rules import emerging  # word lists: 5 ms that few processes need

    read = text[:TEXT_CHARS_MAX]
    return emerging(read if title is None else f"{title}\n{read}")
