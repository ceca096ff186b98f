"""Places and times in a text, by names, kinds of places, dates, and events that date something."""

from __future__ import annotations

import re
from typing import Final

from engine.text.analyzer import STOP_WORDS
from engine.text.language.categories.marked_text import DETERMINERS, LISTS, PLACES, Mark, MarkedText, is_word
from engine.text.language.categories.people import NOUN_ENDINGS, CapitalisedRun, NamedPeople

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
    for at, mark in enumerate(run.marks):
        either |= mark
        # In `Boston Beer Company`, the place is part of the name of something else.
        last = at + 1 == len(run.marks) or run.marks[-1] & PLACES
        if mark & Mark.PLACE and last and (not mark & Mark.NAME or _is_located(marked, run)):
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
    if word == "of":
        # `in the field of librarianship`, but not `at the edge of the lake`
        return not marked.is_capital(at + 2) and marked.words[at + 2] not in DETERMINERS
    if not is_word(word) or word in STOP_WORDS or word in _CLAUSE_ENDS or marked.is_capital(at + 1):
        return False
    other = Mark.TEMPORAL | Mark.SPAN | Mark.PAST | Mark.PLACE_NOUN | Mark.POINTING
    return not (marked.marks[at + 1] & other or word.endswith(("ing", "ed", "ly")))


_TIME: Final = re.compile(
    r"(?:1[5-9]|20)[0-9]{2}(?:s|[-/_.](?:(?:1[5-9]|20)?[0-9]{2})(?:[-/_.][0-9]{1,2}(?:T[0-9:]+)?)?)?"
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[ap]m)?"
    r"|[0-9]{1,2}[ap]m"
    r"|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4}",
    re.IGNORECASE | re.ASCII,
)
_EARLY_YEAR: Final = re.compile("1[0-4][0-9]{2}")
_YEAR_BEFORE: Final = frozenset(LISTS["year_before"])
_BEFORE_SEASON: Final = frozenset({"after", "before", "by", "each", "early", "every", "late", "mid"})
_IN_MONTH: Final = frozenset(LISTS["in_month"])
_AROUND: Final = frozenset(LISTS["around"])
_AT_HOUR: Final = frozenset(LISTS["at_hour"])
_AFTER_HOUR: Final = frozenset(LISTS["after_hour"])
_SEASONS: Final = frozenset({"autumn", "summer", "winter"})
_ELAPSED: Final = frozenset({"after", "before", "since"})
_SPANS: Final = frozenset(LISTS["spans"])
_COUNTED: Final = frozenset(LISTS["counted"])


def has_time(marked: MarkedText) -> bool:
    """Return True if the text mentions a time that no word list names."""
    if any(_is_time(marked, at) for at in marked.numbers):
        return True
    if any(_points_at_span(marked, at) for at in marked.with_mark(Mark.POINTING)):
        return True
    if any(_is_season(marked, at) for at in marked.with_mark(Mark.SEASON)):
        return True
    if any(_is_dated_by(marked, at) for at in marked.with_mark(Mark.EVENT)):
        return True
    if any(_is_hour(marked, at) for at in marked.with_mark(Mark.HOUR)):
        return True
    return any(
        marked.marks[at] & Mark.MONTH_SHORT and marked.words[at - 1] in _IN_MONTH for at in marked.capitals
    )


def _is_hour(marked: MarkedText, at: int) -> bool:
    after = marked.words[at + 1]
    return marked.words[at - 1] in _AT_HOUR and (not is_word(after) or after in _AFTER_HOUR)


def _is_season(marked: MarkedText, at: int) -> bool:
    """Return True for a certain season: `the summer`, `a dreadful winter`.

    `spring` alone may mean a spring of water.
    """
    if marked.words[at] not in _SEASONS:
        return False
    return any(marked.words[at - before] in DETERMINERS for before in (1, 2))


def _is_dated_by(marked: MarkedText, at: int) -> bool:
    """Return True if the event at `at` dates something: `after the concert`, `before our last match`."""
    return any(
        marked.words[at - before] in DETERMINERS and marked.words[at - before - 1] in _AROUND
        for before in (1, 2)
    )


def _is_time(marked: MarkedText, at: int) -> bool:
    """Return True if a number is a date, a year or a time of day."""
    token, before, after = marked.tokens[at], marked.words[at - 1], marked.words[at + 1]
    if before in ("day", "week") and token.isdigit():
        return True
    if before in _COUNTED:
        return False
    if any(
        marked.marks[beside] & Mark.MONTH_SHORT and marked.is_capital(beside) for beside in (at - 1, at + 1)
    ):
        return True
    if before == ".":
        before = marked.words[at - 2]  # `c. 1243`
    if _TIME.fullmatch(token):
        # `2000 tornadoes` is not a year; in `in 2000 tornadoes` the number is treated as a year.
        return before in _YEAR_BEFORE or not (token.isdigit() and after.endswith("s"))
    if _EARLY_YEAR.fullmatch(token):
        return before in _YEAR_BEFORE and not after.endswith("s")
    return token.isdigit() and after in ("am", "pm", "a.m", "p.m")


def _points_at_span(marked: MarkedText, at: int) -> bool:
    """Return True if a relative time begins at `at`: `last week`, `the past few months`, `in the spring`."""
    word = marked.words[at]
    if word in _ELAPSED and not _SPANS.isdisjoint(marked.words[at + 1 : at + 4]):
        return True  # `after twenty years`
    following = marked.marks[at + 1]
    if word in ("in", "during", "since", "until"):
        if marked.words[at + 1] == "the":
            following = marked.marks[at + 2]
        return bool(following & Mark.SEASON)
    return bool(following & (Mark.SEASON if word in _BEFORE_SEASON else Mark.SPAN))
