"""A text as the rules see it: its tokens, what each can be, and where something is to be looked at."""

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

_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S++")
_CAMEL: Final = re.compile("[a-z]{2,}+[A-Z][a-z]{2}")
_LOOKED_AT: Final = Mark.PLACE_NOUN | Mark.POINTING | Mark.SUBJECT | Mark.ELIDED | Mark.SO
_FELT: Final = Mark.EMOTIONAL | Mark.EMOTIONAL_HINT
_SENTENCE_ENDS: Final = frozenset(["", *'.!?:;\n-*#>\u2026"\u201c('])
_BEYOND_LATIN: Final = "\u0250"
_MARGIN: Final = [""] * 6


class MarkedText:
    """The tokens of one text, read once. At both ends stand empty ones, as far as any rule looks."""

    def __init__(self, text: str) -> None:
        if "\u2019" in text:
            text = text.replace("\u2019", "'")
        if "[[" in text:
            text = text.replace("[[", "").replace("]]", "")
        if "://" in text or "www." in text:
            text = _ADDRESS.sub(" ", text)
        self.text = text
        self.tokens: list[str] = [*_MARGIN, *tokens_of(text), *_MARGIN]
        self.words = words = list(map(str.lower, self.tokens))
        """The tokens in small letters, names without their `'s`."""
        self.capitals: list[int] = []
        """Where capitalised words stand."""
        self.camels = False
        """Whether a word has a capital letter inside, and is no name: `camelCase`."""
        self._find_capitals()
        self.marks = [MARKS.get(word, 0) for word in words]
        """What each word can be."""
        self.seen = 0
        """The marks of all words that are what they are wherever they stand, and of all phrases."""
        self.hints: set[str] = set()
        """The words that hint at something."""
        self.numbers = [at for at, token in enumerate(self.tokens) if "0" <= token < ":"]
        self.looked_at: list[int] = []
        """Where words stand that mean something by what stands around them."""
        self._look()

    def _find_capitals(self) -> None:
        tokens, words = self.tokens, self.words
        for at in [at for at, given in enumerate(tokens) if given != words[at]]:
            given = tokens[at]
            if "a" <= given < "{":
                self.camels = self.camels or _CAMEL.match(given) is not None
            elif given < _BEYOND_LATIN and given[0] != words[at][0]:
                self.capitals.append(at)
                if given.endswith("'s"):
                    words[at] = words[at][:-2]

    def _look(self) -> None:
        words, found = self.words, self.marks
        for at, mark in enumerate(found):
            if not mark:
                continue
            if mark & _FELT and self.is_capital(at) and not self._is_felt(at):
                mark &= ~_FELT
            self.seen |= mark & STRONG
            if mark & HINTS:
                self.hints.add(words[at])
            if mark & Mark.PHRASE:
                for rest, meant in PHRASES.get((words[at], words[at + 1]), ()):
                    if words[at + 2 : at + 2 + len(rest)] == rest:
                        self._phrase(at, meant)
            if mark & _LOOKED_AT:
                self.looked_at.append(at)
            self.seen |= mark & Mark.SEQUEL

    def _phrase(self, at: int, meant: int) -> None:
        if meant != Mark.PLACE:
            self.seen |= meant
        elif self.is_capital(at):
            self.seen |= Mark.LOCATION

    def _is_felt(self, at: int) -> bool:
        """Whether a capital letter is that of a sentence: in a name or a heading no feeling is told."""
        return self.begins(at) and not self.is_capital(at + 1)

    def is_capital(self, at: int) -> bool:
        """Whether the token there begins with a capital letter."""
        first: str = self.tokens[at][:1]
        return first != self.words[at][:1]

    def begins(self, at: int) -> bool:
        """Whether the token there begins a sentence or a line."""
        return self.tokens[at - 1] in _SENTENCE_ENDS
