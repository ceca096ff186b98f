"""HTML, PDF and DOCX files are ingested as text. A bad file is reported, and the other files go in."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter

from engine.files.ingest import documents as formats
from engine.files.ingest.conversion.conversion_process import Converter
from engine.files.ingest.documents import BadItemError, PassedOver
from engine.files.ingest.folder_walk import find_files
from tests.files.ingest.folder import Folder
from tests.files.ingest.made_files import docx, pdf
from tests.support.children import run

pytestmark = pytest.mark.slow

PAGE = """<!doctype html><html><head><title>Trees &amp; tea</title><meta name="date" content="2021-05-06">
<script>document.write("script")</script><style>p { color: red }</style></head><body>
<nav>Home</nav><h1>Oak</h1><p>The oak_tree is <b>old</b>. <a href="b.html?x=1#ash">Ash</a>
<ul><li>one<li>two</ul><h2>Elm</h2><table><tr><th>a<th>b<tr><td>1<td>2</table><pre>code  here</pre>
<a href="javascript:alert(1)">press</a><img src="http://example.com/x.png" alt="A picture"><p hidden>not shown
</body></html>"""

CONFINED = """
import os, socket, subprocess, sys
from engine.files.ingest.conversion import conversion_worker as worker

def tried(call):
    try:
        call()
    except PermissionError:
        print("refused", end=" ")

worker._bound = lambda *arguments: None
worker.receive = lambda stream: (_ for _ in ()).throw(EOFError)
worker.main(5, 0)
tried(lambda: socket.socket())
tried(lambda: subprocess.Popen(["true"]))
tried(lambda: open("/etc/hostname"))
tried(lambda: open(os.path.join(os.path.dirname(os.__file__), "new"), "w"))
open(os.__file__).close()
print("fine")
"""


@pytest.fixture
def converter() -> Iterator[Converter]:
    """Return a converter."""
    made = Converter()
    yield made
    made.close()


def reason(converter: Converter, raw: bytes, file_format: str) -> str:
    """Return the reason for which a file is refused."""
    with pytest.raises(BadItemError) as caught:
        converter.convert(raw, file_format)
    return str(caught.value)


def test_html_is_split_at_its_headings(notes: Folder) -> None:
    """Each section is an atom with its heading; what is not text of the page is left out."""
    notes.write("a.html", PAGE)
    notes.write("b.HTM", "<h1>Ash</h1><p>An ash.")
    assert notes.ingest().warnings == ()
    oak, elm = notes.atoms("a.html")
    assert (oak.title, oak.content) == (
        "Oak",
        "# Oak\n\nThe oak_tree is **old**. [Ash](b.html#ash)\n\n- one\n- two",
    )
    assert (elm.title, elm.content) == (
        "Elm",
        "## Elm\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\ncode  here\n```\n\npressA picture",
    )
    assert oak.created == 1_620_259_200_000_000


def test_links_between_html_files_are_edges(notes: Folder) -> None:
    """A relative link leads to the heading in the other file that it names."""
    notes.write("a.html", PAGE)
    notes.write("b.html", "<h1>Box</h1><p>x</p><h1>Ash</h1><p>An ash.")
    assert notes.ingest().unresolved == ()
    ((edge,),) = (notes.engine.edges(notes.atoms("a.html")[0].id),)
    assert notes.engine.get(edge.dst).title == "Ash"


def test_text_that_looks_like_markdown_is_text(notes: Folder) -> None:
    """Text of a page becomes no heading, no tag and no link."""
    notes.write("a.html", "<p># Not a heading</p><p>#nottag [[nolink]] c#m</p>")
    report = notes.ingest()
    (atom,) = notes.atoms("a.html")
    assert (atom.title, atom.tags, report.unresolved) == ("a", (), ())
    assert atom.content == "\\# Not a heading\n\n\\#nottag \\[[nolink]] c#m"


@pytest.mark.parametrize(
    "raw",
    [
        "<meta charset='iso-8859-1'><p>grün \u201ctea\u201d".encode("cp1252"),
        "<meta charset='utf-8'><p>grün “tea”".encode(),
        "<p>grün “tea”".encode("utf-8-sig"),
        "<p>grün “tea”".encode("cp1252"),
        "<meta charset='koi8-r'><meta charset='no such'><p>grün “tea”".encode("utf-16"),
    ],
)
def test_html_is_decoded_as_browsers_do(converter: Converter, raw: bytes) -> None:
    """A byte order mark decides, then the declared encoding, then UTF-8, then Windows-1252."""
    assert converter.convert(raw, "html").markdown == "grün “tea”\n"


def test_pdf_pieces_name_their_page(notes: Folder) -> None:
    """Each page is split on its own; titles have the title of the file and the number of the page."""
    lines = [["Oaks are trees. They live exam-", "ple years."], ["Ashes grow fast."]]
    (notes.path / "a.pdf").write_bytes(pdf(lines, title="On trees"))
    notes.ingest()
    assert [(one.title, one.content, one.created) for one in notes.atoms("a.pdf")] == [
        ("On trees, page 1", "Oaks are trees. They live example years.", 1_620_284_889_000_000),
        ("On trees, page 2", "Ashes grow fast.", 1_620_284_889_000_000),
    ]
    assert not notes.ingest().changed


def test_docx_is_split_at_its_headings(notes: Folder) -> None:
    """Paragraphs with the style of a heading are headings; title and date are those of the properties."""
    raw = docx([(None, "Before."), ("Heading1", "Oak"), (None, "Old.")], title="Trees")
    (notes.path / "a.docx").write_bytes(raw)
    notes.ingest()
    assert [(one.title, one.content, one.created) for one in notes.atoms("a.docx")] == [
        ("Trees", "Before.", 1_620_284_889_000_000),
        ("Oak", "# Oak\n\nOld.", 1_620_284_889_000_000),
    ]


def test_a_bad_file_is_named_and_the_others_go_in(notes: Folder) -> None:
    """Broken, encrypted and empty files are reported with a reason, and the other files are read."""
    (notes.path / "a.pdf").write_bytes(b"%PDF-1.4 no")
    (notes.path / "b.docx").write_bytes(b"PK no")
    (notes.path / "c.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old")
    (notes.path / "d.html").write_bytes(b"\x00\x01")
    (notes.path / "e.pdf").write_bytes(pdf([[]]))
    notes.write("f.html", "<p>Fine.")
    report = notes.ingest()
    assert [(one.source[-6:], one.kind) for one in report.skipped] == [
        ("/a.pdf", "broken"),
        ("b.docx", "broken"),
        ("c.docx", "encrypted"),
        ("d.html", "not text"),
        ("/e.pdf", "without text"),
    ]
    assert notes.texts("f.html") == ["Fine."]


@pytest.mark.parametrize(("password", "outcome"), [("secret", "encrypted"), ("", "Oak.\n")])
def test_an_encrypted_pdf_is_refused_by_name(converter: Converter, password: str, outcome: str) -> None:
    """A file that needs a password is reported as encrypted; one with an empty password is read."""
    writer = PdfWriter(PdfReader(BytesIO(pdf([["Oak."]]))))
    writer.encrypt(password, "owner", algorithm="AES-256")
    out = BytesIO()
    writer.write(out)
    if password:
        assert outcome in reason(converter, out.getvalue(), "pdf")
    else:
        assert converter.convert(out.getvalue(), "pdf").pages == ((None, outcome),)


def test_bombs_are_refused(converter: Converter) -> None:
    """A few bytes that would become gigabytes are refused, and the next file is read."""
    pack = zlib.compressobj()
    stream = b"".join(pack.compress(b"0" * (1 << 20)) for _ in range(80)) + pack.flush()
    assert "broken" in reason(converter, pdf([], streams=[stream]), "pdf")
    huge = bytearray(docx([]))
    for found in re.finditer(rb"PK\x01\x02", bytes(huge)):
        huge[found.start() + 24 : found.start() + 28] = (100 << 20).to_bytes(4, "little")
    assert "too large" in reason(converter, bytes(huge), "docx")
    assert "nested" in reason(converter, b"<div>" * 20_000, "html")
    assert converter.convert(b"<p>Fine.", "html").markdown == "Fine.\n"


def test_a_file_that_takes_too_much_memory_is_refused() -> None:
    """Memory is bounded, and the next file is read."""
    converter = Converter(memory_max=140 << 20)
    try:
        assert "memory" in reason(converter, b"<p>" + b"x y" * (5 << 20), "html")
        assert converter.convert(b"<p>Fine.", "html").markdown == "Fine.\n"
    finally:
        converter.close()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(converter: Converter, encoding: str) -> None:
    """A part of a document that declares entities is refused: they can name files, or expand to gigabytes."""
    part = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "/etc/passwd">]><x>&e;</x>'
    raw = docx([], parts={"word/document.xml": part.encode(encoding)})
    assert "document type" in reason(converter, raw, "docx")


def test_a_file_that_takes_too_long_ends_only_its_own_reading() -> None:
    """Reading ends after the bound of processor time, and the next file is read by a new process."""
    converter = Converter(seconds_max=1)
    try:
        assert "too long" in reason(converter, b"<b>x</b>" * 100_000, "html")
        assert converter.convert(b"<p>Fine.", "html").markdown == "Fine.\n"
    finally:
        converter.close()


def test_the_process_may_not_connect_write_or_read_other_files() -> None:
    """In the process that converts, opening a socket, a process or a file raises an error."""
    assert run(CONFINED) == (0, "refused refused refused refused fine\n")


def test_without_the_libraries_the_files_are_passed_over(
    notes: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report counts the files and names the extra; pruning keeps their atoms; a named file is skipped."""
    notes.write("a.html", "<p>Oak.")
    notes.write("b.md", "Ash.")
    notes.ingest()
    monkeypatch.setattr("engine.files.ingest.folder_walk.is_convertible", lambda name: name != "html")
    report = notes.ingest(prune=True)
    assert report.passed_over == (PassedOver("notes/a.html", ".html (the extra `files` reads them)"),)
    assert (report.changed, report.skipped) == (False, ())
    (named,) = find_files([notes.path / "a.html"])
    assert "pip install 'memroot[files]'" in getattr(named, "reason", "")


def test_each_format_names_modules_that_are_installed() -> None:
    """The tests of this module run with the extra `files`."""
    assert all(formats.is_convertible(name) for name in formats.LIBRARIES)
