"""What somebody did: a person, a pronoun or a relative before a verb in the past tense."""

from __future__ import annotations

from typing import Final

from engine.text.language.categories.marked_text import LISTS, SENTENCE_MARKS, Mark, MarkedText
from engine.text.language.categories.people import NamedPeople

_ADVERBS: Final = frozenset(LISTS["adverbs"])
_COPULAS: Final = frozenset({"was", "were"})
_INVERTING: Final = frozenset(LISTS["inverting"])
_AUXILIARIES: Final = frozenset({"did", "had"})
_ASKED: Final = frozenset({"anybody", "anyone", "he", "i", "it", "she", "the", "they", "we", "you"})
_DESCRIPTION_WORDS_MAX: Final = 8


def has_deed(marked: MarkedText, named: NamedPeople) -> bool:
    """Return True if the text says that somebody did something."""
    if any(_person_acts(marked, one.start, one.end) for one in named.people):
        return True
    surnames = named.surnames
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
    if pronoun and marked.words[at] in _COPULAS:
        at += 2 if marked.words[at + 1] in _ADVERBS else 1
        return is_past(marked, at) or marked.words[at].endswith("ing")
    return is_past(marked, at)


def is_past(marked: MarkedText, at: int) -> bool:
    """Return True if the word at index `at` is a verb in the past tense."""
    word = marked.words[at]
    return bool(marked.marks[at] & Mark.PAST) or (len(word) > 4 and word.endswith("ed"))
