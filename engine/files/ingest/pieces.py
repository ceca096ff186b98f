"""Split a text into pieces of about the size of an atom, for all text formats, and parse plain text.

A text is given as sections of adjacent blocks. Consecutive blocks are joined while the span is not too large.
A block that is too large by itself is split at the offsets in `cuts`, then at line ends, after sentences,
between words, and finally between any two characters. Concatenated, the spans are the original text
except for blank lines.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from engine.base.limits import TAGS_PER_ATOM_MAX
from engine.files.ingest.documents import ATOM_TOKENS, Document, Piece, Reference, Skipped
from engine.files.ingest.field_values import content_problem, title_of
from engine.files.ingest.written_dates import time_of_page
from engine.followers.names import PAGE
from engine.text.token_estimate import estimate_tokens
from proofs.leaves import tag_identity

_BLANK_LINE = re.compile(r"^[^\S\n]*\n", re.MULTILINE)

_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")

_SENTENCES: Final = re.compile(r"(?<=[.!?…])[ \t]+|(?<=[。！？])")

_WORDS: Final = re.compile(r"[ \t\u3000]+")

_TOKENS_PER_CHARACTER_MAX: Final = 3

_URL: Final = re.compile(r"\S{0,1024}?https?://\S+\s*")
_URL_CHARS_MAX: Final = 1 << 14
"""The maximum length of a URL that is kept in one piece although it is larger than a piece, in characters."""

Span = tuple[int, int]


@dataclass(slots=True)
class Cut:
    """A span of text that becomes a piece, with the tags and links collected for it."""

    span: tuple[int, int]
    title: str | None
    tags: list[str] = field(default_factory=list)
    links: list[Reference] = field(default_factory=list)
    content: str | None = None
    """The content of the piece, or None if the content is the text of the span."""
    created: int | None = None
    """The day of the section in µs UTC, if a heading above it is a date."""


def document(
    text: str,
    source: str,
    title: str | None,
    cuts: Iterable[Cut],
    *,
    tags: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    created: int | None = None,
) -> tuple[Document, tuple[Skipped, ...]]:
    """Return the document made of `cuts`, and reports of what was left out.

    `cuts` must be in the order of the file. Pieces whose content is invalid (`content_problem`) and tags
    beyond `TAGS_PER_ATOM_MAX` are left out. The tags of the file precede the tags of each piece. The first
    piece has the `aliases`. `created` is the time that is stated in the file, in µs UTC; `time_of_page` says
    when a date in the name of the file counts. Pieces of a section with a day are of this day.
    """
    line, counted = 1, 0
    created = time_of_page(source, created)
    named = {} if title is None or title == file_title(source) else {PAGE: title}
    seen: Counter[str] = Counter()
    pieces: list[Piece] = []
    skipped: list[Skipped] = []
    for cut in cuts:
        start, end = cut.span
        line += text.count("\n", counted, start)
        counted = start
        content = text[start:end] if cut.content is None else cut.content
        if (reason := content_problem(content)) is not None:
            skipped.append(Skipped(source, reason, line, kind="text"))
            continue
        piece_tags = distinct_tags((*tags, *cut.tags))
        if len(piece_tags) > TAGS_PER_ATOM_MAX:
            reason = f"only the first {TAGS_PER_ATOM_MAX} of {len(piece_tags)} tags are kept"
            skipped.append(Skipped(source, reason, line))
        pieces.append(
            Piece(
                content=content,
                title=cut.title,
                tags=piece_tags[:TAGS_PER_ATOM_MAX],
                occurrence=seen[content],
                links=tuple(dict.fromkeys(cut.links)),
                created=created if cut.created is None else cut.created,
                id=None,
                sequence=None,
                aliases=() if pieces else aliases,
                meta=named or None,
            )
        )
        seen[content] += 1
    return Document(source, title, tuple(pieces)), tuple(skipped)


def distinct_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags in the same order without duplicates, keeping the first spelling of each tag."""
    spellings: dict[str, str] = {}
    for tag in tags:
        spellings.setdefault(tag_identity(tag), tag)
    return tuple(spellings.values())


def file_title(source: str) -> str | None:
    """Return the file name without the suffix as a title, or None if the name is not valid as a title."""
    return title_of(PurePosixPath(source).stem)


def parse_plain(
    text: str, source: str, *, tokens_max: int = ATOM_TOKENS
) -> tuple[Document, tuple[Skipped, ...]]:
    r"""Parse plain text into a document, and report what cannot be ingested.

    Paragraphs, separated by blank lines, are joined up to `tokens_max` estimated tokens. Longer paragraphs
    are split at line ends, after sentences, or between words. Each line that is not blank is in exactly one
    piece, in order. Plain text has no tags and no links, and its title is the file name.

    The lines of `text`, a decoded file, end with `\n`, and `tokens_max` is at least 8. The document may have
    no pieces. Pieces with a `content_problem` are skipped and reported.
    """
    title = file_title(source)
    cuts = (Cut(span, title) for span, _ in split(text, [Section((), blocks_of(text))], tokens_max))
    return document(text, source, title, cuts)


def blocks_of(text: str, offset: int = 0) -> tuple[Block, ...]:
    """Return the paragraphs of plain text; `offset` is the offset of `text` in the text of the file."""
    edges = [0, *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)]
    return tuple(Block(offset + start, offset + end) for start, end in pairwise(edges) if start < end)


@dataclass(frozen=True, slots=True)
class Block:
    """A coherent part of a text: a heading, a paragraph or a list.

    Offsets are in characters. A block begins at the end of the block before it and includes blank lines.
    """

    start: int
    end: int
    cuts: tuple[int, ...] = ()
    """The offsets where the block is split first, ascending: the starts of list items or parts of a quote."""
    whole: bool = False
    """True to keep the block (a fence or table) in one span if it fits, even without its heading."""
    attached: bool = False
    """True to keep the block with the block before it, whatever its size."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its headings and its body. It has several headings if the first headings have no body."""

    headings: tuple[Block, ...]
    body: tuple[Block, ...]


def split(text: str, sections: Sequence[Section], tokens_max: int) -> Iterator[tuple[Span, int]]:
    """Yield the spans of `text` that are not blank, each with the index of its section, in order.

    Args:
        text: The text to which the offsets of the blocks refer.
        sections: The sections. A span never covers parts of two sections.
        tokens_max: The maximum number of tokens of a span according to `estimate_tokens`, at least 8.

    Raises:
        ValueError: `tokens_max` is less than 8.
    """
    if tokens_max < 8:
        raise ValueError(f"tokens_max is {tokens_max}; it must be at least 8")
    for number, section in enumerate(sections):
        for start, end in _pack(text, section, tokens_max):
            if (span := trimmed(text, start, end)) is not None:
                yield span, number


def trimmed(text: str, start: int, end: int) -> Span | None:
    """Return the span without blank lines at its start and end, or None if it is blank.

    The indentation of the first line and the spaces at the end of the last line are kept, unless the span
    begins or ends in the middle of a line.
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
    """Yield the spans of a section: blocks are joined while they fit, and split if they do not fit."""
    blocks = (*section.headings, *section.body)
    if not blocks:
        return
    start, end = blocks[0].start, blocks[-1].end
    if estimate_tokens(text[start:end]) <= tokens_max:
        yield start, end
        return
    cost = 0
    for number, block in enumerate(blocks):
        block_cost = 0 if block.attached else estimate_tokens(text[block.start : block.end])
        # A heading alone is not a useful atom, so the block after it is split rather than separated from it.
        after_heading = number == len(section.headings)
        fits = block_cost <= tokens_max
        joins = cost + block_cost <= tokens_max
        keep = joins or (fits and (block.whole or not after_heading))
        units = [(block.start, block_cost)] if keep else _divide(text, block, tokens_max)
        for unit_start, unit_cost in units:
            if cost + unit_cost > tokens_max and start < unit_start:
                yield start, unit_start
                start, cost = unit_start, 0
            cost += unit_cost
    yield start, end


def _divide(text: str, block: Block, tokens_max: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the cost in tokens of each part of `block`.

    The block is divided at its `cuts` or at line ends, and parts that are still too large are divided
    further.
    """
    if not block.cuts:
        return _refine(text, _lines(text, block.start, block.end, tokens_max), tokens_max, 1)
    return _refine(text, pairwise([block.start, *block.cuts, block.end]), tokens_max, 0)


def _refine(text: str, units: Iterable[Span], tokens_max: int, level: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the cost in tokens of each span; divide spans over `tokens_max` further."""
    for start, end in units:
        cost = estimate_tokens(text[start:end])
        if cost <= tokens_max or level == len(_DIVISIONS):
            yield start, cost
        else:
            yield from _refine(text, _DIVISIONS[level](text, start, end, tokens_max), tokens_max, level + 1)


def _lines(text: str, start: int, end: int, _: int) -> Iterator[Span]:
    """Divide a span into lines, each with its line end."""
    return (match.span() for match in _LINES.finditer(text, start, end))


def _after(pattern: re.Pattern[str]) -> Callable[[str, int, int, int], Iterator[Span]]:
    """Return a function that divides a span after each match of `pattern`."""

    def divide(text: str, start: int, end: int, _: int) -> Iterator[Span]:
        here = start
        for match in pattern.finditer(text, start, end):
            yield here, match.end()
            here = match.end()
        yield here, end

    return divide


def _characters(text: str, start: int, end: int, tokens_max: int) -> Iterator[Span]:
    """Divide a span between any two characters. No part is too large, whatever the text is.

    If possible, no part begins with a combining mark. A URL that is not too long is one part.
    """
    if end - start <= _URL_CHARS_MAX and _URL.fullmatch(text, start, end):
        yield start, end
        return
    step = tokens_max // _TOKENS_PER_CHARACTER_MAX
    while end - start > step:
        cuts = range(start + step, start, -1)
        cut = next((at for at in cuts if not unicodedata.combining(text[at])), start + step)
        yield start, cut
        start = cut
    yield start, end


_DIVISIONS: Final = (_lines, _after(_SENTENCES), _after(_WORDS), _characters)
