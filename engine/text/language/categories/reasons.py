"""Reasons and consequences that only the words around "so", "since" or "otherwise" show."""

from __future__ import annotations

from typing import Final

from engine.text.language.categories.deeds import acts, is_past
from engine.text.language.categories.marked_text import (
    DETERMINERS,
    LISTS,
    SENTENCE_MARKS,
    Mark,
    MarkedText,
    is_word,
)

_SO: Final = frozenset(LISTS["after_so"])
_SO_NOT: Final = frozenset(LISTS["so_not"])
_SO_IS_THAT: Final = frozenset(LISTS["so_is_that"])
_NOW: Final = frozenset(LISTS["after_since"])
_PRESENT: Final = frozenset(LISTS["after_since_name"])
_DEGREE_WORDS_MAX: Final = 10
_CAN: Final = frozenset(LISTS["can"])


def has_reason(marked: MarkedText) -> bool:
    """Return True if a reason or a consequence begins at one of the words that may begin one."""
    return any(_gives_reason(marked, at) for at in marked.with_mark(Mark.SO))


def _gives_reason(marked: MarkedText, at: int) -> bool:
    """Return True if a reason or consequence begins at `at`: `so I had to`, `So, we`, `since you're here`."""
    word, before = marked.words[at], marked.words[at - 1]
    if word == "since":
        return _since_gives_reason(marked, at)
    if word == "otherwise":
        return marked.begins(at)
    after = at + 2 if marked.words[at + 1] == "," else at + 1
    following = marked.words[after]
    if word == "so" and _is_so_that(marked, at):
        return True
    if before == ",":
        return following not in _SO_NOT and is_word(following)
    if before == "and":
        return following in _SO or following in DETERMINERS
    if following not in _SO:
        return False
    if marked.begins(at):
        # At the beginning of a text or of what somebody says, "so" begins a story.
        return (
            before in SENTENCE_MARKS and bool(marked.marks[after] & Mark.SUBJECT) and acts(marked, after + 1)
        )
    if marked.marks[after] & Mark.SUBJECT and before not in _SO_IS_THAT:
        return True
    return any(marked.words[after + step] in _CAN for step in (1, 2, 3))


def _is_so_that(marked: MarkedText, at: int) -> bool:
    """Return True if the words after "so" at `at` say what it led to: `so proud that he forgot`."""
    for step in range(at + 2, at + _DEGREE_WORDS_MAX):
        if marked.words[step] == "that":
            return marked.words[step + 1] in _SO
        if not is_word(marked.words[step]):
            return False
    return False


def _since_gives_reason(marked: MarkedText, at: int) -> bool:
    """Return True if "since" at `at` gives a reason: it is before a pronoun, and no past tense follows."""
    following = marked.words[at + 1]
    if following in _NOW:
        return True
    if marked.is_capital(at + 1) and any(marked.words[at + step] in _PRESENT for step in (2, 3)):
        return True  # `since Benny has exams`
    if not marked.marks[at + 1] & Mark.SUBJECT and following not in ("it", "you"):
        return False
    return not any(is_past(marked, at + step) for step in (2, 3))
