"""The results of reading files: documents, their pieces, and reports of what was skipped.

These are plain values without ids. Creating them writes nothing. A piece becomes one atom. A later comparison
with the store determines the id and the ordinal of the atom, and whether the atom is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from proofs.further import Scalar

Format = Literal["markdown", "text", "jsonl", "html", "pdf", "docx"]
"""The format of a file, determined only by the suffix of the file name."""

ATOM_TOKENS = 200
"""The size to which texts are split, in estimated tokens (Standard 065: `AvgTokensPerAtom`)."""


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
    """A slice of the decoded file, without blank lines at its start and end; never entirely blank.

    Comments, badges and bare link lists are left out (`engine.files.ingest.asides`).
    """
    title: str | None
    """The title of the atom: one line of at most `TITLE_BYTES_MAX` bytes."""
    tags: tuple[str, ...]
    """The atom's tags in their stored form, without duplicates. The tags of the whole file come first."""
    occurrence: int
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
    """`page`: the title of the page, if it is not the name of the file. `links`: the URLs of a page that has
    no text."""


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown or text file, with its pieces in the order of the file."""

    source: str
    title: str | None
    pieces: tuple[Piece, ...]
    left_out: int = 0
    """The number of comments, badges and bare link lists that are in no piece."""


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
