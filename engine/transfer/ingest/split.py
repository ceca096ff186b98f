"""Cutting a text into spans of about the size of an atom, losing nothing.

A text is given as sections of blocks that touch each other. Blocks are packed in order while they
fit; a block that is too large by itself is broken at the places it names, then at line ends, after
sentences, between words, and in the end anywhere. Every cut lies between two blocks, lines,
sentences, words or characters of the original, so that the spans, joined, are the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from engine.text.tokens import estimate_tokens

_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")
_SENTENCES: Final = re.compile(r"(?<=[.!?…])[ \t]+|(?<=[。！？])")
_WORDS: Final = re.compile(r"[ \t\u3000]+")
_TOKENS_PER_CHARACTER_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text that belongs together: a heading, a paragraph or a list.

    Offsets are in characters; a block begins where the one before it ends, blank lines and all.
    """

    start: int
    end: int
    cuts: tuple[int, ...] = ()
    """Offsets inside the block where it breaks best, ascending: items of a list, parts of a quote."""
    whole: bool = False
    """Keep together if it fits at all, even if its heading then stands alone (fences, tables)."""


@dataclass(frozen=True, slots=True)
class Section:
    """The headings that open a section, several where the first ones have no body, then its body."""

    headings: tuple[Block, ...]
    body: tuple[Block, ...]


Span = tuple[int, int]


def split(text: str, sections: Sequence[Section], tokens_max: int) -> Iterator[tuple[Span, int]]:
    """The spans of `text`, each with the number of its section, in order; blank ones are left out.

    Args:
        text: the text that the blocks are stretches of.
        sections: no span crosses from one into the next.
        tokens_max: no span costs more, by `estimate_tokens`; at least 8.
    """
    if tokens_max < 8:
        raise ValueError(f"tokens_max is {tokens_max}, at least 8 is needed")
    for number, section in enumerate(sections):
        for start, end in _pack(text, section, tokens_max):
            if (span := trimmed(text, start, end)) is not None:
                yield span, number


def trimmed(text: str, start: int, end: int) -> Span | None:
    """The span without outer blank lines, or None if nothing else is in it.

    The indentation of the first line and the spaces at the end of the last stay, unless the span
    was cut there in the middle of a line.
    """
    piece = text[start:end]
    inner = piece.strip()
    if not inner:
        return None
    lead = len(piece) - len(piece.lstrip())
    tail = len(piece.rstrip())
    line_start = piece.rfind("\n", 0, lead) + 1
    if line_start == 0 and start > 0 and text[start - 1] != "\n":
        line_start = lead
    line_end = piece.find("\n", tail)
    if line_end < 0:
        line_end = len(piece) if end == len(text) or text[end] == "\n" else tail
    return start + line_start, start + line_end


def _pack(text: str, section: Section, tokens_max: int) -> Iterator[Span]:
    """The spans of one section: blocks while they fit, broken ones where they do not."""
    blocks = (*section.headings, *section.body)
    if not blocks:
        return
    start, end = blocks[0].start, blocks[-1].end
    if estimate_tokens(text[start:end]) <= tokens_max:
        yield start, end
        return
    cost = 0
    for number, block in enumerate(blocks):
        block_cost = estimate_tokens(text[block.start : block.end])
        # A heading alone is a poor atom: what follows it is broken rather than moved away from it.
        after_heading = number == len(section.headings)
        fits = block_cost <= tokens_max
        joins = cost + block_cost <= tokens_max
        keep = joins or (fits and (block.whole or not after_heading))
        units = [(block.start, block_cost)] if keep else _broken(text, block, tokens_max)
        for unit_start, unit_cost in units:
            if cost + unit_cost > tokens_max and start < unit_start:
                yield start, unit_start
                start, cost = unit_start, 0
            cost += unit_cost
    yield start, end


def _broken(text: str, block: Block, tokens_max: int) -> Iterator[tuple[int, int]]:
    """The starts and costs of the parts of `block`, its own or its lines; finer ones over `tokens_max`."""
    if not block.cuts:
        return _refine(text, _lines(text, block.start, block.end, tokens_max), tokens_max, 1)
    return _refine(text, pairwise([block.start, *block.cuts, block.end]), tokens_max, 0)


def _refine(text: str, units: Iterable[Span], tokens_max: int, level: int) -> Iterator[tuple[int, int]]:
    """The units that fit as they are, the others by the next finer division."""
    for start, end in units:
        cost = estimate_tokens(text[start:end])
        if cost <= tokens_max:
            yield start, cost
        else:
            yield from _refine(text, _DIVISIONS[level](text, start, end, tokens_max), tokens_max, level + 1)


def _lines(text: str, start: int, end: int, _: int) -> Iterator[Span]:
    """Each with its line end."""
    return (match.span() for match in _LINES.finditer(text, start, end))


def _after(pattern: re.Pattern[str]) -> Callable[[str, int, int, int], Iterator[Span]]:
    """A division after every match of `pattern`."""

    def divide(text: str, start: int, end: int, _: int) -> Iterator[Span]:
        here = start
        for match in pattern.finditer(text, start, end):
            yield here, match.end()
            here = match.end()
        yield here, end

    return divide


def _characters(text: str, start: int, end: int, tokens_max: int) -> Iterator[Span]:
    """Stretches that fit whatever they hold, not cut in front of a combining mark."""
    step = tokens_max // _TOKENS_PER_CHARACTER_MAX
    while end - start > step:
        cuts = range(start + step, start, -1)
        cut = next((at for at in cuts if not unicodedata.combining(text[at])), start + step)
        yield start, cut
        start = cut
    yield start, end


_DIVISIONS: Final = (_lines, _after(_SENTENCES), _after(_WORDS), _characters)
