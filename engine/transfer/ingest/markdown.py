"""Markdown (CommonMark and tables) to atoms: one or more a section, with their tags and links."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate

from markdown_it import MarkdownIt

from engine.transfer.ingest.checks import title_of
from engine.transfer.ingest.documents import ATOM_TOKENS, Document, Reference, Skipped
from engine.transfer.ingest.frontmatter import read_frontmatter
from engine.transfer.ingest.inline import marks, plain
from engine.transfer.ingest.pieces import Cut, document, stem
from engine.transfer.ingest.split import Block, Section, split

_NESTING_MAX = 20
"""Deeper quotes and lists are not looked into; their text stays in the block they are in."""
_WINDOW = 64 << 10
"""How many characters the parser sees at once."""
_WHOLE = frozenset({"fence", "code_block", "table_open", "html_block"})


@dataclass(frozen=True, slots=True)
class _Outline:
    """The blocks of a file, in order, and where its paragraphs are."""

    blocks: list[tuple[Block, str | None]]
    """Each with the text of the heading that it is, markup and all; None for any other block."""
    paragraphs: list[tuple[int, int]]
    """The stretches that can hold tags and links: no code, no HTML."""


@dataclass(slots=True)
class _Top:
    """A block that is not nested in another one, while its parts are read."""

    start: int
    whole: bool
    heading: str | None = None
    cuts: list[int] = field(default_factory=list)

    def block(self, end: int) -> tuple[Block, str | None]:
        """The block, which ends where the next one begins."""
        return Block(self.start, end, tuple(self.cuts), self.whole), self.heading


def parse_markdown(
    text: str, source: str, *, tokens_max: int = ATOM_TOKENS
) -> tuple[Document, tuple[Skipped, ...]]:
    r"""The document that `text` is, and what of it could not go in.

    A file is cut at its headings, and sections over `tokens_max` estimated tokens between their
    blocks, items, lines, sentences, words. A heading without text of its own goes with what follows
    it, the last one of a file with what precedes it. Apart from frontmatter and blank lines every
    line is in exactly one piece, in order. Frontmatter that cannot be read is kept as content, and
    reported. Link reference definitions are text; HTML blocks and code hold no tags or links.

    The lines of `text`, a decoded file, end with `\n`; `tokens_max` is at least 8. The last component of
    `source` names pieces that have no other title. The document may be without pieces. Pieces with a
    `content_problem` are reported.
    """
    front = read_frontmatter(text)
    outline = _Outline([], [])
    if front.broken:
        # Read up to its closing fence, which would turn the lines above it into a heading.
        _add(outline, text, 0, front.closing)
    _add(outline, text, front.closing if front.broken else front.end, len(text))
    sections, headings = _sections(outline)
    title = front.title or stem(source)
    cuts = [Cut(span, headings[number] or title) for span, number in split(text, sections, tokens_max)]
    _place_marks(text, outline.paragraphs, cuts)
    made, skipped = document(text, source, title, cuts, tags=front.tags, created=front.created)
    if front.broken:
        reason = f"frontmatter kept as text: {front.broken}"
        return made, (Skipped(source, reason, 1, kept=True), *skipped)
    return made, skipped


@cache
def _parser() -> MarkdownIt:
    """Blocks only: inline markup is not needed, and link reference definitions are content."""
    parser = MarkdownIt("commonmark", {"maxNesting": _NESTING_MAX}).enable("table").disable("reference")
    parser.core.ruler.enableOnly(["block"])
    return parser


def _add(outline: _Outline, text: str, offset: int, end: int) -> None:
    """Adds what stands where in `text[offset:end]`, whole lines.

    The parser's tokens can take a thousand bytes for a byte of text, so it sees a window at a time. The
    last block of a window may go on behind it, so the next window starts with that block: the
    outline is the one of the whole text, but for blocks larger than half a window.
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
    """Adds the blocks of `text[offset:stop]`; returns where the next window starts."""
    tops, paragraphs = _tops(text, offset, stop)
    if not is_last and len(tops) > 1:
        stop = tops.pop().start
    ends = [*(top.start for top in tops[1:]), stop]
    outline.blocks.extend(top.block(end) for top, end in zip(tops, ends, strict=False))
    outline.paragraphs.extend(span for span in paragraphs if span[0] < stop)
    return stop


def _tops(text: str, offset: int, stop: int) -> tuple[list[_Top], list[tuple[int, int]]]:
    """The blocks of `text[offset:stop]`, the first one from `offset`, and the stretches of its paragraphs."""
    body = text[offset:stop]
    starts = list(accumulate((len(line) + 1 for line in body.split("\n")), initial=offset))
    starts[-1] = stop
    tops: list[_Top] = []
    paragraphs: list[tuple[int, int]] = []
    tokens = _parser().parse(body)
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        at = starts[token.map[0]]
        if token.type == "inline":
            opener = tokens[number - 1]
            span = at, starts[(opener.map or token.map)[1]]
            # Every cell of a table row names the whole row.
            if not paragraphs or paragraphs[-1] != span:
                paragraphs.append(span)
            if opener.type == "heading_open" and opener.level == 0:
                tops[-1].heading = token.content
        elif token.level == 0:
            tops.append(_Top(at if tops else offset, token.type in _WHOLE))
        elif at > (tops[-1].cuts[-1] if tops[-1].cuts else tops[-1].start):
            tops[-1].cuts.append(at)
    return tops, paragraphs


def _sections(outline: _Outline) -> tuple[list[Section], list[str | None]]:
    """The sections, each with the text of the last of its headings, if it has any."""
    runs: list[tuple[list[Block], list[Block], list[str]]] = [([], [], [])]
    for block, heading in outline.blocks:
        if heading is None:
            runs[-1][1].append(block)
            continue
        if runs[-1][1]:
            runs.append(([], [], []))
        runs[-1][0].append(block)
        runs[-1][2].append(heading)
    if len(runs) > 1 and not runs[-1][1]:
        bare = runs.pop()
        runs[-1][1].extend(bare[0])
    sections = [Section(tuple(headings), tuple(body)) for headings, body, _ in runs]
    return sections, [title_of(plain(texts[-1])) if texts else None for _, _, texts in runs]


def _place_marks(text: str, paragraphs: Iterable[tuple[int, int]], cuts: list[Cut]) -> None:
    """Gives every tag and link to the cut it begins in."""
    starts = [cut.span[0] for cut in cuts]
    for start, end in paragraphs:
        if text.find("#", start, end) < 0 and text.find("[", start, end) < 0:
            continue
        for at, mark in marks(text, start, end):
            cut = cuts[bisect_right(starts, at) - 1]
            if isinstance(mark, Reference):
                cut.links.append(mark)
            else:
                cut.tags.append(mark)
