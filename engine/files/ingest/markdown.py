"""Split Markdown (CommonMark with tables) into pieces, one or more per section, with their tags and links."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Final, NamedTuple

from markdown_it import MarkdownIt

from engine.files.ingest.documents import ATOM_TOKENS, Document, Reference, Skipped
from engine.files.ingest.field_values import title_of
from engine.files.ingest.markdown_metadata import marks, read_frontmatter, without_markup
from engine.files.ingest.pieces import (
    Block,
    Cut,
    Section,
    Span,
    document,
    file_title,
    split,
)
from engine.files.ingest.written_dates import date_in_heading

_NESTING_MAX = 20
"""The maximum nesting of quotes and lists.

Text that is nested deeper is kept in its block without parsing.
"""
_WINDOW = 64 << 10
"""The number of characters that are parsed in one step."""
_WHOLE = frozenset({"fence", "code_block", "table_open", "html_block"})
"""The types of blocks that are kept in one piece if they are not too large."""

_ADDRESS: Final = re.compile(
    r"\[[^\[\]\n]{0,512}\]\(<?https?://[^\s<>()]{1,2048}(?:\s\"[^\"\n]{0,512}\")?>?\)"
    r"|https?://[^\s<>]+|</?[A-Za-z][^<>]{0,1024}>"
)
_FOOTER_CHARS_MAX: Final = 4096
_WORD: Final = re.compile(r"[^\W_]")


class _Part(NamedTuple):
    """A top-level block."""

    block: Block
    heading: str | None
    """The text of a heading, including markup; None if the block is not a heading."""
    level: int
    """The level of a heading, 1 to 6; otherwise 0."""


@dataclass(frozen=True, slots=True)
class _Outline:
    """The blocks and the paragraphs of a file, in order."""

    blocks: list[_Part]
    paragraphs: list[Span]
    """The spans that can contain tags and links; code and HTML are excluded."""


@dataclass(slots=True)
class _TopBlock:
    """A top-level block whose parts are still being read."""

    start: int
    type: str
    heading: str | None = None
    level: int = 0
    cuts: list[int] = field(default_factory=list)

    def part(self, end: int) -> _Part:
        """Return the finished block; `end` is the start of the next block."""
        block = Block(self.start, end, tuple(self.cuts), self.type in _WHOLE)
        return _Part(block, self.heading, self.level)


def parse_markdown(
    text: str, source: str, *, tokens_max: int = ATOM_TOKENS
) -> tuple[Document, tuple[Skipped, ...]]:
    r"""Parse `text` into a document, and report what cannot be ingested.

    A file is split at its headings. Sections over `tokens_max` estimated tokens are split further: between
    blocks, list items, lines, sentences or words. A heading without a body is joined to the following
    section; at the end of the file, it is joined to the section before it, as is a section with nothing but
    addresses of the web. Except for frontmatter and blank lines, each line is in exactly one piece, in order.
    If nothing is left of a file,
    its only piece is its title, unless the file is blank. Frontmatter that cannot be parsed is kept as
    content and reported. Link reference definitions are kept as text. HTML blocks and code contain no tags
    or links.

    The lines of `text`, a decoded file, end with `\n`, and `tokens_max` is at least 8. The last component of
    `source` is the title of pieces that have no other title. The document may have no pieces. Pieces with a
    `content_problem` are skipped and reported.
    """
    front = read_frontmatter(text)
    outline = _Outline([], [])
    if front.broken:
        # Stop before the closing fence, which would turn the lines above it into a heading.
        _add(outline, text, 0, front.closing)
    _add(outline, text, front.closing if front.broken else front.end, len(text))
    title = front.title or file_title(source)
    cuts = _cuts(text, outline.blocks, title, tokens_max)
    if not cuts and title is not None and front.end:
        cuts = [Cut((0, 0), title, content=title)]
    _place_marks(text, outline.paragraphs, cuts)
    made, skipped = document(
        *(text, source, title, cuts),
        tags=front.tags,
        aliases=front.aliases,
        created=front.created,
    )
    if front.broken:
        reason = f"the frontmatter is kept as text: {front.broken}"
        return made, (Skipped(source, reason, 1, kept=True), *skipped)
    return made, skipped


@cache
def _parser() -> MarkdownIt:
    """Return a parser that reads only blocks, not inline markup, and treats link definitions as content."""
    parser = MarkdownIt("commonmark", {"maxNesting": _NESTING_MAX}).enable("table").disable("reference")
    parser.core.ruler.enableOnly(["block"])
    return parser


def _add(outline: _Outline, text: str, offset: int, end: int) -> None:
    """Add the blocks and paragraphs of `text[offset:end]`, which consists of whole lines.

    The parser's tokens can take a thousand bytes for each byte of text, so the text is parsed in windows. The
    last block of a window may continue after it, so the next window starts with that block. The outline is
    therefore the same as if the whole text were parsed in one step, except for blocks larger than half a
    window.
    """
    while offset < end:
        stop = end
        if end - offset > _WINDOW:
            stop = (
                text.rfind("\n", offset, offset + _WINDOW) + 1 or text.find("\n", offset + _WINDOW, end) + 1
            )
            stop = stop or end
        offset = _add_window(outline, text, offset, stop, is_last=stop == end)


def _add_window(outline: _Outline, text: str, offset: int, stop: int, *, is_last: bool) -> int:
    """Add the blocks of `text[offset:stop]`, and return the offset of the next window."""
    tops, paragraphs = _top_blocks(text, offset, stop)
    if not is_last and len(tops) > 1:
        stop = tops.pop().start
    ends = [*(top.start for top in tops[1:]), stop]
    outline.blocks.extend(top.part(end) for top, end in zip(tops, ends, strict=False))
    outline.paragraphs.extend(span for span in paragraphs if span[0] < stop)
    return stop


def _top_blocks(text: str, offset: int, stop: int) -> tuple[list[_TopBlock], list[tuple[int, int]]]:
    """Return the top-level blocks and the paragraphs of `text[offset:stop]`.

    The first block starts at `offset`, even if blank lines precede its text.
    """
    body = text[offset:stop]
    starts = list(accumulate((len(line) + 1 for line in body.split("\n")), initial=offset))
    starts[-1] = stop
    tops: list[_TopBlock] = []
    paragraphs: list[tuple[int, int]] = []
    tokens = _parser().parse(body)
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        at = starts[token.map[0]]
        if token.type == "inline":
            opener = tokens[number - 1]
            span = at, starts[(opener.map or token.map)[1]]
            # Each cell of a table row gives the position of the whole row.
            if not paragraphs or paragraphs[-1] != span:
                paragraphs.append(span)
            if opener.type == "heading_open" and opener.level == 0:
                tops[-1].heading, tops[-1].level = token.content, int(opener.tag[1:])
        elif token.level == 0:
            tops.append(_TopBlock(at if tops else offset, token.type))
        elif at > (tops[-1].cuts[-1] if tops[-1].cuts else tops[-1].start):
            tops[-1].cuts.append(at)
    return tops, paragraphs


def _cuts(text: str, parts: Sequence[_Part], title: str | None, tokens_max: int) -> list[Cut]:
    """Return the spans of the pieces of a file with these blocks. `title` is the title of the file."""
    sections, named = _sections(text, parts)
    return [
        Cut(span, named[number][0] or title, created=named[number][1])
        for span, number in split(text, sections, tokens_max)
    ]


def _sections(text: str, parts: Sequence[_Part]) -> tuple[list[Section], list[tuple[str | None, int | None]]]:
    """Return the sections, each with the text of its last heading (None without a heading) and its day.

    The day of a section is the date of its heading, or of the nearest heading above it that is a date. A
    section that has no body, or only addresses, belongs to the section before it.
    """
    runs: list[tuple[list[Block], list[Block]]] = [([], [])]
    named: list[tuple[str | None, int | None]] = [(None, None)]
    days: list[tuple[int, int | None]] = [(0, None)]
    for block, heading, level in parts:
        if heading is None:
            runs[-1][1].append(block)
            continue
        if runs[-1][1]:
            runs.append(([], []))
            named.append((None, None))
        plain = without_markup(heading)
        while days[-1][0] >= level:
            days.pop()
        day = date_in_heading(plain)
        days.append((level, days[-1][1] if day is None else day))
        runs[-1][0].append(block)
        named[-1] = title_of(plain), days[-1][1]
    joined: list[tuple[list[Block], list[Block]]] = []
    names: list[tuple[str | None, int | None]] = []
    for (headings, body), name in zip(runs, named, strict=True):
        if joined and not body:
            joined[-1][1].extend(headings)
        elif joined and _is_addresses(text[body[0].start : body[-1].end]):
            joined[-1][1].append(Block((*headings, *body)[0].start, body[-1].end, attached=True))
        else:
            joined.append((headings, body))
            names.append(name)
    return [Section(tuple(headings), tuple(body)) for headings, body in joined], names


def _is_addresses(text: str) -> bool:
    """Return True if a text has addresses of the web and no words, such as a footer with links to edit it."""
    if len(text) > _FOOTER_CHARS_MAX or "://" not in text:
        return False
    return _WORD.search(_ADDRESS.sub(" ", text)) is None


def _place_marks(text: str, paragraphs: Iterable[Span], cuts: list[Cut]) -> None:
    """Add each tag and link to the span (`Cut`) in which it begins, or else to the span before it.

    A tag or link before the first span is added to the first span. If there are no spans, nothing is added.
    """
    if not cuts:
        return
    starts = [cut.span[0] for cut in cuts]
    for start, end in paragraphs:
        if text.find("#", start, end) < 0 and text.find("[", start, end) < 0:
            continue
        for at, mark in marks(text, start, end):
            cut = cuts[max(0, bisect_right(starts, at) - 1)]
            if isinstance(mark, Reference):
                cut.links.append(mark)
            else:
                cut.tags.append(mark)
