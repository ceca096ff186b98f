"""Deeds and reasons in a text: who did something, and what led to what."""

from __future__ import annotations

from typing import Final

from engine.text.analyzer import STOP_WORDS
from engine.text.language.categories.marked_text import (
    DETERMINERS,
    LISTS,
    SENTENCE_MARKS,
    Mark,
    MarkedText,
    is_word,
)
from engine.text.language.categories.people import NamedPeople
from engine.text.language.lexicon import ADJECTIVES

_ADVERBS: Final = frozenset(LISTS["adverbs"])
_COPULAS: Final = frozenset({"was", "were"})
_INVERTING: Final = frozenset(LISTS["inverting"])
_AUXILIARIES: Final = frozenset({"did", "had"})
_ASKED: Final = frozenset({"anybody", "anyone", "he", "i", "it", "she", "the", "they", "we", "you"})
_DESCRIPTION_WORDS_MAX: Final = 8


def has_deed(marked: MarkedText, named: NamedPeople, surnames: set[str]) -> bool:
    """Return True if the text says that somebody did something; `surnames` are of people it may speak of."""
    if any(_person_acts(marked, one.start, one.end) for one in named.people):
        return True
    if surnames and any(
        marked.words[at] in surnames and _person_acts(marked, at, at + 1) for at in marked.capitals
    ):
        return True
    doers = marked.with_mark(Mark.SUBJECT | Mark.KINSHIP | Mark.ELIDED)
    return any(_somebody_acts(marked, at) for at in doers)


def _person_acts(marked: MarkedText, start: int, end: int) -> bool:
    """Return True if the person whose name is at `start:end` did something: `Ruth, our head, called`."""
    if marked.words[start - 1] in _INVERTING:
        return False
    if marked.words[end] == ",":
        following = marked.words[end + 1 : end + _DESCRIPTION_WORDS_MAX]
        if "," in following:
            end += 2 + following.index(",")
    return acts(marked, end, pronoun=True)


def _somebody_acts(marked: MarkedText, at: int) -> bool:
    mark = marked.marks[at]
    if mark & Mark.SUBJECT:
        return acts(marked, at + 1, pronoun=True) and marked.words[at - 1] not in _INVERTING
    if mark & Mark.KINSHIP and acts(marked, at + 1):
        return True
    asks = marked.words[at] in _AUXILIARIES and marked.words[at + 1] in _ASKED
    return bool(mark & Mark.ELIDED) and not asks and _begins_line(marked, at)


def _begins_line(marked: MarkedText, at: int) -> bool:
    while marked.tokens[at - 1] in ("-", "*"):
        at -= 1
    return marked.tokens[at - 1] in ("", "\n") or marked.tokens[at - 1] in SENTENCE_MARKS


def acts(marked: MarkedText, at: int, *, pronoun: bool = False) -> bool:
    """Return True if there is a past tense verb at index `at`, optionally after an adverb.

    After a pronoun, "was" and "were" alone say how somebody was; an action has another verb after them.
    """
    at += marked.words[at] in _ADVERBS
    if marked.asks(at):
        return False
    if pronoun and marked.words[at] in _COPULAS:
        at += 2 if marked.words[at + 1] in _ADVERBS else 1
        return is_past(marked, at) or marked.words[at].endswith("ing")
    return is_past(marked, at)


def is_past(marked: MarkedText, at: int) -> bool:
    """Return True if the word at index `at` is a verb in the past tense."""
    word = marked.words[at]
    return bool(marked.marks[at] & Mark.PAST) or (len(word) > 4 and word.endswith("ed"))


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
    if word == "causes":
        noun = before in STOP_WORDS or before in ADJECTIVES or not is_word(before)
        return not noun and is_word(marked.words[at + 1]) and not marked.marks[at + 1] & Mark.SUBJECT
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
