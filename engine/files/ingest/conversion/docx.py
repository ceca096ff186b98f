"""Convert DOCX to Markdown: headings, paragraphs, lists, tables, footnotes and links, but no pictures."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any, Final
from xml.etree import ElementTree as ET
from zipfile import BadZipFile, ZipFile

import mammoth
from bs4 import BeautifulSoup

from engine.files.ingest.conversion.formats import Converted
from engine.files.ingest.conversion.html import markdown_of
from engine.files.ingest.documents import BadItemError
from engine.files.ingest.field_values import created_from_text, title_of

PARTS_MAX: Final = 10_000
PART_BYTES_MAX: Final = 64 << 20
PARTS_BYTES_MAX: Final = 256 << 20
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DOCTYPE: Final = re.compile(rb"<!\s*DOCTYPE", re.IGNORECASE)
_TITLE: Final = "{http://purl.org/dc/elements/1.1/}title"
_CREATED: Final = "{http://purl.org/dc/terms/}created"


def from_docx(raw: bytes) -> Converted:
    """Convert a Word document. The title and the date are taken from its properties.

    Raises:
        BadItemError: the file is encrypted or broken, or its parts are too large.
    """
    if raw.startswith(_OLE):
        raise BadItemError("the file is encrypted, or a document of an older format", "encrypted")
    title, created = _properties(raw)
    html = mammoth.convert_to_html(BytesIO(raw), convert_image=lambda _: [], external_file_access=False).value
    return Converted(title, created, None, markdown_of(BeautifulSoup(html, "lxml")))


def _properties(raw: bytes) -> tuple[str | None, str | None]:
    """Return the title and the creation time, after checking the parts of the file."""
    try:
        with ZipFile(BytesIO(raw)) as file:
            parts = file.infolist()
            if len(parts) > PARTS_MAX or sum(part.file_size for part in parts) > PARTS_BYTES_MAX:
                raise BadItemError("the parts of the file are too large", "too large")
            for part in parts:
                if part.filename.lower().endswith((".xml", ".rels")):
                    _check_part(file.read(part), part.filename)
            names = file.namelist()
            core = file.read("docProps/core.xml") if "docProps/core.xml" in names else None
    except (BadZipFile, NotImplementedError, RuntimeError) as error:
        raise BadItemError(f"the file is broken: {error}", "broken") from None
    if core is None:
        return None, None
    root = ET.fromstring(core)  # noqa: S314 -- it has no DTD, see _check_part
    fields: dict[str, Any] = {one.tag: one.text or "" for one in root.iter()}
    created = fields.get(_CREATED, "").strip()
    return title_of(fields.get(_TITLE, "")), created if created_from_text(created) is not None else None


def _check_part(part: bytes, name: str) -> None:
    """Refuse a part that is too large, or declares a document type: entities can expand to gigabytes."""
    if len(part) > PART_BYTES_MAX:
        raise BadItemError(f"the part {name!a:.80} is too large", "too large")
    # In UTF-16, every other byte is zero.
    if _DOCTYPE.search(part.replace(b"\x00", b"")):
        raise BadItemError(f"the part {name!a:.80} declares a document type", "broken")
