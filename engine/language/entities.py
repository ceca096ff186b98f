"""What a question is about: its names and quoted phrases, then its nouns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from engine.language.lexicon import GENERIC, NAME_PARTICLES
from engine.language.model import Entity, Part
from engine.language.parts import abbreviates
from engine.language.pieces import Piece, bare
from engine.text.analyzer import analyze_query

ENTITIES_MAX: Final = 8
_PARTICLES_MAX: Final = 3

Range = tuple[int, int]
"""From the first piece to the one after the last."""


def find_entities(
    text: str,
    pieces: Sequence[Piece],
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
    pieces: Sequence[Piece], parts: Sequence[Part | None], blocks: Sequence[Range]
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


def _continues(pieces: Sequence[Piece], parts: Sequence[Part | None], names: Sequence[bool], at: int) -> int:
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


def _noun_runs(pieces: Sequence[Piece], parts: Sequence[Part | None]) -> Iterator[Range]:
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


def _is_generic(pieces: Sequence[Piece], run: Range) -> bool:
    """Whether a noun stands alone and tells little."""
    word = pieces[run[0]].low
    return run[1] - run[0] == 1 and (word in GENERIC or word.removesuffix("s") in GENERIC)
