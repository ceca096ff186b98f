"""The rules that assign categories to a text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from engine.language.categories import Category
from engine.language.categories.marked_text import LISTS, MARKS, STRONG, Mark, MarkedText
from engine.language.categories.people import NOUN_ENDINGS, Named, Run, named_in

_RELATIONSHIP: Final = 1 << 6
_NARRATIVE: Final = 1 << 7
"""The next two bits after the marks of the other six categories, which are the lowest bits."""

HINTS_NEEDED: Final = 2
TOKENS_PER_HINT: Final = 100
"""Two different hints are needed, plus one for every 100 tokens: long texts mention many subjects."""

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
    return _categories(_category_marks(text))


@cache
def _categories(found: int) -> tuple[Category, ...]:
    marks = {Category.RELATIONSHIP: _RELATIONSHIP, Category.NARRATIVE: _NARRATIVE}
    return tuple(one for one in Category if found & marks.get(one, getattr(Mark, one.name, 0)))


def _category_marks(text: str) -> int:
    read = MarkedText(text)
    named = named_in(read)
    found = read.seen & STRONG | _hinted(read)
    if named.several:
        found |= _RELATIONSHIP
    if not found & Mark.LOCATION and _has_place(read, named):
        found |= Mark.LOCATION
    if not found & Mark.TEMPORAL and _has_time(read):
        found |= Mark.TEMPORAL
    if not found & Mark.CAUSAL and _has_reason(read):
        found |= Mark.CAUSAL
    if not found & Mark.INDUSTRY and _has_money(read):
        found |= Mark.INDUSTRY
    if not found & Mark.TECHNICAL and _has_code(read):
        found |= Mark.TECHNICAL
    if (found & Mark.TEMPORAL or read.seen & Mark.SEQUEL) and _has_event(read, named):
        found |= _NARRATIVE
    return found


def _hinted(read: MarkedText) -> int:
    """Return the categories for which there are enough hints."""
    if len(read.hints) < HINTS_NEEDED:
        return 0
    needed = HINTS_NEEDED + len(read.tokens) // TOKENS_PER_HINT
    return sum(mark for hint, mark in _HINTS if sum(1 for word in read.hints if MARKS[word] & hint) >= needed)


def _has_code(read: MarkedText) -> bool:
    text = read.text
    if read.camels or any(_VERSION.fullmatch(read.tokens[at]) for at in read.numbers):
        return True
    if _FILE.search(text):
        return True
    # The scan takes 13 µs for 40 words, and most texts have none of the characters that it needs.
    likely = "`" in text or "_" in text or "()" in text or "--" in text
    return likely and _SIGNS_OF_CODE.search(text) is not None


def _has_money(read: MarkedText) -> bool:
    return any(read.tokens[at - 1] in ("$", "\u20ac", "\u00a3") for at in read.numbers)


def _has_place(read: MarkedText, named: Named) -> bool:
    people = {one.start for one in named.people}
    if any(_is_place(read, run) for run in named.runs if run.start not in people):
        return True
    return any(read.marks[at] & Mark.PLACE_NOUN and _is_at(read, at) for at in read.contextual)


def _is_place(read: MarkedText, run: Run) -> bool:
    """Return True if a capitalised run is a place: a known one, or one by its words or those around it."""
    either = 0
    for mark in run.marks:
        either |= mark
        if mark & Mark.PLACE and (not mark & Mark.NAME or _is_located(read, run)):
            either |= _KNOWN_PLACE
    if either & Mark.ORGANIZATION:
        return False
    if either & _KNOWN_PLACE:
        return True
    if either & Mark.PLACE_TITLE:
        return len(run.words) > 1 or (read.words[run.end] == "of" and read.is_capital(run.end + 1))
    first = read.tokens[run.start]
    if first in _COUNTRIES:
        return True
    return (
        not either
        and read.words[run.start - 1] in _IN
        and read.words[run.end] in _CLAUSE_ENDS
        and len(run.words) <= _PLACE_WORDS_MAX
        and not first.isupper()
        and not run.words[-1].endswith(_NOT_PLACE_ENDINGS)
    )


def _is_located(read: MarkedText, run: Run) -> bool:
    """Return True if a word that can also be a name is used as a place: `in Georgia`, `Savannah, Georgia`."""
    beside = read.words[run.end] == "," and read.is_capital(run.end + 1)
    after = read.words[run.start - 1] == "," and read.is_capital(run.start - 2)
    return read.words[run.start - 1] in _AT or beside or after


def _is_at(read: MarkedText, at: int) -> bool:
    """Return True if somebody is at a kind of place: `at the beach`, `in my old hometown`."""
    for before in (1, 2):
        if read.words[at - before] in _DETERMINERS:
            return read.words[at - before - 1] in _AT
    return False


def _has_time(read: MarkedText) -> bool:
    if any(_is_time(read, at) for at in read.numbers):
        return True
    return any(read.marks[at] & Mark.POINTING and _points_at_span(read, at) for at in read.contextual)


def _is_time(read: MarkedText, at: int) -> bool:
    """Return True if a number is a date, a year or a time of day."""
    token, before, after = read.tokens[at], read.words[at - 1], read.words[at + 1]
    if any(read.marks[beside] & Mark.MONTH_SHORT and read.is_capital(beside) for beside in (at - 1, at + 1)):
        return True
    if before == ".":
        before = read.words[at - 2]  # `c. 1243`
    if _TIME.fullmatch(token):
        # `2000 tornadoes` is not a year; in `in 2000 tornadoes` the number is read as one.
        return before in _YEAR_BEFORE or not (token.isdigit() and after.endswith("s"))
    if _EARLY_YEAR.fullmatch(token):
        return before in _YEAR_BEFORE and not after.endswith("s")
    return token.isdigit() and after in ("am", "pm", "a.m", "p.m")


def _points_at_span(read: MarkedText, at: int) -> bool:
    """Return True for a relative time: `last week`, `the past few months`, `in the spring`."""
    word = read.words[at]
    following = read.marks[at + 1]
    if word in ("in", "during", "since", "until"):
        if read.words[at + 1] == "the":
            following = read.marks[at + 2]
        return bool(following & Mark.SEASON)
    return bool(following & (Mark.SEASON if word in ("each", "every", "early", "late", "mid") else Mark.SPAN))


def _has_reason(read: MarkedText) -> bool:
    return any(read.marks[at] & Mark.SO and _gives_reason(read, at) for at in read.contextual)


def _gives_reason(read: MarkedText, at: int) -> bool:
    """Return True for a reason or consequence: `…, so I had to`, `So, we went`, `since you're here`."""
    if read.words[at] == "since":
        return read.words[at + 1] in _NOW
    after = at + 2 if read.words[at + 1] == "," else at + 1
    if read.words[after] not in _SO:
        return False
    if read.begins(at):
        return bool(read.marks[after] & Mark.SUBJECT) and _acts(read, after + 1)
    return read.words[at - 1] == "," or any(read.words[after + step] in _CAN for step in (1, 2, 3))


def _has_event(read: MarkedText, named: Named) -> bool:
    """Return True if the text says that somebody did something."""
    if any(_acts(read, one.end) for one in named.people):
        return True
    surnames = named.surnames
    if surnames and any(read.words[at] in surnames and _acts(read, at + 1) for at in read.capitals):
        return True
    return any(_somebody_acts(read, at) for at in read.contextual)


def _somebody_acts(read: MarkedText, at: int) -> bool:
    mark = read.marks[at]
    if mark & Mark.SUBJECT:
        return _acts(read, at + 1)
    return bool(mark & Mark.ELIDED) and _begins_line(read, at)


def _begins_line(read: MarkedText, at: int) -> bool:
    while read.tokens[at - 1] in ("-", "*"):
        at -= 1
    return read.tokens[at - 1] in ("", "\n")


def _acts(read: MarkedText, at: int) -> bool:
    """Return True if there is a past tense verb at index `at`, optionally after an adverb."""
    if read.words[at] in _ADVERBS:
        at += 1
    word = read.words[at]
    return bool(read.marks[at] & Mark.PAST) or (len(word) > 4 and word.endswith("ed"))
