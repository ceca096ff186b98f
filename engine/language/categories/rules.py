"""The rules that assign categories to a text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from engine.language.categories import Category
from engine.language.categories.marked_text import LISTS, MARKS, STRONG, Mark, MarkedText
from engine.language.categories.people import NOUN_ENDINGS, CapitalisedRun, NamedPeople, named_in

_RELATIONSHIP: Final = 1 << 6
_NARRATIVE: Final = 1 << 7
"""The bits of the categories `relationship` and `narrative`, which have no word lists. The other six
categories have the lowest six bits."""

HINTS_NEEDED: Final = 2
TOKENS_PER_HINT: Final = 100
"""A text needs two different hints for a category, and one more hint for every 100 tokens. A long text has
many subjects, so it can contain hints by chance."""

_SIGNS_OF_CODE: Final = re.compile(
    r"```|`[^`\n]{1,200}+`"
    r"|\b[a-z]{2,40}+(?:_[a-z0-9]{1,40}+)++"
    r"|\b[A-Za-z_]{2,40}+\(\)"
    r"|(?<!\S)--[a-z]{2}",
    re.ASCII,
)
_FILE: Final = re.compile(
    r"\.(?:py|js|ts|rs|cpp|java|json|ya?ml|toml|html|css|sh|sql|md|txt|csv|exe|dll)\b", re.ASCII
)
_VERSION: Final = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,9}(?:-[a-z0-9]+)?")
_TIME: Final = re.compile(
    r"(?:1[5-9]|20)[0-9]{2}(?:s|[-/_.](?:(?:1[5-9]|20)?[0-9]{2})(?:[-/_.][0-9]{1,2}(?:T[0-9:]+)?)?)?"
    r"|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[ap]m)?"
    r"|[0-9]{1,2}[ap]m"
    r"|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4}",
    re.IGNORECASE | re.ASCII,
)
_EARLY_YEAR: Final = re.compile("1[0-4][0-9]{2}")
_YEAR_BEFORE: Final = frozenset(LISTS["year_before"])

_IN: Final = frozenset(LISTS["in"])
_AT: Final = frozenset(LISTS["at"])
_DETERMINERS: Final = frozenset(LISTS["determiners"])
_CLAUSE_ENDS: Final = frozenset([*LISTS["clause_ends"], *",.)!?;\n"])
_NOT_PLACE_ENDINGS: Final = (*NOUN_ENDINGS, "ian", "ish", "ese")
_PLACE_WORDS_MAX: Final = 2
_KNOWN_PLACE: Final = 1 << 62
_COUNTRIES: Final = frozenset({"US", "USA", "UK", "EU", "UAE"})

_SO: Final = frozenset(LISTS["after_so"])
_NOW: Final = frozenset(LISTS["after_since"])
_CAN: Final = frozenset(LISTS["can"])
_ADVERBS: Final = frozenset(LISTS["adverbs"])

_HINTS: Final = (
    (Mark.TECHNICAL_HINT, Mark.TECHNICAL),
    (Mark.INDUSTRY_HINT, Mark.INDUSTRY),
    (Mark.EMOTIONAL_HINT, Mark.EMOTIONAL),
)


def classify(text: str) -> tuple[Category, ...]:
    """Return the categories of a text, in the order of `Category`."""
    marked = MarkedText(text)
    return categories_in(marked, named_in(marked))


def categories_in(marked: MarkedText, named: NamedPeople) -> tuple[Category, ...]:
    """Return the categories of a marked text in which the people were already found."""
    return _categories(_category_marks(marked, named))


@cache
def _categories(marks: int) -> tuple[Category, ...]:
    bits = {Category.RELATIONSHIP: _RELATIONSHIP, Category.NARRATIVE: _NARRATIVE}
    return tuple(one for one in Category if marks & bits.get(one, getattr(Mark, one.name, 0)))


def _category_marks(marked: MarkedText, named: NamedPeople) -> int:
    result = marked.seen & STRONG | _hinted(marked)
    if named.several:
        result |= _RELATIONSHIP
    if not result & Mark.LOCATION and _has_place(marked, named):
        result |= Mark.LOCATION
    if not result & Mark.TEMPORAL and _has_time(marked):
        result |= Mark.TEMPORAL
    if not result & Mark.CAUSAL and _has_reason(marked):
        result |= Mark.CAUSAL
    if not result & Mark.INDUSTRY and _has_money(marked):
        result |= Mark.INDUSTRY
    if not result & Mark.TECHNICAL and _has_code(marked):
        result |= Mark.TECHNICAL
    if (result & Mark.TEMPORAL or marked.seen & Mark.SEQUEL) and _has_event(marked, named):
        result |= _NARRATIVE
    return result


def _hinted(marked: MarkedText) -> int:
    """Return the marks of the categories for which the text has enough hints."""
    if len(marked.hints) < HINTS_NEEDED:
        return 0
    needed = HINTS_NEEDED + len(marked.tokens) // TOKENS_PER_HINT
    return sum(
        mark for hint, mark in _HINTS if sum(1 for word in marked.hints if MARKS[word] & hint) >= needed
    )


def _has_code(marked: MarkedText) -> bool:
    text = marked.text
    if marked.camels or any(_VERSION.fullmatch(marked.tokens[at]) for at in marked.numbers):
        return True
    if _FILE.search(text):
        return True
    # The scan takes 13 µs for 40 words. It can match only a text with one of these; most texts have none.
    likely = "`" in text or "_" in text or "()" in text or "--" in text
    return likely and _SIGNS_OF_CODE.search(text) is not None


def _has_money(marked: MarkedText) -> bool:
    return any(marked.tokens[at - 1] in ("$", "\u20ac", "\u00a3") for at in marked.numbers)


def _has_place(marked: MarkedText, named: NamedPeople) -> bool:
    people = {one.start for one in named.people}
    if any(is_place(marked, run) for run in named.runs if run.start not in people):
        return True
    return any(marked.marks[at] & Mark.PLACE_NOUN and _is_at(marked, at) for at in marked.contextual)


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
    if either & Mark.PLACE_TITLE:
        return len(run.words) > 1 or (marked.words[run.end] == "of" and marked.is_capital(run.end + 1))
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
    for before in (1, 2):
        if marked.words[at - before] in _DETERMINERS:
            return marked.words[at - before - 1] in _AT
    return False


def _has_time(marked: MarkedText) -> bool:
    if any(_is_time(marked, at) for at in marked.numbers):
        return True
    return any(marked.marks[at] & Mark.POINTING and _points_at_span(marked, at) for at in marked.contextual)


def _is_time(marked: MarkedText, at: int) -> bool:
    """Return True if a number is a date, a year or a time of day."""
    token, before, after = marked.tokens[at], marked.words[at - 1], marked.words[at + 1]
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
    following = marked.marks[at + 1]
    if word in ("in", "during", "since", "until"):
        if marked.words[at + 1] == "the":
            following = marked.marks[at + 2]
        return bool(following & Mark.SEASON)
    return bool(following & (Mark.SEASON if word in ("each", "every", "early", "late", "mid") else Mark.SPAN))


def _has_reason(marked: MarkedText) -> bool:
    return any(marked.marks[at] & Mark.SO and _gives_reason(marked, at) for at in marked.contextual)


def _gives_reason(marked: MarkedText, at: int) -> bool:
    """Return True if a reason or consequence begins at `at`: `so I had to`, `So, we`, `since you're here`."""
    if marked.words[at] == "since":
        return marked.words[at + 1] in _NOW
    after = at + 2 if marked.words[at + 1] == "," else at + 1
    if marked.words[after] not in _SO:
        return False
    if marked.begins(at):
        return bool(marked.marks[after] & Mark.SUBJECT) and _acts(marked, after + 1)
    return marked.words[at - 1] == "," or any(marked.words[after + step] in _CAN for step in (1, 2, 3))


def _has_event(marked: MarkedText, named: NamedPeople) -> bool:
    """Return True if the text says that somebody did something."""
    if any(_acts(marked, one.end) for one in named.people):
        return True
    surnames = named.surnames
    if surnames and any(marked.words[at] in surnames and _acts(marked, at + 1) for at in marked.capitals):
        return True
    return any(_somebody_acts(marked, at) for at in marked.contextual)


def _somebody_acts(marked: MarkedText, at: int) -> bool:
    mark = marked.marks[at]
    if mark & Mark.SUBJECT:
        return _acts(marked, at + 1)
    return bool(mark & Mark.ELIDED) and _begins_line(marked, at)


def _begins_line(marked: MarkedText, at: int) -> bool:
    while marked.tokens[at - 1] in ("-", "*"):
        at -= 1
    return marked.tokens[at - 1] in ("", "\n")


def _acts(marked: MarkedText, at: int) -> bool:
    """Return True if there is a past tense verb at index `at`, optionally after an adverb."""
    if marked.words[at] in _ADVERBS:
        at += 1
    word = marked.words[at]
    return bool(marked.marks[at] & Mark.PAST) or (len(word) > 4 and word.endswith("ed"))
