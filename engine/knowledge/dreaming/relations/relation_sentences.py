"""The sentences of a text as tokens, and the doubts that keep a sentence from being a statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engine.knowledge.dreaming.relations.relation_words import WORDS
from engine.text.language.categories.marked_text import LETTER, LISTS
from engine.text.language.lexicon import TITLES

MARGIN: Final = 6
"""The number of empty tokens after the last token of a sentence. One empty token is before the first."""
WORDS_MAX: Final = 80
"""A longer sentence states nothing: it is usually a list or a table."""

_WORD: Final = rf"[{LETTER}0-9_]"
_TOKEN: Final = re.compile(
    rf"\n|{_WORD}+(?:[-/'.@&+]{_WORD}+|(?<=[0-9]):(?=[0-9]){_WORD}+)*|[^\s{LETTER}0-9_]"
)
_MARKUP: Final = re.compile(
    r"```.*?(?:```|\Z)|\]\([^)\s]*\)|(?:https?://|www\.)\S+"
    r"|\[\[|\]\]|\*\*|__|[`*\[\]]|^[ \t]*(?:#+|[-+>])[ \t]",
    re.DOTALL | re.MULTILINE,
)
_ENDINGS: Final = re.compile(r"(?<=.)'(?:s|m|re|ve|ll|d)\Z", re.IGNORECASE)
_ABBREVIATIONS: Final = frozenset(LISTS["short_forms"]) | TITLES | {"eg", "ie", "vs", "no"}
_ENDS: Final = frozenset(".!?\u2026")
_OPENING: Final = frozenset("([{\"\u201c\u2018'")
_CLOSING: Final = frozenset(")]}\"\u201d'")
_WRAPPED_MIN: Final = 40
"""A line is continued in the next line only if it has at least this many characters."""


class Sentence:
    """The tokens of a sentence, with empty tokens at both ends.

    The endings `'s`, `'m`, `'re`, `'ve`, `'ll` and `'d` are tokens of their own.
    """

    __slots__ = ("asks", "end", "offsets", "start", "surfaces", "words")

    def __init__(self, surfaces: list[str], offsets: list[int]) -> None:
        self.surfaces = ["", *surfaces, *[""] * MARGIN]
        self.words = [surface.lower() for surface in self.surfaces]
        self.offsets = [offsets[0], *offsets]
        self.start = offsets[0]
        self.end = offsets[-1] + len(surfaces[-1])
        """The sentence is the part of the text from `start` up to but excluding `end`."""
        self.asks = _asks(self.words)
        """True if the whole sentence is a question."""

    def __len__(self) -> int:
        """Return the index after the last token that is not empty."""
        return len(self.offsets)

    def is_capital(self, at: int) -> bool:
        """Return True if a token begins with a capital letter."""
        return self.surfaces[at][:1] != self.words[at][:1]


def sentences_of(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text in order. Markup, addresses and blocks of code are left out."""
    text = text.replace("\u2019", "'")
    if _MARKUP.search(text) is not None:
        text = _MARKUP.sub(_blank, text)
    surfaces: list[str] = []
    offsets: list[int] = []
    last = ""
    line = 0
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word == "\n":
            at = match.start()
            if surfaces and not _is_wrapped(text, line, at):
                yield from _sentence(surfaces, offsets)
                surfaces, offsets, last = [], [], ""
            line = at + 1
            continue
        if last in _ENDS and word not in _ENDS and word not in _CLOSING:
            yield from _sentence(surfaces, offsets)
            surfaces, offsets, last = [], [], ""
        if word == "." and surfaces and _is_abbreviated(last):
            last = surfaces[-1] = f"{last}."
            continue
        ending = _ENDINGS.search(word) if "'" in word else None
        if ending is not None:
            at, last = match.start(), ending[0]
            surfaces += [word[: ending.start()], last]
            offsets += [at, at + ending.start()]
        else:
            last = word
            surfaces.append(word)
            offsets.append(match.start())
    yield from _sentence(surfaces, offsets)


def _sentence(surfaces: list[str], offsets: list[int]) -> Iterator[Sentence]:
    if 2 < len(surfaces) <= WORDS_MAX:
        yield Sentence(surfaces, offsets)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found.group())


def _is_abbreviated(word: str) -> bool:
    bare = word.lower()
    return bare in _ABBREVIATIONS or (len(word) == 1 and word.isupper() and word != "I")


def _is_wrapped(text: str, line: int, end: int) -> bool:
    """Return True if the sentence goes on after the line end at `end`. The line began at `line`."""
    after = text[end + 1 : end + 2]
    return end - line >= _WRAPPED_MIN and after.islower() and text[end - 1] not in _ENDS


_ASKING: Final = WORDS["asking"]
_BEFORE_QUESTION: Final = WORDS["before_question"]


def _asks(words: list[str]) -> bool:
    if "?" in words:
        return True
    first = 1
    while words[first] in _BEFORE_QUESTION or words[first] == ",":
        first += 1
    # A clause that begins with `when` or `where` has a comma after it if it is no question.
    return words[first] in _ASKING and "," not in words
