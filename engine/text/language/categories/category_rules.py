"""The rules that assign categories to a text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from engine.text.language.categories import Category
from engine.text.language.categories.clauses import has_deed, has_reason
from engine.text.language.categories.marked_text import STRONG, Mark, MarkedText
from engine.text.language.categories.people import NamedPeople, has_relative, is_bare_greeting, named_in
from engine.text.language.categories.places_and_times import has_place, has_time
from engine.text.language.tokenizer import sentences_of

_RELATIONSHIP: Final = 1 << 6
_NARRATIVE: Final = 1 << 7
"""The bits of the categories `relationship` and `narrative`, which have no word lists. The other six
categories have the lowest six bits."""

HINTS_NEEDED: Final = 2
TOKENS_PER_HINT: Final = 100
"""A text needs two different hints for a category, and one more hint for every 100 tokens. A long text has
many subjects, so it can contain hints by chance."""
TOKENS_PER_TRADE_HINT: Final = 70
"""The same for the category `industry`, whose words are common in any text."""

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
_ASIDE: Final = re.compile(r"\([^()\n]{0,200}+\)")
_CURRENCIES: Final = frozenset({"$", "\u20ac", "\u00a3"})

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
    if is_bare_greeting(marked):
        return ()
    return _categories(_category_marks(marked, named))


@cache
def _categories(marks: int) -> tuple[Category, ...]:
    bits = {Category.RELATIONSHIP: _RELATIONSHIP, Category.NARRATIVE: _NARRATIVE}
    return tuple(one for one in Category if marks & bits.get(one, getattr(Mark, one.name, 0)))


def _category_marks(marked: MarkedText, named: NamedPeople) -> int:
    result = marked.seen & STRONG & ~Mark.INDUSTRY | _hinted(marked)
    if named.several or marked.seen & Mark.RELATED or has_relative(marked):
        result |= _RELATIONSHIP
    if not result & Mark.LOCATION and has_place(marked, named):
        result |= Mark.LOCATION
    if not result & Mark.TEMPORAL and has_time(marked):
        result |= Mark.TEMPORAL
    if not result & Mark.CAUSAL and has_reason(marked):
        result |= Mark.CAUSAL
    if not result & Mark.INDUSTRY and (_has_money(marked) or _has_company(marked, named)):
        result |= Mark.INDUSTRY
    if not result & Mark.TECHNICAL and _has_code(marked):
        result |= Mark.TECHNICAL
    dated = result & Mark.TEMPORAL or marked.seen & Mark.SEQUEL
    if dated and has_deed(marked, named, named.surnames) and _tells(marked, named.surnames):
        result |= _NARRATIVE
    return result


def _tells(marked: MarkedText, surnames: set[str]) -> bool:
    """Return True if a text says what somebody did, and the same, a neighbouring or the first line says when.

    A question does not say it, and what stands in parentheses is mostly when somebody was born.
    """
    title, *lines = _ASIDE.sub(" ", marked.text).strip().split("\n")
    sentences = [one for one in sentences_of("\n".join([title, *lines])) if not one.endswith("?")]
    titled = bool(lines) and _is_dated(MarkedText(title))
    for pair in zip(sentences, [*sentences[1:], ""], strict=True):
        one = MarkedText("\n".join(pair))
        if (titled or _is_dated(one)) and has_deed(one, named_in(one), surnames):
            return True
    return False


def _is_dated(marked: MarkedText) -> bool:
    return bool(marked.seen & (Mark.TEMPORAL | Mark.SEQUEL)) or has_time(marked)


def _hinted(marked: MarkedText) -> int:
    """Return the marks of the categories for which the text has enough words.

    A word of the category `industry` counts as two hints: in a long text, it may stand by chance.
    """
    result = 0
    for hint, mark in _HINTS if marked.hints else ():
        trade = mark == Mark.INDUSTRY
        # `tool` and `tools` are one hint.
        found = {word.removesuffix("s"): one for word, one in marked.hints.items() if one & (hint | mark)}
        strong = trade and any(one & mark for one in found.values())
        per_hint = TOKENS_PER_TRADE_HINT if trade else TOKENS_PER_HINT
        if len(found) + strong >= HINTS_NEEDED + len(marked.tokens) // per_hint:
            result |= mark
    return result


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
    """Return True if a name ends like the name of a company, or if somebody works at or for a named thing."""
    if any(len(run.words) > 1 and run.marks[-1] & Mark.COMPANY for run in named.runs):
        return True
    people = {one.start for one in named.people}
    return any(
        marked.words[at + 1] in ("at", "for") and marked.is_capital(at + 2) and at + 2 not in people
        for at in marked.with_mark(Mark.EMPLOYED)
    )
