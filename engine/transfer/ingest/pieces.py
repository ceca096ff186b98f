"""From spans of a text to the pieces of a document, which every format of text shares; and plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath

from engine.base.limits import TAGS_PER_ATOM_MAX
from engine.transfer.ingest.checks import content_problem, title_of
from engine.transfer.ingest.documents import ATOM_TOKENS, Document, Piece, Reference, Skipped
from engine.transfer.ingest.split import Block, Section, split
from proofs.sets import tag_identity

_BLANK_LINE = re.compile(r"^[^\S\n]*\n", re.MULTILINE)


@dataclass(slots=True)
class Cut:
    """A span of the text that becomes a piece, while its tags and links are collected."""

    span: tuple[int, int]
    title: str | None
    tags: list[str] = field(default_factory=list)
    links: list[Reference] = field(default_factory=list)


def document(
    text: str,
    source: str,
    title: str | None,
    cuts: Iterable[Cut],
    *,
    tags: tuple[str, ...] = (),
    created: int | None = None,
) -> tuple[Document, tuple[Skipped, ...]]:
    """The document made of `cuts`, which are in the order of the file, and a report of those left out.

    Pieces with a `content_problem`, and tags past `TAGS_PER_ATOM_MAX`, are left out. The tags of the file
    come before those of every piece; `created` is when the file says it was made, in µs UTC.
    """
    seen: Counter[str] = Counter()
    pieces: list[Piece] = []
    skipped: list[Skipped] = []
    line, counted = 1, 0
    for cut in cuts:
        start, end = cut.span
        line, counted = line + text.count("\n", counted, start), start
        content = text[start:end]
        if (reason := content_problem(content)) is not None:
            skipped.append(Skipped(source, reason, line))
            continue
        kept_tags = distinct((*tags, *cut.tags))
        if len(kept_tags) > TAGS_PER_ATOM_MAX:
            reason = f"only the first {TAGS_PER_ATOM_MAX} of {len(kept_tags)} tags are kept"
            skipped.append(Skipped(source, reason, line))
        pieces.append(
            Piece(
                content=content,
                title=cut.title,
                tags=kept_tags[:TAGS_PER_ATOM_MAX],
                occurrence=seen[content],
                links=tuple(dict.fromkeys(cut.links)),
                created=created,
                id=None,
                sequence=None,
            )
        )
        seen[content] += 1
    return Document(source, title, tuple(pieces)), tuple(skipped)


def distinct(tags: Iterable[str]) -> tuple[str, ...]:
    """The tags in their order, of each identity the first spelling."""
    kept: dict[str, str] = {}
    for tag in tags:
        kept.setdefault(tag_identity(tag), tag)
    return tuple(kept.values())


def stem(source: str) -> str | None:
    """The name of the file without its suffix, as a title."""
    return title_of(PurePosixPath(source).stem)


def parse_plain(
    text: str, source: str, *, tokens_max: int = ATOM_TOKENS
) -> tuple[Document, tuple[Skipped, ...]]:
    r"""The document that `text` is, and what of it could not go in.

    Paragraphs, parted by blank lines, go together while they cost at most `tokens_max` estimated
    tokens; longer ones are cut at line ends, after sentences, between words. Every line that is not
    blank is in exactly one piece, in order. There are no tags and no links; the title is the file's name.

    The lines of `text`, a decoded file, end with `\n`; `tokens_max` is at least 8. The document may have no
    pieces; what `content_problem` refuses is reported.
    """
    edges = [0, *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)]
    blocks = tuple(Block(start, end) for start, end in pairwise(edges) if start < end)
    title = stem(source)
    cuts = (Cut(span, title) for span, _ in split(text, [Section((), blocks)], tokens_max))
    return document(text, source, title, cuts)
