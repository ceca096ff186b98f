"""What the analysis of a question says, as plain values."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

RULES: Final = "memroot rules 2"
"""What analyses questions; answers name it. The number counts up when some question is analysed otherwise."""


class Ask(StrEnum):
    """What kind of thing is asked for."""

    WHEN = "when"
    WHERE = "where"
    WHO = "who"
    HOW_MANY = "how many"
    """A quantity: how many, how much, how often, how old, how long."""
    RELATION = "relation"
    """What two things have to do with each other."""
    LATEST = "latest"
    """How something is now."""
    OTHER = "other"


class Part(StrEnum):
    """The part of speech of a word, as coarse as recall needs it."""

    PROPER = "proper noun"
    """A name; an identifier; a word in quotation marks."""
    NOUN = "noun"
    NUMBER = "number"
    TIME = "time"
    VERB = "verb"
    ADJECTIVE = "adjective"
    ADVERB = "adverb"
    FUNCTION = "function word"
    OTHER = "other"
    """Unknown: a word of a script that the rules do not know, an emoji."""


class Word(NamedTuple):
    """A word as it was written. `terms` is what it is searched by: `analyze_query(text)`."""

    text: str
    part: Part
    terms: tuple[str, ...]


class Entity(NamedTuple):
    """Something a question is about. Its terms, at least one, are among the question's."""

    text: str
    terms: tuple[str, ...]
    proper: bool
    """Whether it is a name, an identifier or a quoted phrase; else a noun with the nouns beside it."""


class TimeSpan(NamedTuple):
    """A mention of a time, and the half-open interval [start, end) that it means.

    In µs UTC since 1970, negative before it. Both are None, or neither: they are where the mention is no
    date (`5 pm`, `a few days ago`), leaves a choice (`5/6/2023`), or depends on a `now` that was not given.
    """

    text: str
    start: int | None
    end: int | None


class Question(NamedTuple):
    """A question, analysed. Every name's term is among `nouns`, and every noun's among `terms`."""

    text: str
    """As it was asked."""
    core: str
    """Without greetings and phrases such as "can you remind me what we said about"; a part of `text`, and all
    of it if nothing else is there. Blank only if `text` is."""
    words: tuple[Word, ...]
    """The first 2,000 words of the core, in order; signs that nothing is found by are none."""
    terms: tuple[str, ...]
    """What to search for at first: `analyze_query(core)`."""
    nouns: tuple[str, ...]
    """The second level: the terms of nouns, names, numbers and times, and of words of unknown part."""
    names: tuple[str, ...]
    """The third level: the terms of names, of identifiers (`ADR-016`, `foo_bar`, `@alice`), of quotations."""
    entities: tuple[Entity, ...]
    """The most telling first: names and quoted phrases, then nouns. At most 8, no two of equal terms."""
    times: tuple[TimeSpan, ...]
    """In the order of the text."""
    ask: Ask
    pipeline: str
    """What analysed it: `RULES`."""
