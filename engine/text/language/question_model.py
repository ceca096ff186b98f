"""The result types of the analysis of a question."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

RULES: Final = "memroot rules 3"
"""The name of the rules that analyse questions. Each answer reports this name.

The name contains a number. The number increases whenever a change of the rules changes the analysis of any
question.
"""


class Part(StrEnum):
    """The part of speech of a word: one of the few classes that recall distinguishes."""

    PROPER = "proper noun"
    """A name, an identifier, or a word in quotation marks."""
    NOUN = "noun"
    NUMBER = "number"
    TIME = "time"
    VERB = "verb"
    ADJECTIVE = "adjective"
    ADVERB = "adverb"
    FUNCTION = "function word"
    OTHER = "other"
    """The part of speech is unknown: the word is an emoji, or the rules do not cover its script."""


class Word(NamedTuple):
    """A word of a question. `text` is the word as written, and `terms` are its search terms."""

    text: str
    part: Part
    terms: tuple[str, ...]


class Entity(NamedTuple):
    """A subject of a question. It has at least one term, and all its terms are terms of the question."""

    text: str
    terms: tuple[str, ...]
    proper: bool
    """True for a name, an identifier or a quoted phrase; False for a common noun or a group of adjacent
    nouns."""


class TimeSpan(NamedTuple):
    """A mention of a time, and its half-open interval [start, end) in µs UTC (negative before 1970).

    `start` and `end` are both numbers or both None. They are None if the mention is not a date (`5 pm`,
    `a few days ago`), is ambiguous (`5/6/2023`), or depends on a `now` that was not given.
    """

    text: str
    start: int | None
    end: int | None


class Question(NamedTuple):
    """The analysis of a question. All `names` are also in `nouns`, and all `nouns` are also in `terms`."""

    text: str
    """The question as it was asked."""
    core: str
    """The core of the question: `text` without greetings, and without phrases such as "can you remind me what
    we said about". If nothing else is left, the core is the whole text. The core is blank only if `text` is
    blank."""
    words: tuple[Word, ...]
    """The words of the core that are among the first 2,000 words of `text`, in order. Words without search
    terms are omitted."""
    terms: tuple[str, ...]
    """The first level of search terms: all search terms of the core, `analyze_query(core)`."""
    nouns: tuple[str, ...]
    """The second level of search terms: the terms of nouns, names, numbers, times, and words of unknown part
    of speech."""
    names: tuple[str, ...]
    """The third level of search terms: the terms of names, identifiers (`ADR-016`, `foo_bar`, `@alice`) and
    quotations."""
    entities: tuple[Entity, ...]
    """The subjects of the question, the most specific first: names and quoted phrases, then nouns. There are
    at most 8, and no two have equal terms."""
    times: tuple[TimeSpan, ...]
    """The mentions of times, in the order of the text."""
    asks_when: bool
    """True if the question asks for a time."""
    pipeline: str
    """The name of the rules that produced this analysis: `RULES`."""
