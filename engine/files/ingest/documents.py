"""Files to read, and the results: documents, their pieces, and reports of what was skipped.

These are plain values without ids. Creating them writes nothing. A piece becomes one atom. A later comparison
with the store determines the id and the ordinal of the atom, and whether the atom is new.

Between an ingest and the processes that read files for it, the values are sent in CBOR. All these processes
run the same version of the same code, and no message is stored, so the form of the messages may change.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple

from cbor2 import dumps, loads

from proofs.events import Scalar

Format = Literal["markdown", "text", "jsonl", "html", "pdf", "docx"]
"""The format of a file, determined only by the suffix of the file name."""

ATOM_TOKENS = 200
"""The size to which texts are split, in estimated tokens.

With a budget, recall aims at one hit for each 200 tokens (docs/recall.md).
"""

READY: Final = b"memroot reads files\n"
"""The first bytes that a reading process writes."""

EXTRA: Final = "files"
"""The extra of the distribution that installs the libraries for all these formats."""

LIBRARIES: Final = {
    "html": ("bs4", "lxml", "markdownify"),
    "pdf": ("pypdf",),
    "docx": ("mammoth", "bs4", "lxml", "markdownify"),
}
"""Format → the modules that convert it."""

CONVERTED_BYTES_MAX: Final = {"html": 16 << 20, "pdf": 256 << 20, "docx": 64 << 20}
"""Format → the maximum number of bytes of a file. A parsed HTML file takes about fifty times its size."""

OUT_OF_MEMORY: Final = 77
"""The exit code of the process that converts files if a file takes too much memory."""


class BadItemError(Exception):
    """Raised if a file or an item in a file cannot be ingested. The message states the reason."""

    def __init__(self, reason: str, kind: str = "unreadable") -> None:
        super().__init__(reason)
        self.kind = kind
        """The kind of the reason, as `Skipped.kind`."""


class Reference(NamedTuple):
    """A reference to another document, spelled as in the text. It is data and is never opened as a path.

    The class is a named tuple, because a folder can have many links. Measured: creating a frozen dataclass
    takes three times as long.
    """

    target: str
    """The page that a wiki link names, the percent-decoded path of a relative link, or the `id` of a line.
    Never empty."""
    fragment: str | None
    """The part after `#`: a heading, or `^block`."""
    kind: Literal["wiki", "relative", "id"]
    """A link of the kind `id` leads to a line of the same source in a JSON Lines file."""

    @property
    def spelling(self) -> str:
        """The link as it is shown to people: `[[page#heading]]`, or the path."""
        whole = self.target if self.fragment is None else f"{self.target}#{self.fragment.removeprefix('#')}"
        return f"[[{whole}]]" if self.kind == "wiki" else whole


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document. The text of the part becomes the content of one atom."""

    content: str
    """A slice of the decoded file, without blank lines at its start and end; never entirely blank."""
    title: str | None
    """The title of the atom: one line of at most `TITLE_BYTES_MAX` bytes."""
    tags: tuple[str, ...]
    """The atom's tags in their stored form, without duplicates. The tags of the whole file come first."""
    occurrence: int | None
    """The number of earlier pieces of the same source with the same content; 0 if `id` is given."""
    links: tuple[Reference, ...]
    """The links in the text without duplicates, in order of appearance."""
    created: int | None
    """The creation time in µs UTC, or None if the file does not contain a creation time."""
    id: str | None
    """The key of the atom, or None if the file does not contain a key (only JSON Lines files do)."""
    sequence: int | None
    """The position in the source (JSON Lines only), or None to number the pieces in their order."""
    aliases: tuple[str, ...] = ()
    """Other names of the page. Only the first piece of a page has them."""
    meta: Mapping[str, Scalar] | None = None
    """`page`: the title of the page, if it is not the name of the file."""


_values_of: Final = attrgetter(*(one.name for one in fields(Piece)))


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown or text file, with its pieces in the order of the file."""

    source: str
    title: str | None
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class JsonLine:
    """A line of a JSON Lines file. In one file, the lines of any number of sources can alternate."""

    source: str
    line: int
    """The line number, from 1."""
    piece: Piece


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that was not ingested, and the reason. Other items of the same file are still ingested."""

    source: str
    reason: str
    line: int | None = None
    """The line number, from 1; None if the item is a whole file or folder."""
    kept: bool = False
    """True for a warning: the item was ingested, but not completely or not as intended."""
    kind: str = field(default="unreadable", compare=False)
    """The kind of the reason in a few words, such as `not UTF-8`, for counting."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A folder entry that ingest does not read, because the entry is excluded or because of its name."""

    source: str
    """The source that the file would have. Bytes of the name that are not UTF-8 are escaped."""
    kind: str
    """The kind in a few words: a suffix such as `.png`, or a word such as `hidden` or `excluded`."""
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A link that leads to no atom and to no file."""

    source: str
    """The source of the text that contains the link."""
    target: str
    """The link as in the text: `[[page#heading]]`, or the path of a relative link."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read, with its format and its source."""

    path: Path
    source: str
    """The source: `<folder>/<relative path>`, with `/` between the components, in Unicode form NFC."""
    format: Format


def open_regular(path: Path) -> BinaryIO:
    """Open the regular file at `path` for reading.

    The file may have been replaced since it was found: a symbolic link is not followed, and a pipe does not
    block.

    Raises:
        BadItemError: `path` is not a regular file.
        OSError: the file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadItemError("not a regular file", "not a regular file")
    return os.fdopen(descriptor, "rb")


Item = Document | JsonLine | Skipped


def start_reader(program: str, *arguments: object, ahead_bytes: int = -1) -> subprocess.Popen[bytes]:
    """Start a Python process that has the same paths of modules, and pipes for its input and output.

    Args:
        program: The code. It finds the paths of modules as JSON in its first argument.
        arguments: The other arguments.
        ahead_bytes: The size of the pipes, if the operating system can set it; -1 for its default.

    Raises:
        OSError: the process cannot be started.
        ValueError: an argument contains a NUL.
    """
    paths = json.dumps([path for path in sys.path if isinstance(path, str)])
    return subprocess.Popen(  # noqa: S603  our own interpreter and module; the files are passed on stdin
        [sys.executable, "-I", "-c", program, paths, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pipesize=ahead_bytes,
    )


def send(stream: BinaryIO, message: object) -> None:
    """Write a message, preceded by its length in four bytes."""
    raw = dumps(message)
    stream.write(len(raw).to_bytes(4, "big"))
    stream.write(raw)


def receive(stream: BinaryIO) -> Any:
    """Read a message.

    Raises:
        EOFError: the stream ends before the end of the message.
    """
    raw = stream.read(size) if (size := int.from_bytes(stream.read(4), "big")) else b""
    if not raw or len(raw) != size:
        raise EOFError("the other process ended")
    return loads(raw)


def encode_files(files: Iterable[SourceFile]) -> bytes:
    """Encode a list of files for `decode_files`."""
    return dumps([(os.fsencode(file.path), file.source, file.format) for file in files])


def decode_files(raw: bytes) -> list[SourceFile]:
    """Decode the result of `encode_files`."""
    return [SourceFile(Path(os.fsdecode(path)), *others) for path, *others in loads(raw)]


def encode_items(items: Iterable[Item]) -> list[Any]:
    """Encode the items of a Markdown or text file for `decode_items`."""
    return [_encode(item) for item in items]


def _encode(item: Item) -> list[Any]:
    if isinstance(item, Skipped):
        return [item.reason, item.source, item.line, item.kept, item.kind]
    if isinstance(item, JsonLine):
        raise TypeError("lines of JSON Lines files are not sent")
    return [None, item.source, item.title, list(map(_values_of, item.pieces)), None]


def decode_items(values: list[Any]) -> list[Document | Skipped]:
    """Decode the result of `encode_items`."""
    return [_decode(*value) for value in values]


def _decode(reason: str | None, source: str, third: Any, fourth: Any, kind: Any) -> Document | Skipped:
    if reason is not None:
        return Skipped(source, reason, third, fourth, kind)
    new = tuple.__new__  # half of the time of the constructor (measured)
    pieces = tuple(
        Piece(
            content, title, tuple(tags), occurrence, tuple([new(Reference, link) for link in links]),
            created, key, sequence, tuple(aliases), meta,
        )
        for content, title, tags, occurrence, links, created, key, sequence, aliases, meta in fourth
    )  # fmt: skip
    return Document(source, third, pieces)


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of a file, with the title and the creation time that are stated in the file."""

    title: str | None
    created: str | None
    """The creation time in ISO 8601, or None if the file does not state a valid time."""
    pages: tuple[tuple[str | None, str], ...] | None
    """The heading and the text of each page, if the file consists of pages."""
    markdown: str
    """The whole text as Markdown, if the file does not consist of pages."""


@cache
def is_convertible(file_format: str) -> bool:
    """Return False if a library that is needed to convert this format is not installed, else True."""
    return all(find_spec(name) is not None for name in LIBRARIES.get(file_format, ()))
