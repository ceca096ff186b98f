"""From spans of a text to the pieces of a document: what every format of text shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from engine.base.limits import TAGS_PER_ATOM_MAX
from engine.transfer.ingest.checks import border, title_of
from engine.transfer.ingest.documents import Document, Link, Piece, Skipped
from proofs.sets import tag_identity


@dataclass(slots=True)
class Cut:
    """A span of the text that becomes a piece, while its tags and links are collected."""

    span: tuple[int, int]
    title: str | None
    tags: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


def document(
    text: str,
    source: str,
    title: str | None,
    cuts: Iterable[Cut],
    *,
    tags: tuple[str, ...] = (),
    created: int | None = None,
) -> tuple[Document, tuple[Skipped, ...]]:
    """The document made of `cuts`, and a report of those that `border` refuses.

    Args:
        text: the decoded file.
        source: where it comes from.
        title: of the document.
        cuts: in the order of the file.
        tags: the file's own, put before those of every piece.
        created: when the file says it was made, µs UTC.

    Returns:
        The document without the refused pieces; tags past `TAGS_PER_ATOM_MAX` are left out and reported.
    """
    seen: Counter[str] = Counter()
    pieces: list[Piece] = []
    skipped: list[Skipped] = []
    line, counted = 1, 0
    for cut in cuts:
        start, end = cut.span
        line, counted = line + text.count("\n", counted, start), start
        content = text[start:end]
        if (reason := border(content)) is not None:
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
