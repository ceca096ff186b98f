"""The analysis of a question (Standard 065: "70/30 Tag-Walker", phases 1 and 2).

    text ── pieces ──▶ words and marks ──▶ parts of speech, names, times
              │                                     │
              └── phrasing ──▶ core ──▶ terms ──▶ those of nouns ──▶ those of names

Terms are the analyzer's, so that whatever is asked for is what the index holds; the rest only chooses
among them. A pure function of the text and of `now`, by rules and word lists alone. Every text has an
analysis. The first 2,000 words of a text have parts of speech; what follows them is searched for, and has
neither words nor entities.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from engine.language.calendar import day_of, resolve
from engine.language.lexicon import GENERIC, NAME_PARTICLES
from engine.language.model import RULES, Ask, Entity, Part, Question, TimeSpan, Word
from engine.language.parts import abbreviates, parts_of
from engine.language.phrasing import core_of, kind_of
from engine.language.times import Mark, find_times
from engine.language.tokenizer import Token, bare, clean, is_identifier, quotations, split
from engine.text.analyzer import analyze_query
from engine.text.words import STOP_WORDS

ENTITIES_MAX: Final = 8
_PARTICLES_MAX: Final = 3

Range = tuple[int, int]
"""From the first piece to the one after the last."""

WORDS_MAX: Final = 2_000
"""So many words have parts of speech: some 12 KiB of English."""

_CACHED_CHARS_MAX: Final = 1_000

_CACHED_QUESTIONS: Final = 256

_NOUNS: Final = frozenset({Part.PROPER, Part.NOUN, Part.NUMBER, Part.TIME, Part.OTHER})


def find_entities(
    text: str,
    pieces: Sequence[Token],
    parts: Sequence[Part | None],
    blocks: Sequence[Range],
    among: Collection[str],
) -> tuple[Entity, ...]:
    """At most ENTITIES_MAX, names first, those of one kind in the order of the text.

    `blocks` are names and quoted phrases that are known to be one, none overlapping another; `among` are the
    terms of the question: an entity with none of them is left out.
    """
    names = sorted([*blocks, *_name_runs(pieces, parts, blocks)])
    nouns = [run for run in _noun_runs(pieces, parts) if not _overlaps(run, names)]
    nouns.sort(key=lambda run: _is_generic(pieces, run))  # stable: otherwise in the order of the text
    found: dict[frozenset[str], Entity] = {}
    for first, last in [*names, *nouns]:
        shown = bare(text[pieces[first].start : pieces[last - 1].end])
        terms = tuple(term for term in analyze_query(shown) if term in among)
        if terms:
            found.setdefault(frozenset(terms), Entity(shown, terms, (first, last) in names))
        if len(found) == ENTITIES_MAX:
            break
    return tuple(found.values())


def _name_runs(
    pieces: Sequence[Token], parts: Sequence[Part | None], blocks: Sequence[Range]
) -> Iterator[Range]:
    """The runs of proper nouns outside `blocks`, with the small words and numbers that belong to them."""
    taken = {i for first, last in blocks for i in range(first, last)}
    names = [part is Part.PROPER and i not in taken for i, part in enumerate(parts)]
    i = 0
    while i < len(pieces):
        if not names[i]:
            i += 1
            continue
        last = i + 1
        while following := _continues(pieces, parts, names, last):
            last = following
        yield i, last
        i = last


def _continues(pieces: Sequence[Token], parts: Sequence[Part | None], names: Sequence[bool], at: int) -> int:
    """The end of the run of a name that goes on at `at`, or 0 if it ends there."""
    before = pieces[at - 1]
    if at >= len(pieces) or bare(before.text) != before.text or _stands_alone(before.text):
        return 0
    if parts[at] is Part.NUMBER and pieces[at].text.isdecimal():
        return at + 1  # Big Hero 6
    following = at
    if pieces[at].text == "." and abbreviates(before.text):
        following += 1  # Dr. Seuss, J.K. Rowling
    elif pieces[at].text in {"'", "\u2019"} and pieces[at].start == before.end:
        following += 1  # the World Drivers' Championship
    else:
        while (
            following < min(len(pieces) - 1, at + _PARTICLES_MAX)
            and not names[following]
            and pieces[following].low in NAME_PARTICLES
        ):
            following += 1
    more = following < len(pieces) and names[following] and not _stands_alone(pieces[following].text)
    return following + 1 if more else 0


def _stands_alone(word: str) -> bool:
    """Whether an identifier is a name by itself, whatever stands beside it."""
    return word[0] in "@#" or "/" in word or "_" in word


def _noun_runs(pieces: Sequence[Token], parts: Sequence[Part | None]) -> Iterator[Range]:
    """The runs of common nouns, and of words of unknown part."""
    i = 0
    while i < len(pieces):
        part = parts[i]
        first, i = i, i + 1
        if part not in {Part.NOUN, Part.OTHER}:
            continue
        while i < len(pieces) and parts[i] is part and bare(pieces[i - 1].text) == pieces[i - 1].text:
            i += 1
        if i < len(pieces) and parts[i] is Part.NUMBER and pieces[i].text.isdecimal():
            i += 1  # chapter 5
        yield first, i


def _overlaps(run: Range, others: Sequence[Range]) -> bool:
    return any(run[0] < last and first < run[1] for first, last in others)


def _is_generic(pieces: Sequence[Token], run: Range) -> bool:
    """Whether a noun stands alone and tells little."""
    word = pieces[run[0]].low
    return run[1] - run[0] == 1 and (word in GENERIC or word.removesuffix("s") in GENERIC)


_PARTS: Final = {
    "PROPN": Part.PROPER,
    "NOUN": Part.NOUN,
    "NUM": Part.NUMBER,
    "VERB": Part.VERB,
    "ADJ": Part.ADJECTIVE,
    "ADV": Part.ADVERB,
    "X": Part.OTHER,
}
"""Universal part of speech → part; all others are function words."""


class _Analysed(NamedTuple):
    """What is cached: everything but the meaning of relative times."""

    question: Question
    marks: Sequence[Mark]


def analyze_question(text: str, *, now: int | None = None) -> Question:
    """What `text` asks for.

    Args:
        text: anything; no text is refused, though a blank one has no terms.
        now: the day on which it is asked, as a moment in µs UTC since 1970: the time of the store's newest
            event, never that of a clock. "Last week" or "in May" have no interval without it.
    """
    found = _cached(text) if len(text) <= _CACHED_CHARS_MAX else _analyzed(text)
    if now is None or not found.marks:
        return found.question
    return found.question._replace(times=_times(text, found.marks, now))


def _analyzed(text: str) -> _Analysed:
    safe = clean(text)
    pieces = split(safe)
    first, last = core_of(pieces)
    whole = last - first == len(pieces)
    core = text if whole else text[pieces[first].start : pieces[last - 1].end]
    terms = tuple(analyze_query(core))
    window = _window(pieces)
    if not window:
        return _Analysed(Question(text, core, (), terms, (), (), (), (), Ask.OTHER, RULES), ())
    read = safe[: window[-1].end]
    all_marks = find_times(read)
    inside, parts = window[first:last], _parts(read, window, all_marks)[first:last]
    quoted = quotations(inside)
    for i in (i for start, end in quoted for i in range(start, end)):
        if inside[i].word and inside[i].low not in STOP_WORDS:
            parts[i] = Part.PROPER
    words = tuple(
        Word(piece.text, part, word_terms)
        for piece, part in zip(inside, parts, strict=True)
        if part is not None and (word_terms := tuple(analyze_query(piece.text)))
    )
    marks = [
        mark for mark in all_marks if inside and inside[0].start <= mark.start and mark.end <= inside[-1].end
    ]
    question = Question(
        text=text,
        core=core,
        words=words,
        terms=terms,
        nouns=_among(terms, words, _NOUNS),
        names=_among(terms, words, frozenset({Part.PROPER})),
        entities=find_entities(text, inside, parts, quoted, frozenset(terms)),
        times=(times := _times(text, marks, None)),
        ask=kind_of(pieces, first, dated=any(time.start is not None for time in times)),
        pipeline=RULES,
    )
    return _Analysed(question, marks)


_cached = lru_cache(maxsize=_CACHED_QUESTIONS)(_analyzed)


def _window(pieces: list[Token]) -> list[Token]:
    """The pieces up to the last word that has a part of speech; none if there is no word."""
    words = [i for i, piece in enumerate(pieces) if piece.word]
    return pieces if 0 < len(words) <= WORDS_MAX else pieces[: words[WORDS_MAX - 1] + 1] if words else []


def _parts(text: str, pieces: Sequence[Token], times: Sequence[Mark]) -> list[Part | None]:
    """The part of each piece; None for marks. Times and identifiers are told by their shape."""
    found: list[Part | None] = []
    left = iter(times)
    time = next(left, None)
    for piece, part in zip(pieces, parts_of(text, pieces), strict=True):
        while time is not None and time.end <= piece.start:
            time = next(left, None)
        if not piece.word:
            found.append(None)
        elif time is not None and time.start < piece.end:
            found.append(Part.TIME)
        elif is_identifier(piece.text):
            found.append(Part.PROPER)
        else:
            found.append(_PARTS.get(part, Part.FUNCTION))
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
