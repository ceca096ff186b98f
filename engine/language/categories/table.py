"""The word tables as one look-up, and the tokens of a text with what the look-up says of each."""

from __future__ import annotations

import re
from typing import Final

from engine.language.wordlists import read_lists

LISTS: Final = {
    name: listed
    for file in ("words.txt", "people.txt", "places.txt")
    for name, listed in read_lists("engine.language.categories", file).items()
}
"""The word lists in `data/`. One with the name of a mark says which words and phrases have that mark."""


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


def _looked_up() -> tuple[dict[str, int], dict[tuple[str, str], list[tuple[list[str], int]]]]:
    words: dict[str, int] = {}
    phrases: dict[tuple[str, str], list[tuple[list[str], int]]] = {}
    for name, listed in LISTS.items():
        mark: int = getattr(Mark, name.upper(), 0)
        for entry in listed if mark else ():
            first, *rest = entry.split(" ")
            words[first] = words.get(first, 0) | (Mark.PHRASE if rest else mark)
            if rest:
                phrases.setdefault((first, rest[0]), []).append((rest[1:], mark))
    return words, phrases


MARKS, PHRASES = _looked_up()
"""What each word in small letters can be; what follows two words in the phrases that begin with them."""
