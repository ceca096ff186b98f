"""Turn spans of text into the pieces of a document, for all text formats, and parse plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath

from engine.base.limits import TAGS_PER_ATOM_MAX
from engine.files.ingest.asides import Lines
from engine.files.ingest.documents import ATOM_TOKENS, Document, Piece, Reference, Skipped
from engine.files.ingest.field_values import content_problem, title_of
from engine.files.ingest.split import Block, Section, split
from engine.followers.names import PAGE
from proofs.further import Scalar
from proofs.sets import tag_identity

_BLANK_LINE = re.compile(r"^[^\S\n]*\n", re.MULTILINE)


@dataclass(slots=True)
class Cut:
    """A span of text that becomes a piece, with the tags and links collected for it."""

    span: tuple[int, int]
    title: str | None
    tags: list[str] = field(default_factory=list)
    links: list[Reference] = field(default_factory=list)
    content: str | None = None
    """The content of the piece, or None if the content is the text of the span."""
    meta: dict[str, Scalar] = field(default_factory=dict)


def document(
    text: str,
    source: str,
    title: str | None,
    cuts: Iterable[Cut],
    *,
    tags: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    created: int | None = None,
    line_at: Callable[[int], int] | None = None,
    left_out: int = 0,
) -> tuple[Document, tuple[Skipped, ...]]:
    """Return the document made of `cuts`, and reports of what was left out.

    `cuts` must be in the order of the file. Pieces whose content is invalid (`content_problem`) and tags
    beyond `TAGS_PER_ATOM_MAX` are left out. The tags of the file precede the tags of each piece. The first
    piece has the `aliases`. `created` is the creation time that is stated in the file, in µs UTC. `line_at`
    returns the number of the line at an offset of `text`. `left_out` is the number of parts that were left
    out of `text`.
    """
    line_at = line_at or Lines(text).at
    named = {} if title is None or title == file_title(source) else {PAGE: title}
    seen: Counter[str] = Counter()
    pieces: list[Piece] = []
    skipped: list[Skipped] = []
    for cut in cuts:
        start, end = cut.span
        line = line_at(start)
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
                created=created,
                id=None,
                sequence=None,
                aliases=() if pieces else aliases,
                meta=named | cut.meta or None,
            )
        )
        seen[content] += 1
    return Document(source, title, tuple(pieces), left_out), tuple(skipped)


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
