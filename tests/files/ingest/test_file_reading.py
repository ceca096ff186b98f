"""Reading the files that were found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.files.ingest.documents import Document, Format, JsonLine, Skipped, SourceFile
from engine.files.ingest.file_reading import read_file


def _read(path: Path, file_format: Format = "text", **limits: int) -> list[Document | JsonLine | Skipped]:
    return list(read_file(SourceFile(path, "s/f", file_format), **limits))  # type: ignore[arg-type]


def _content(tmp_path: Path, raw: bytes) -> str:
    (tmp_path / "f").write_bytes(raw)
    (document,) = _read(tmp_path / "f")
    assert isinstance(document, Document)
    return document.pieces[0].content


@pytest.mark.parametrize("raw", [b"a\r\nb", b"a\rb", b"a\nb", b"\xef\xbb\xbfa\nb"])
def test_line_ends_and_marks_do_not_reach_the_content(tmp_path: Path, raw: bytes) -> None:
    """Line ends become line feeds, and a byte order mark is removed."""
    assert _content(tmp_path, raw) == "a\nb"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"abc\x00", "NUL at byte 3"),
        (b"ab\xe9", "not valid UTF-8 at byte 2"),
        ("é".encode("utf-16"), "UTF-16"),
        (b"\xed\xa0\x80", "not valid UTF-8 at byte 0"),
        (b"x" * 101, "over 100 bytes"),
    ],
)
@pytest.mark.parametrize("file_format", ["text", "markdown"])
def test_what_is_no_text_is_reported(tmp_path: Path, raw: bytes, reason: str, file_format: Format) -> None:
    """Binary data, other encodings and large files are skipped and reported."""
    (tmp_path / "f").write_bytes(raw)
    (item,) = _read(tmp_path / "f", file_format, file_bytes_max=100)
    assert isinstance(item, Skipped)
    assert (item.source, reason in item.reason) == ("s/f", True)


def test_a_file_that_became_a_pipe_does_not_block(tmp_path: Path) -> None:
    """A file that was replaced by a pipe does not block."""
    os.mkfifo(tmp_path / "f")
    assert _read(tmp_path / "f") == [Skipped("s/f", "not a regular file")]


@pytest.mark.parametrize("target", ["real", "missing", "/dev/zero"])
def test_a_file_that_became_a_link_is_not_followed(tmp_path: Path, target: str) -> None:
    """A file that was replaced by a link is not followed."""
    (tmp_path / "real").write_text("secret")
    (tmp_path / "f").symlink_to(target)
    (item,) = _read(tmp_path / "f")
    assert isinstance(item, Skipped)


def test_a_file_that_is_gone_is_reported(tmp_path: Path) -> None:
    """A file that disappears before it is read is reported."""
    assert _read(tmp_path / "f") == [Skipped("s/f", "the file cannot be read: no such file or directory")]


def test_json_lines_are_streamed_past_the_limit_of_a_file(tmp_path: Path) -> None:
    """JSON Lines files are streamed without a limit of their size."""
    (tmp_path / "f").write_bytes(b'{"text": "a"}\n' * 20 + b"x" * 100 + b"\n" + b'{"text": "b"}')
    items = _read(tmp_path / "f", "jsonl", file_bytes_max=10, line_bytes_max=50)
    assert [type(item) for item in items] == [JsonLine] * 20 + [Skipped, JsonLine]


def test_reports_come_before_the_document(tmp_path: Path) -> None:
    """Reports precede the document, which is returned despite a warning."""
    (tmp_path / "f").write_text("---\na: b: c\n---\n# H\n")
    assert [type(item) for item in _read(tmp_path / "f", "markdown")] == [Skipped, Document]
