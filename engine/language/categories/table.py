"""The word tables as one look-up, and the tokens of a text with what the look-up says of each."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from engine.language.categories import names, words


class Mark:
    """What a word can be, as bits: plain numbers, because some are looked at for every word."""

    CAUSAL: Final = 1 << 0
    EMOTIONAL: Final = 1 << 1
    INDUSTRY: Final = 1 << 2
    LOCATION: Final = 1 << 3
    TECHNICAL: Final = 1 << 4
    TEMPORAL: Final = 1 << 5
    EMOTIONAL_HINT: Final = 1 << 6
    INDUSTRY_HINT: Final = 1 << 7
    TECHNICAL_HINT: Final = 1 << 8
    PHRASE: Final = 1 << 9
    """Some phrase begins with it."""
    NAME: Final = 1 << 10
    NAME_HINT: Final = 1 << 11
    HONORIFIC: Final = 1 << 12
    ROLE: Final = 1 << 13
    ORGANIZATION: Final = 1 << 14
    PLACE: Final = 1 << 15
    PLACE_TITLE: Final = 1 << 16
    PLACE_NOUN: Final = 1 << 17
    POINTING: Final = 1 << 18
    SPAN: Final = 1 << 19
    SEASON: Final = 1 << 20
    MONTH_SHORT: Final = 1 << 21
    SUBJECT: Final = 1 << 22
    """A pronoun that somebody who did something goes by."""
    PAST: Final = 1 << 23
    ELIDED: Final = 1 << 24
    SEQUEL: Final = 1 << 25
    SPEAKING: Final = 1 << 26
    SO: Final = 1 << 27
    NO_SPEAKER: Final = 1 << 28
    GREETING: Final = 1 << 29


STRONG: Final = (1 << 6) - 1
HINTS: Final = Mark.EMOTIONAL_HINT | Mark.INDUSTRY_HINT | Mark.TECHNICAL_HINT

_TABLES: Final = (
    (Mark.CAUSAL, words.CAUSES),
    (Mark.EMOTIONAL, words.FEELINGS),
    (Mark.INDUSTRY, words.TRADE),
    (Mark.LOCATION, words.WHERE),
    (Mark.TECHNICAL, words.TECHNICAL),
    (Mark.TEMPORAL, f"{words.TIMES} {words.WEEKDAYS} {words.MONTHS}"),
    (Mark.EMOTIONAL_HINT, words.FEELINGS_HINT),
    (Mark.INDUSTRY_HINT, words.TRADE_HINT),
    (Mark.TECHNICAL_HINT, words.TECHNICAL_HINT),
    (Mark.NAME, names.NAMES),
    (Mark.NAME_HINT, names.NAMES_HINT),
    (Mark.HONORIFIC, names.HONORIFICS),
    (Mark.ROLE, names.ROLES),
    (Mark.ORGANIZATION, names.ORGANIZATIONS),
    (Mark.PLACE, words.PLACES),
    (Mark.PLACE_TITLE, words.PLACE_TITLES),
    (Mark.PLACE_NOUN, words.PLACE_NOUNS),
    (Mark.POINTING, words.POINTING),
    (Mark.SPAN, f"{words.SPANS} {words.SEASONS}"),
    (Mark.SEASON, words.SEASONS),
    (Mark.MONTH_SHORT, words.MONTHS_SHORT),
    (Mark.SUBJECT, "i he she we they"),
    (Mark.PAST, words.PAST),
    (Mark.ELIDED, words.ELIDED),
    (Mark.SEQUEL, words.SEQUELS),
    (Mark.SPEAKING, names.SPEAKING),
    (Mark.SO, "so since"),
    (Mark.NO_SPEAKER, names.NO_SPEAKERS),
    (Mark.GREETING, names.GREETINGS),
)

# Latin letters up to U+024F, spelled out: the tables hold no others, and what Python takes for a letter
# changes by version.
LETTER: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_TOKENS: Final = re.compile(
    rf"[{LETTER}]++(?:['-][{LETTER}]++)*+"
    r"|[0-9](?:[0-9A-Za-z_]|[.,:/-](?=[0-9A-Za-z]))*+"
    rf"|\n|[^\s{LETTER}0-9]"
)


tokens_of: Final = _TOKENS.findall
"""The words, numbers and line ends of a text, and every other sign that is no space, in order."""


@cache
def marks() -> dict[str, int]:
    """Word in small letters → what it can be; made on first use, in some 2 ms."""
    found: dict[str, int] = {}
    for mark, table in _TABLES:
        for entry in table.split():
            first, _, rest = entry.partition("_")
            found[first] = found.get(first, 0) | (Mark.PHRASE if rest else mark)
    return found


@cache
def phrases() -> dict[tuple[str, str], tuple[tuple[list[str], int], ...]]:
    """The first two words → what follows them in each phrase, and what the phrase is."""
    found: dict[tuple[str, str], tuple[tuple[list[str], int], ...]] = {}
    for mark, table in _TABLES:
        for first, second, *rest in (entry.split("_") for entry in table.split() if "_" in entry):
            found[first, second] = (*found.get((first, second), ()), (rest, mark))
    return found
