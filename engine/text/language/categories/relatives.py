"""Relatives and friends in a text, and greetings, which name people but say nothing about them."""

from __future__ import annotations

from typing import Final

from engine.text.language.categories.marked_text import LISTS, MARGIN, Mark, MarkedText, is_word
from engine.text.words import STOP_WORDS

GREETING_WORDS_MAX: Final = 8
"""A longer text is not a bare greeting."""

_OWNERS: Final = frozenset(LISTS["owners"])
_MARRIED: Final = frozenset({"divorced", "married", "marries", "marry", "marrying", "wed"})
_GREETS: Final = frozenset(LISTS["greets"])
_SALUTATION: Final = frozenset(LISTS["salutation"])


def has_relative(marked: MarkedText) -> bool:
    """Return True if the text says whose relative somebody is, or calls a relative by what one calls them."""
    if any(_is_of_somebody(marked, at) for at in marked.with_mark(Mark.KINSHIP)):
        return True
    if any(marked.words[at - 1] in _MARRIED for at in marked.capitals):
        return True
    return any(
        marked.is_capital(at) and (marked.is_capital(at + 1) or not marked.begins(at))
        for at in marked.with_mark(Mark.FAMILY)
    )


def _is_of_somebody(marked: MarkedText, at: int) -> bool:
    """Return True if the text says whose relative or friend somebody is: `my sister`, `daughter of Rob`."""
    if marked.words[at + 1] == "of" and marked.is_capital(at + 2):
        return True
    return any(
        marked.words[before] in _OWNERS or marked.tokens[before].endswith("'s") for before in (at - 1, at - 2)
    )


def is_bare_greeting(marked: MarkedText) -> bool:
    """Return True if a text only greets somebody: `Hi Rob, hello Jade!`, `Good morning, Mum`."""
    if marked.words[MARGIN] not in _GREETS or marked.numbers:
        return False
    words = [(word, at) for at, word in enumerate(marked.words) if is_word(word)]
    return len(words) <= GREETING_WORDS_MAX and all(
        word in _SALUTATION or (marked.is_capital(at) and word not in STOP_WORDS) for word, at in words
    )
