"""Read the text of the pages of a PDF file. Pictures of text are not recognised."""

from __future__ import annotations

import datetime as dt
import re
from io import BytesIO
from typing import Any, Final

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from engine.files.ingest.documents import BadItemError, Converted
from engine.files.ingest.field_values import created_from_text, title_of

PAGES_MAX: Final = 10_000
_HYPHEN: Final = re.compile(r"(?<=[^\W\d_])-\n(?=[a-z\u00df-\u00ff])")
"""The end of a line within a word."""
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")


def from_pdf(raw: bytes) -> Converted:
    """Return the pages of a PDF file. The headings of pages are taken from its outline.

    Raises:
        BadItemError: the file is encrypted or broken, has no text, or has more than 10,000 pages.
    """
    try:
        reader = PdfReader(BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise BadItemError("the file is encrypted; save it without a password", "encrypted")
        number = len(reader.pages)
        if number > PAGES_MAX:
            raise BadItemError(f"the file has {number} pages; at most {PAGES_MAX} are read", "too large")
        texts = [_text(page.extract_text()) for page in reader.pages]
        headings = _headings(reader, number)
        title, created = _about(reader)
    except PyPdfError as error:
        raise BadItemError(f"the file is broken: {' '.join(str(error).split()):.200}", "broken") from None
    if not any(text.strip() for text in texts):
        raise BadItemError("the file has no text; it may consist of pictures", "without text")
    return Converted(title, created, tuple(zip(headings, texts, strict=True)), "")


def _text(text: str) -> str:
    """Return the text of a page. Words that were divided at the end of a line are joined."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _HYPHEN.sub("", text).encode("utf-8", "replace").decode()


def _headings(reader: PdfReader, number: int) -> list[str | None]:
    """Return the heading of each page: its first outline entry, else the previous page's heading, or None."""
    begins: dict[int, str] = {}
    pending: list[Any] = list(reversed(reader.outline))
    while pending:
        entry = pending.pop()
        if isinstance(entry, list):
            pending += reversed(entry)
            continue
        page = reader.get_destination_page_number(entry)
        title = title_of(_text(str(entry.title or "")))
        if page is not None and 0 <= page < number and title is not None:
            begins.setdefault(page, title)
    headings: list[str | None] = []
    last: str | None = None
    for page in range(number):
        last = begins.get(page, last)
        headings.append(last)
    return headings


def _about(reader: PdfReader) -> tuple[str | None, str | None]:
    """Return the title and the creation time. Each is None if it is absent or not readable."""
    about = reader.metadata
    if about is None:
        return None, None
    try:
        made = about.creation_date
    except (ValueError, OverflowError):
        made = None
    created = made.isoformat() if isinstance(made, dt.datetime) else ""
    valid = created_from_text(created) is not None
    return title_of(_text(str(about.title or ""))), created if valid else None
