"""The rules that assign categories to a text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from engine.language.categories import Category
from engine.language.categories.marked_text import LISTS, MARKS, STRONG, Mark, MarkedText
from engine.language.categories.people import NOUN_ENDINGS, CapitalisedRun, NamedPeople, named_in
from engine.text.words import STOP_WORDS

_RELATIONSHIP: Final = 1 << 6
_NARRATIVE: Final = 1 << 7
"""The bits of the categories `relationship` and `narrative`, which have no word lists. The other six
categories have the lowest six bits."""

HINTS_NEEDED: Final = 2
TOKENS_PER_HINT: Final = 100
"""A text needs two different hints for a category, and one more hint for every 100 tokens. A long text has
many subjects, so it can contain hints by chance."""

GREETING_WORDS_MAX: Final = 8
"""A longer text is not a bare greeting."""

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
_COPULAS: Final = frozenset({"was", "were"})
_INVERTING: Final = frozenset(LISTS["inverting"])
_BEFORE_SEASON: Final = frozenset({"after", "before", "by", "each", "early", "every", "late", "mid"})
_NOT_PLACE_ENDINGS: Final = (*NOUN_ENDINGS, "ian", "ish", "ese")
_PLACE_WORDS_MAX: Final = 2
_KNOWN_PLACE: Final = 1 << 62
_OWNERS: Final = frozenset(LISTS["owners"])
_IN_MONTH: Final = frozenset(LISTS["in_month"])
_AROUND: Final = frozenset(LISTS["around"])
_AT_HOUR: Final = frozenset(LISTS["at_hour"])
_AFTER_HOUR: Final = frozenset(LISTS["after_hour"])
_COUNTED: Final = frozenset(LISTS["counted"])
_CURRENCIES: Final = frozenset({"$", "\u20ac", "\u00a3"})
_COUNTRIES: Final = frozenset({"US", "USA", "UK", "EU", "UAE"})

_SO: Final = frozenset(LISTS["after_so"])
_SO_NOT: Final = frozenset(LISTS["so_not"])
_SO_IS_THAT: Final = frozenset(LISTS["so_is_that"])
_SENTENCE_ENDS: Final = frozenset(".!?")
_GREETS: Final = frozenset(LISTS["greets"])
_SALUTATION: Final = frozenset(LISTS["salutation"])
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
    if _is_bare_greeting(marked):
        return ()
    return _categories(_category_marks(marked, named))


@cache
def _categories(marks: int) -> tuple[Category, ...]:
    bits = {Category.RELATIONSHIP: _RELATIONSHIP, Category.NARRATIVE: _NARRATIVE}
    return tuple(one for one in Category if marks & bits.get(one, getattr(Mark, one.name, 0)))


def _category_marks(marked: MarkedText, named: NamedPeople) -> int:
    result = marked.seen & STRONG | _hinted(marked)
    if named.several or marked.seen & Mark.RELATED or _has_kin(marked):
        result |= _RELATIONSHIP
    if not result & Mark.LOCATION and _has_place(marked, named):
        result |= Mark.LOCATION
    if not result & Mark.TEMPORAL and _has_time(marked):
        result |= Mark.TEMPORAL
    if not result & Mark.CAUSAL and _has_reason(marked):
        result |= Mark.CAUSAL
    if not result & Mark.INDUSTRY and (_has_money(marked) or _has_company(marked, named)):
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


def _is_bare_greeting(marked: MarkedText) -> bool:
    """Return True if a text only greets somebody: `Hi Rob, hello Jade!`, `Good morning, Mum`."""
    words = [(word, at) for at, word in enumerate(marked.words) if word[:1].isalpha()]
    if not 1 <= len(words) <= GREETING_WORDS_MAX or words[0][0] not in _GREETS:
        return False
    return not marked.numbers and all(
        word in _SALUTATION or (marked.is_capital(at) and word not in STOP_WORDS) for word, at in words
    )


def _has_kin(marked: MarkedText) -> bool:
    for at in marked.contextual:
        mark = marked.marks[at]
        if mark & Mark.KINSHIP and _is_of_somebody(marked, at):
            return True
        if (
            mark & Mark.FAMILY
            and marked.is_capital(at)
            and (marked.is_capital(at + 1) or not marked.begins(at))
        ):
            return True
    return False


def _is_of_somebody(marked: MarkedText, at: int) -> bool:
    """Return True if the text says whose relative or friend somebody is: `my sister`, `daughter of Rob`."""
    if marked.words[at + 1] == "of" and marked.is_capital(at + 2):
        return True
    return any(
        marked.words[before] in _OWNERS or marked.tokens[before].endswith("'s") for before in (at - 1, at - 2)
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
    return any(
        marked.tokens[at - 1] in _CURRENCIES or marked.tokens[at + 1] == "\u20ac" for at in marked.numbers
    )


def _has_company(marked: MarkedText, named: NamedPeople) -> bool:
    if any(len(run.words) > 1 and run.marks[-1] & Mark.COMPANY for run in named.runs):
        return True
    people = {one.start for one in named.people}
    return any(
        marked.marks[at] & Mark.EMPLOYED
        and marked.words[at + 1] in ("at", "for")
        and marked.is_capital(at + 2)
        and at + 2 not in people
        for at in marked.contextual
    )


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
    if (run.marks[0] | run.marks[-1]) & Mark.PLACE_TITLE:
        return len(run.words) > 1 or (marked.words[run.end] == "of" and marked.is_capital(run.end + 1))
    if run.marks[-1] & Mark.PLACE_NOUN and len(run.words) > 1 and marked.words[run.start - 1] in _AT:
        return True
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
            preposition = marked.words[at - before - 1]
            return preposition in _AT and not (
                preposition == "of" and marked.words[at - before] in ("a", "an")
            )
    return False


def _has_time(marked: MarkedText) -> bool:
    if any(_is_time(marked, at) for at in marked.numbers):
        return True
    if any(
        (marked.marks[at] & Mark.POINTING and _points_at_span(marked, at))
        or (marked.marks[at] & Mark.EVENT and _is_dated_by(marked, at))
        or (marked.marks[at] & Mark.HOUR and _is_hour(marked, at))
        for at in marked.contextual
    ):
        return True
    return any(
        marked.marks[at] & Mark.MONTH_SHORT and marked.words[at - 1] in _IN_MONTH for at in marked.capitals
    )


def _is_hour(marked: MarkedText, at: int) -> bool:
    after = marked.words[at + 1]
    return marked.words[at - 1] in _AT_HOUR and (not after[:1].isalpha() or after in _AFTER_HOUR)


def _is_dated_by(marked: MarkedText, at: int) -> bool:
    """Return True if the event at `at` dates something: `after the concert`, `before our last match`."""
    return any(
        marked.words[at - before] in _DETERMINERS and marked.words[at - before - 1] in _AROUND
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
    following = marked.marks[at + 1]
    if word in ("in", "during", "since", "until"):
        if marked.words[at + 1] == "the":
            following = marked.marks[at + 2]
        return bool(following & Mark.SEASON)
    return bool(following & (Mark.SEASON if word in _BEFORE_SEASON else Mark.SPAN))


def _has_reason(marked: MarkedText) -> bool:
    return any(marked.marks[at] & Mark.SO and _gives_reason(marked, at) for at in marked.contextual)


def _gives_reason(marked: MarkedText, at: int) -> bool:
    """Return True if a reason or consequence begins at `at`: `so I had to`, `So, we`, `since you're here`."""
    word, before = marked.words[at], marked.words[at - 1]
    if word == "since":
        return _since_gives_reason(marked, at)
    if word == "otherwise":
        return marked.begins(at)
    after = at + 2 if marked.words[at + 1] == "," else at + 1
    following = marked.words[after]
    if before == ",":
        return following not in _SO_NOT and following[:1].isalpha()
    if before == "and":
        return following in _SO or following in _DETERMINERS
    if following not in _SO:
        return False
    if marked.begins(at):
        # At the beginning of a text or of what somebody says, "so" begins a story.
        return (
            before in _SENTENCE_ENDS and bool(marked.marks[after] & Mark.SUBJECT) and _acts(marked, after + 1)
        )
    if marked.marks[after] & Mark.SUBJECT and before not in _SO_IS_THAT:
        return True
    return any(marked.words[after + step] in _CAN for step in (1, 2, 3))


def _since_gives_reason(marked: MarkedText, at: int) -> bool:
    """Return True if "since" at `at` gives a reason: it is before a pronoun, and no past tense follows."""
    following = marked.words[at + 1]
    if following in _NOW:
        return True
    if not marked.marks[at + 1] & Mark.SUBJECT and following not in ("it", "you"):
        return False
    return not any(_is_past(marked, at + step) for step in (2, 3))


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
        return _acts(marked, at + 1, pronoun=True) and marked.words[at - 1] not in _INVERTING
    if mark & Mark.KINSHIP and _acts(marked, at + 1):
        return True
    return bool(mark & Mark.ELIDED) and _begins_line(marked, at)


def _begins_line(marked: MarkedText, at: int) -> bool:
    while marked.tokens[at - 1] in ("-", "*"):
        at -= 1
    return marked.tokens[at - 1] in ("", "\n") or marked.tokens[at - 1] in _SENTENCE_ENDS


def _acts(marked: MarkedText, at: int, *, pronoun: bool = False) -> bool:
    """Return True if there is a past tense verb at index `at`, optionally after an adverb.

    After a pronoun, "was" and "were" alone say how somebody was; an action has another verb after them.
    """
    at += marked.words[at] in _ADVERBS
    if pronoun and marked.words[at] in _COPULAS:
        at += 2 if marked.words[at + 1] in _ADVERBS else 1
        return _is_past(marked, at) or marked.words[at].endswith("ing")
    return _is_past(marked, at)


def _is_past(marked: MarkedText, at: int) -> bool:
    word = marked.words[at]
    return bool(marked.marks[at] & Mark.PAST) or (len(word) > 4 and word.endswith("ed"))
