"""Make small PDF and DOCX files."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
STYLES = (
    f'<w:styles {WORD}><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
    "</w:styles>"
)
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
    "<dc:title>{title}</dc:title><dcterms:created>2021-05-06T07:08:09Z</dcterms:created></cp:coreProperties>"
)


def docx(
    paragraphs: Sequence[tuple[str | None, str]], *, title: str = "", parts: Mapping[str, str | bytes] = {}
) -> bytes:
    """Return a Word document of paragraphs, each with the id of its style; `parts` are added or replaced."""
    body = ""
    for style, text in paragraphs:
        styled = f"<w:pPr><w:pStyle w:val={style!r}/></w:pPr>" if style else ""
        body += f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"
    made: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": RELATIONS,
        "word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": STYLES,
        "docProps/core.xml": CORE.format(title=title),
        **parts,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in made.items():
            file.writestr(name, part)
    return out.getvalue()


def pdf(pages: Sequence[Sequence[str]], *, title: str = "", streams: Sequence[bytes] | None = None) -> bytes:
    """Return a PDF file with the lines of each page, or with compressed streams as pages."""
    contents = streams or [
        zlib.compress(
            b"BT /F1 12 Tf 72 720 Td "
            + b" ".join(b"(%s) Tj 0 -14 Td" % line.encode("latin-1") for line in lines)
            + b" ET"
        )
        for lines in pages
    ]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, content in enumerate(contents):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * number)
        )
        objects.append(
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content)
        )
    objects.append(f"<< /Title ({title}) /CreationDate (D:20210506070809Z) >>".encode())
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%s" % (count, table)
        + b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (count, count - 1)
        + b"startxref\n%d\n%%%%EOF\n" % len(out)
    )
