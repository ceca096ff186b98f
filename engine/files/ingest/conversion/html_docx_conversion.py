"""Convert HTML and DOCX to Markdown: headings, paragraphs, lists, tables, code and links, but no pictures.

Nothing is loaded or run.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any, Final
from xml.etree import ElementTree as ET
from zipfile import BadZipFile, ZipFile

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EncodingDetector
from markdownify import MarkdownConverter

from engine.files.ingest.documents import BadItemError, Converted
from engine.files.ingest.field_values import created_from_text, title_of

_LEFT_OUT: Final = (
    *("head", "script", "style", "template", "noscript", "svg", "math", "canvas", "audio", "video"),
    *("iframe", "frame", "object", "embed", "nav", "button", "input", "select", "textarea", "dialog"),
)
"""The elements that are left out with everything in them: code, loaded objects, form fields and
navigation."""
_NESTING_MAX: Final = 1000
_DATES: Final = (
    "article:published_time",
    "date",
    "dc.date",
    "dcterms.created",
    "dcterms.date",
    "datepublished",
)
"""The names, in lower case, of `meta` elements with the date of a page. If a page has several of these
elements, the element whose name comes first in this list counts."""
_LIKE_MARKDOWN: Final = re.compile(r"(?:(?<=\s)|^)#(?=[#\s]|\w*[^\W\d])|\[(?=\[)")
"""Matches a character of a text that Markdown would read as part of a heading, a tag or a link."""
_SCHEME: Final = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))

PARTS_MAX: Final = 10_000

PART_BYTES_MAX: Final = 64 << 20

PARTS_BYTES_MAX: Final = 256 << 20

_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_DOCTYPE: Final = re.compile(rb"<!\s*DOCTYPE", re.IGNORECASE)

_TITLE: Final = "{http://purl.org/dc/elements/1.1/}title"

_CREATED: Final = "{http://purl.org/dc/terms/}created"


def from_html(raw: bytes) -> Converted:
    """Convert an HTML file. The title and the date are taken from its `head`.

    Raises:
        BadItemError: the file is not text, or its elements are nested too deeply.
    """
    soup = BeautifulSoup(_decoded(raw), "lxml")
    title = title_of(soup.title.get_text()) if soup.title is not None else None
    return Converted(title, _created(soup), None, markdown_of(soup))


def markdown_of(soup: BeautifulSoup) -> str:
    """Return the visible text of a parsed document as Markdown.

    Raises:
        BadItemError: the elements are nested deeper than 1000 levels.
    """
    _check_nesting(soup)
    for element in soup.find_all(_LEFT_OUT):
        element.decompose()
    for element in soup.find_all(hidden=True):
        element.decompose()
    text = str(_Markdown(heading_style="ATX", bullets="-", autolinks=True).convert_soup(soup))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?m)[ \t]+$", "", text)).strip() + "\n"


def _check_nesting(soup: BeautifulSoup) -> None:
    pending: list[tuple[Tag, int]] = [(soup, 0)]
    while pending:
        tag, depth = pending.pop()
        if depth > _NESTING_MAX:
            raise BadItemError(f"the elements are nested deeper than {_NESTING_MAX} levels", "broken")
        pending += [(child, depth + 1) for child in tag.children if isinstance(child, Tag)]


class _Markdown(MarkdownConverter):  # type: ignore[misc, unused-ignore]
    """The converter of `markdownify`, without pictures. It escapes only characters that would be markup."""

    def escape(self, text: str, parent_tags: Any) -> str:
        del parent_tags
        return _LIKE_MARKDOWN.sub(r"\\\g<0>", text)

    def convert_img(self, el: Tag, text: str, parent_tags: Any) -> str:
        del text, parent_tags
        return " ".join(str(el.get("alt") or "").split())

    def convert_a(self, el: Tag, text: str, parent_tags: Any) -> str:
        target = str(el.get("href") or "")
        scheme = _SCHEME.match(target)
        if scheme is not None and scheme[1].lower() not in {"http", "https", "mailto"}:
            return text
        if scheme is None and "?" in target:
            # The query of a relative link means something to a server only.
            path, _, rest = target.partition("?")
            el["href"] = path + "#" * ("#" in rest) + rest.partition("#")[2]
        return str(super().convert_a(el, text, parent_tags))  # type: ignore[misc, unused-ignore]


def _decoded(raw: bytes) -> str:
    """Decode as the byte order mark or the file declares, else as UTF-8, else as Windows-1252."""
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return raw.decode(encoding, "replace")
    if b"\x00" in raw:
        raise BadItemError(f"the file is not text: there is a NUL at byte {raw.index(0)}", "not text")
    declared = EncodingDetector.find_declared_encoding(raw, is_html=True)
    encodings: tuple[str | None, str] = (declared, "utf-8")
    for name in encodings:
        try:
            # Browsers read what is declared as Latin 1 or ASCII as Windows-1252.
            if name and name.lower() not in {"iso-8859-1", "latin-1", "us-ascii", "ascii"}:
                return raw.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return raw.decode("windows-1252", "replace")


def _created(soup: BeautifulSoup) -> str | None:
    properties: dict[str, str] = {}
    for element in soup.find_all("meta"):
        name = str(element.get("property") or element.get("name") or element.get("itemprop") or "").lower()
        created = str(element.get("content") or "").strip()
        if name in _DATES and created_from_text(created) is not None:
            properties.setdefault(name, created)
    return next((properties[name] for name in _DATES if name in properties), None)


def from_docx(raw: bytes) -> Converted:
    """Convert a Word document. The title and the date are taken from its properties.

    Raises:
        BadItemError: the file is encrypted or broken, or its parts are too large.
    """
    if raw.startswith(_OLE):
        raise BadItemError("the file is encrypted, or a document of an older format", "encrypted")
    import mammoth  # is not needed for HTML, and may not be installed

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
