"""Turn the text of a converted file into a document."""

from __future__ import annotations

import json

from engine.files.ingest.conversion.formats import Converted
from engine.files.ingest.documents import ATOM_TOKENS, Document, Skipped
from engine.files.ingest.field_values import created_from_text, title_of
from engine.files.ingest.pieces import Cut, blocks_of, document, file_title
from engine.files.ingest.split import Section, split


def parse_converted(
    found: Converted, source: str, *, tokens_max: int = ATOM_TOKENS
) -> tuple[Document, tuple[Skipped, ...]]:
    """Parse a converted file into a document, and report what cannot be ingested.

    A text in Markdown is split in the same way as a Markdown file. If the text consists of pages, no piece
    covers parts of two pages. The title of a piece consists of a name and the number of the page. The name is
    the heading of the page or, without a heading, the title of the file.
    """
    if found.pages is None:
        from engine.files.ingest.markdown import parse_markdown  # slow to load

        return parse_markdown(_with_frontmatter(found), source, tokens_max=tokens_max)
    title = found.title or file_title(source)
    created = None if found.created is None else created_from_text(found.created)
    text, sections, titles = "", [], []
    for number, (heading, page) in enumerate(found.pages, 1):
        sections.append(Section((), blocks_of(page, len(text))))
        titles.append(title_of(f"{heading or title or 'page'}, page {number}"))
        text += page + "\n\n"
    cuts = (Cut(span, titles[number]) for span, number in split(text, sections, tokens_max))
    return document(text, source, title, cuts, created=created)


def _with_frontmatter(found: Converted) -> str:
    """Return the text, with its title and date as the frontmatter of a Markdown file."""
    fields = []
    if found.title is not None:
        fields.append(f"title: {json.dumps(found.title)}\n")
    if found.created is not None:
        fields.append(f"created: {json.dumps(found.created)}\n")
    return f"---\n{''.join(fields)}---\n{found.markdown}" if fields else found.markdown
