"""Times in a text: dates, times of day, relative times, and events that date something."""

from __future__ import annotations

import re
from typing import Final

from engine.text.language.categories.marked_text import DETERMINERS, LISTS, Mark, MarkedText, is_word

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
    """Return True for a certain season: `the summer`, `a dreadful winter`. A spring is also of water."""
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
