"""Plain text to atoms: paragraphs packed up to the size of an atom."""

from __future__ import annotations

import re
from itertools import pairwise

from engine.transfer.ingest.documents import ATOM_TOKENS, Document, Skipped
from engine.transfer.ingest.pieces import Cut, document, stem
from engine.transfer.ingest.split import Block, Section, split

_BLANK_LINE = re.compile(r"^[^\S\n]*\n", re.MULTILINE)


def parse_plain(
    text: str, source: str, *, tokens_max: int = ATOM_TOKENS
) -> tuple[Document, tuple[Skipped, ...]]:
    r"""The document that `text` is, and what of it could not go in.

    Paragraphs, parted by blank lines, go together while they cost at most `tokens_max` estimated
    tokens; longer ones are cut at line ends, after sentences, between words. Every line that is not
    blank is in exactly one piece, in order. There are no tags and no links; the title is the file's name.

    Args:
        text: a decoded file, lines ended by `\n`.
        source: where it comes from; its last component is the title.
        tokens_max: the size of a piece, at least 8.

    Returns:
        The document, perhaps without pieces, and a report of pieces refused by `border`.
    """
    edges = [0, *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)]
    blocks = tuple(Block(start, end) for start, end in pairwise(edges) if start < end)
    title = stem(source)
    cuts = (Cut(span, title) for span, _ in split(text, [Section((), blocks)], tokens_max))
    return document(text, source, title, cuts)
