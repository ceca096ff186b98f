"""Places in a text: a place by its name, or somebody at a kind of place."""

from __future__ import annotations

from typing import Final

from engine.text.language.categories.marked_text import DETERMINERS, LISTS, Mark, MarkedText, is_word
from engine.text.language.categories.people import NOUN_ENDINGS, CapitalisedRun, NamedPeople
from engine.text.words import STOP_WORDS

_IN: Final = frozenset(LISTS["in"])
_AT: Final = frozenset(LISTS["at"])
_CLAUSE_ENDS: Final = frozenset([*LISTS["clause_ends"], *",.)!?;\n"])
_NOT_PLACE_ENDINGS: Final = (*NOUN_ENDINGS, "ian", "ish", "ese")
_PLACE_WORDS_MAX: Final = 2
_KNOWN_PLACE: Final = 1 << 62
_COUNTRIES: Final = frozenset({"US", "USA", "UK", "EU", "UAE"})


def has_place(marked: MarkedText, named: NamedPeople) -> bool:
    """Return True if the text mentions a place that no word list names."""
    people = {one.start for one in named.people}
    if any(is_place(marked, run) for run in named.runs if run.start not in people):
        return True
    return any(_is_at(marked, at) for at in marked.with_mark(Mark.PLACE_NOUN))


def is_place(marked: MarkedText, run: CapitalisedRun) -> bool:
    """Return True if the words of a run of capitalised words, and the words around it, indicate a place."""
    either = 0
    for mark in run.marks:
        either |= mark
        if mark & Mark.PLACE and (not mark & Mark.NAME or _is_located(marked, run)):
            either |= _KNOWN_PLACE
    if either & Mark.ORGANIZATION:
        return False
    if either & _KNOWN_PLACE:
        return True
    if (run.marks[0] | run.marks[-1]) & Mark.PLACE_TITLE:
        return len(run.words) > 1 or (marked.words[run.end] == "of" and marked.is_capital(run.end + 1))
    if run.marks[-1] & Mark.PLACE_NOUN and len(run.words) > 1 and marked.words[run.start - 1] in _AT:
        return True
    if marked.marks[run.end] & Mark.PLACE_NOUN and marked.words[run.start - 1] == "the":
        return not _is_before_noun(marked, run.end)  # `the Orm estuary`
    first = marked.tokens[run.start]
    if first in _COUNTRIES:
        return True
    return (
        not either
        and marked.words[run.start - 1] in _IN
        and marked.words[run.end] in _CLAUSE_ENDS
        and len(run.words) <= _PLACE_WORDS_MAX
        and not first.isupper()
        and not run.words[-1].endswith(_NOT_PLACE_ENDINGS)
    )


def _is_located(marked: MarkedText, run: CapitalisedRun) -> bool:
    """Return True if a name that can be a place is used as a place: `in Georgia`, `Savannah, Georgia`."""
    beside = marked.words[run.end] == "," and marked.is_capital(run.end + 1)
    after = marked.words[run.start - 1] == "," and marked.is_capital(run.start - 2)
    return marked.words[run.start - 1] in _AT or beside or after


def _is_at(marked: MarkedText, at: int) -> bool:
    """Return True if the text says that somebody is at a kind of place: `at the beach`, `in my old town`."""
    if _is_before_noun(marked, at):
        return False
    if marked.words[at - 1] in _AT and _is_label(marked.tokens[at + 1]) and marked.words[at] != "port":
        return True
    for before in (1, 2):
        if marked.words[at - before] in DETERMINERS:
            preposition = marked.words[at - before - 1]
            return preposition in _AT and not (
                preposition == "of" and marked.words[at - before] in ("a", "an")
            )
    return False


def _is_label(following: str) -> bool:
    """Return True if a token is a number or a capital letter, as in `room 12` and `gate B`."""
    return following.isdigit() or (len(following) == 1 and "A" <= following < "[" and following != "I")


def _is_before_noun(marked: MarkedText, at: int) -> bool:
    """Return True if the word after the kind of place is a noun of which it is a part: `the garden fence`."""
    word = marked.words[at + 1]
    if not is_word(word) or word in STOP_WORDS or word in _CLAUSE_ENDS or marked.is_capital(at + 1):
        return False
    other = Mark.TEMPORAL | Mark.SPAN | Mark.PAST | Mark.PLACE_NOUN | Mark.POINTING
    return not (marked.marks[at + 1] & other or word.endswith(("ing", "ed", "ly")))
