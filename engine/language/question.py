"""The analysis of a question (Standard 065: "70/30 Tag-Walker", phases 1 and 2).

    text ── pieces ──▶ words and marks ──▶ spaCy ──▶ parts of speech, names, times
              │                                          │
              └── wrappers ──▶ core ──▶ terms ──▶ those of nouns ──▶ those of names

Terms are the analyzer's, so that whatever is asked for is what the index holds; the rest only chooses
among them. A pure function of the text, of `now` and of the installed pipeline. Every text has an
analysis. spaCy reads the first 2,000 words of a text; what follows them is searched for, and has neither
words nor entities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from engine.language.asking import kind_of
from engine.language.calendar import day_of, resolve
from engine.language.entities import Range, find_entities
from engine.language.forms import forms_of
from engine.language.model import Ask, Entity, Part, Question, TimeSpan, Word
from engine.language.pieces import Piece, clean, is_identifier, plain, quotations, split
from engine.language.pipeline import Tagged, pipeline_name, tag
from engine.language.times import Mark
from engine.language.wrappers import core_of
from engine.text.analyzer import analyze_query
from engine.text.words import STOP_WORDS

__all__ = [
    "Ask",
    "Entity",
    "Part",
    "Question",
    "TimeSpan",
    "Word",
    "analyze_question",
    "forms_of",
]

WORDS_MAX: Final = 2_000
"""So many words are analysed by spaCy: some 12 KiB of English."""

_CACHED_CHARS_MAX: Final = 1_000
_CACHED_QUESTIONS: Final = 256

_PARTS: Final = {
    "PROPN": Part.PROPER,
    "NOUN": Part.NOUN,
    "NUM": Part.NUMBER,
    "VERB": Part.VERB,
    "ADJ": Part.ADJECTIVE,
    "ADV": Part.ADVERB,
    "X": Part.OTHER,
    "SYM": Part.OTHER,
    "": Part.OTHER,
}
"""Universal part of speech → part; all others are function words."""
_RANK: Final = (Part.PROPER, Part.NOUN, Part.NUMBER, Part.VERB, Part.ADJECTIVE, Part.ADVERB, Part.OTHER)
"""A word that the pipeline cut in several has the first of these that one of them has."""
_NOUNS: Final = frozenset({Part.PROPER, Part.NOUN, Part.NUMBER, Part.TIME, Part.OTHER})


class _Analysed(NamedTuple):
    """What is cached: everything but the meaning of relative times."""

    question: Question
    marks: tuple[Mark, ...]


def analyze_question(text: str, *, now: int | None = None) -> Question:
    """What `text` asks for.

    Args:
        text: anything; no text is refused, though a blank one has no terms.
        now: the day on which it is asked, as a moment in µs UTC since 1970: the time of the store's newest
            event, never that of a clock. "Last week" or "in May" have no interval without it.

    Raises:
        ImportError: spaCy cannot be imported.
    """
    found = _cached(text) if len(text) <= _CACHED_CHARS_MAX else _analyzed(text)
    if now is None or not found.marks:
        return found.question
    return replace(found.question, times=_times(text, found.marks, now))


def _analyzed(text: str) -> _Analysed:
    safe = clean(text)
    pieces = split(safe)
    first, last = core_of(pieces)
    whole = last - first == len(pieces)
    core = text if whole else text[pieces[first].start : pieces[last - 1].end]
    terms = tuple(analyze_query(core))
    window = _window(pieces)
    if not window:
        question = Question(text, core, (), terms, (), (), (), (), Ask.OTHER, pipeline_name())
        return _Analysed(question, ())
    tagged = tag(safe[: window[-1].end])
    inside = window[first:last]
    blocks = _blocks(inside, tagged)
    parts = _parts(window, tagged)[first:last]
    _name(inside, parts, blocks)
    words = tuple(
        Word(piece.text, part, word_terms)
        for piece, part in zip(inside, parts, strict=True)
        if part is not None and (word_terms := tuple(analyze_query(piece.text)))
    )
    marks = tuple(
        mark
        for mark in tagged.times
        if inside and inside[0].start <= mark.start and mark.end <= inside[-1].end
    )
    question = Question(
        text=text,
        core=core,
        words=words,
        terms=terms,
        nouns=_among(terms, words, _NOUNS),
        names=_among(terms, words, frozenset({Part.PROPER})),
        entities=find_entities(text, inside, parts, blocks, frozenset(terms)),
        times=(times := _times(text, marks, None)),
        ask=kind_of(pieces, first, dated=any(time.start is not None for time in times)),
        pipeline=tagged.pipeline,
    )
    return _Analysed(question, marks)


_cached = lru_cache(maxsize=_CACHED_QUESTIONS)(_analyzed)


def _window(pieces: list[Piece]) -> list[Piece]:
    """The pieces up to the last word that spaCy reads; none if there is no word."""
    words = [i for i, piece in enumerate(pieces) if piece.word]
    return pieces if 0 < len(words) <= WORDS_MAX else pieces[: words[WORDS_MAX - 1] + 1] if words else []


def _parts(pieces: Sequence[Piece], tagged: Tagged) -> list[Part | None]:
    """The part of each piece; None for marks. Times and identifiers are told by their shape."""
    found: list[Part | None] = []
    tokens, times = iter(tagged.tokens), iter(tagged.times)
    token, time = next(tokens, None), next(times, None)
    for piece in pieces:
        heard = []
        while token is not None and token.start < piece.end:
            if token.end > piece.start:
                heard.append(_PARTS.get(token.part, Part.FUNCTION))
            if token.end > piece.end:
                break
            token = next(tokens, None)
        while time is not None and time.end <= piece.start:
            time = next(times, None)
        if not piece.word:
            found.append(None)
        elif time is not None and time.start < piece.end:
            found.append(Part.TIME)
        elif is_identifier(piece.text):
            found.append(Part.PROPER)
        else:
            found.append(next((part for part in _RANK if part in heard), Part.FUNCTION))
    return found


def _name(pieces: Sequence[Piece], parts: list[Part | None], blocks: Sequence[Range]) -> None:
    """Make the words of `blocks` proper nouns, but for stop words."""
    for first, last in blocks:
        for i in range(first, last):
            if pieces[i].word and plain(pieces[i].text) not in STOP_WORDS:
                parts[i] = Part.PROPER


def _blocks(pieces: Sequence[Piece], tagged: Tagged) -> list[Range]:
    """Quoted phrases, and the names that the pipeline recognised outside of them."""
    found = quotations(pieces)
    for start, end in tagged.entities:
        inside = [i for i, piece in enumerate(pieces) if piece.start < end and start < piece.end]
        if inside and not any(first <= inside[-1] and inside[0] < last for first, last in found):
            found.append((inside[0], inside[-1] + 1))
    return found


def _among(terms: tuple[str, ...], words: Sequence[Word], parts: frozenset[Part]) -> tuple[str, ...]:
    chosen = {term for word in words if word.part in parts for term in word.terms}
    return tuple(term for term in terms if term in chosen)


def _times(text: str, marks: Sequence[Mark], now: int | None) -> tuple[TimeSpan, ...]:
    today = None if now is None else day_of(now)
    intervals = ((mark, resolve(mark.when, today)) for mark in marks)
    return tuple(
        TimeSpan(text[mark.start : mark.end], *(interval or (None, None))) for mark, interval in intervals
    )
