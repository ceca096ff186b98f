"""The analysis of a question (docs/recall.md, The question).

    text ── pieces ──▶ words and marks ──▶ parts of speech, names, times
              │                                     │
              └── phrasing ──▶ core ──▶ terms ──▶ terms of nouns ──▶ terms of names

Terms come from the analyzer, so they match the terms in the index; the other steps only choose among these
terms. The analysis is a pure function of the text and of `now`, and uses rules and word lists alone. It
accepts every text. Only the first 2,000 words of a text are assigned parts of speech. Later words are search
terms, but they are not included in the words and entities of the result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from engine.text.analyzer import STOP_WORDS, analyze_query
from engine.text.language.calendar import day_of, resolve
from engine.text.language.lexicon import GENERIC, NAME_PARTICLES
from engine.text.language.parts_of_speech import abbreviates, parts_of
from engine.text.language.phrasing import asks_when, core_of
from engine.text.language.question_model import RULES, Entity, Part, Question, TimeSpan, Word
from engine.text.language.time_mentions import TimeMention, find_times
from engine.text.language.tokenizer import Token, bare, clean, is_identifier, quotations, split

ENTITIES_MAX: Final = 8
_PARTICLES_MAX: Final = 3

Range = tuple[int, int]
"""A range of pieces: the index of the first piece, and the index after the last piece."""

WORDS_MAX: Final = 2_000
"""The maximum number of words that are assigned parts of speech: about 12 KiB of English text."""

_CACHED_CHARS_MAX: Final = 1_000

_CACHED_QUESTIONS: Final = 256

_NOUNS: Final = frozenset({Part.PROPER, Part.NOUN, Part.NUMBER, Part.TIME, Part.OTHER})


_CACHED_WORD_CHARS_MAX: Final = 40

_CACHED_WORDS: Final = 4_096


def find_entities(
    text: str,
    pieces: Sequence[Token],
    parts: Sequence[Part | None],
    blocks: Sequence[Range],
    among: Collection[str],
) -> tuple[Entity, ...]:
    """Return at most ENTITIES_MAX subjects of the question: names in the order of the text, then nouns.

    Args:
        text: The question.
        pieces: The words and marks of the question's core.
        parts: The part of speech of each piece; None for marks.
        blocks: The ranges of quoted phrases. Each phrase is one entity, and the ranges do not overlap.
        among: The terms of the question. An entity that contains none of these terms is omitted.
    """
    names = sorted([*blocks, *_name_runs(pieces, parts, blocks)])
    nouns = [run for run in _noun_runs(pieces, parts) if not _overlaps(run, names)]
    nouns.sort(key=lambda run: _is_generic(pieces, run))  # the sort is stable: it keeps the order of the text
    entities: dict[frozenset[str], Entity] = {}
    for first, last in [*names, *nouns]:
        shown = bare(text[pieces[first].start : pieces[last - 1].end])
        terms = tuple(term for term in _terms_of(shown) if term in among)
        if terms:
            entities.setdefault(frozenset(terms), Entity(shown, terms, (first, last) in names))
        if len(entities) == ENTITIES_MAX:
            break
    return tuple(entities.values())


def _name_runs(
    pieces: Sequence[Token], parts: Sequence[Part | None], blocks: Sequence[Range]
) -> Iterator[Range]:
    """Yield the range of each name outside `blocks`: adjacent proper nouns, with particles and numbers."""
    covered = {i for first, last in blocks for i in range(first, last)}
    names = [part is Part.PROPER and i not in covered for i, part in enumerate(parts)]
    i = 0
    while i < len(pieces):
        if not names[i]:
            i += 1
            continue
        last = i + 1
        while following := _extended_end(pieces, parts, names, last):
            last = following
        yield i, last
        i = last


def _extended_end(
    pieces: Sequence[Token], parts: Sequence[Part | None], names: Sequence[bool], at: int
) -> int:
    """Return the new end of a name that continues at index `at`, or 0 if the name ends before `at`."""
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
    """Return True if an identifier is a name by itself and is never part of a longer name."""
    return word[0] in "@#" or "/" in word or "_" in word


def _noun_runs(pieces: Sequence[Token], parts: Sequence[Part | None]) -> Iterator[Range]:
    """Yield each range of adjacent common nouns, or of adjacent words of unknown part of speech."""
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
    """Return True if the range `run` is a single generic noun, which says little about the subject."""
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
"""Universal part of speech → `Part`. All other parts of speech are function words."""


class _Analysis(NamedTuple):
    """A cached analysis of a question. Relative times do not have intervals yet."""

    question: Question
    mentions: Sequence[TimeMention]


def analyze_question(text: str, *, now: int | None = None) -> Question:
    """Return the analysis of a question.

    Args:
        text: The question. All texts are accepted; a blank text has no terms.
        now: The time of the question in µs UTC since 1970. Callers pass the time of the store's newest event,
            never the time of a clock. Only the day is used. If `now` is None, "last week" and "in May" have
            no interval.
    """
    analysis = _cached(text) if len(text) <= _CACHED_CHARS_MAX else _analyzed(text)
    if now is None or not analysis.mentions:
        return analysis.question
    return analysis.question._replace(times=_times(text, analysis.mentions, now))


def _analyzed(text: str) -> _Analysis:
    safe = clean(text)
    pieces = split(safe)
    first, last = core_of(pieces)
    whole = last - first == len(pieces)
    core = text if whole else text[pieces[first].start : pieces[last - 1].end]
    terms = tuple(analyze_query(core))
    window = _window(pieces)
    if not window:
        return _Analysis(Question(text, core, (), terms, (), (), (), (), False, RULES), ())
    read = safe[: window[-1].end]
    all_mentions = find_times(read)
    inside, parts = window[first:last], _parts(window, all_mentions)[first:last]
    quoted = quotations(inside)
    for i in (i for start, end in quoted for i in range(start, end)):
        if inside[i].word and inside[i].low not in STOP_WORDS:
            parts[i] = Part.PROPER
    words = tuple(
        Word(piece.text, part, word_terms)
        for piece, part in zip(inside, parts, strict=True)
        if part is not None and (word_terms := _terms_of(piece.text))
    )
    mentions = [
        mention
        for mention in all_mentions
        if inside and inside[0].start <= mention.start and mention.end <= inside[-1].end
    ]
    question = Question(
        text=text,
        core=core,
        words=words,
        terms=terms,
        nouns=_among(terms, words, _NOUNS),
        names=_among(terms, words, frozenset({Part.PROPER})),
        entities=find_entities(text, inside, parts, quoted, frozenset(terms)),
        times=_times(text, mentions, None),
        asks_when=asks_when(pieces[first:]),
        pipeline=RULES,
    )
    return _Analysis(question, mentions)


_cached = lru_cache(maxsize=_CACHED_QUESTIONS)(_analyzed)


def _terms_of(text: str) -> tuple[str, ...]:
    """Return the terms of a word or a short phrase."""
    return _cached_terms(text) if len(text) <= _CACHED_WORD_CHARS_MAX else tuple(analyze_query(text))


@lru_cache(maxsize=_CACHED_WORDS)
def _cached_terms(text: str) -> tuple[str, ...]:
    # Questions repeat words, and analysing every word again takes a third of the analysis (measured).
    return tuple(analyze_query(text))


def _window(pieces: list[Token]) -> list[Token]:
    """Return the pieces up to word number WORDS_MAX, or an empty list if there are no words."""
    words = [i for i, piece in enumerate(pieces) if piece.word]
    return pieces if 0 < len(words) <= WORDS_MAX else pieces[: words[WORDS_MAX - 1] + 1] if words else []


def _parts(pieces: Sequence[Token], times: Sequence[TimeMention]) -> list[Part | None]:
    """Return the part of speech of each piece, or None for a mark.

    A piece of a mention of a time is always TIME. An identifier outside mentions of times is always PROPER.
    """
    parts: list[Part | None] = []
    remaining = iter(times)
    time = next(remaining, None)
    for piece, part in zip(pieces, parts_of(pieces), strict=True):
        while time is not None and time.end <= piece.start:
            time = next(remaining, None)
        if not piece.word:
            parts.append(None)
        elif time is not None and time.start < piece.end:
            parts.append(Part.TIME)
        elif is_identifier(piece.text):
            parts.append(Part.PROPER)
        else:
            parts.append(_PARTS.get(part, Part.FUNCTION))
    return parts


def _among(terms: tuple[str, ...], words: Sequence[Word], parts: frozenset[Part]) -> tuple[str, ...]:
    matching = {term for word in words if word.part in parts for term in word.terms}
    return tuple(term for term in terms if term in matching)


def _times(text: str, mentions: Sequence[TimeMention], now: int | None) -> tuple[TimeSpan, ...]:
    today = None if now is None else day_of(now)
    intervals = ((mention, resolve(mention.when, today)) for mention in mentions)
    return tuple(
        TimeSpan(text[mention.start : mention.end], *(interval or (None, None)))
        for mention, interval in intervals
    )
