"""What reading a file gives: documents of pieces, and a report of what was left out.

These are plain values: nothing here has an id yet, and nothing was written. A piece becomes one
atom; the store decides its id, its ordinal and whether it is new.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Format = Literal["markdown", "text", "jsonl"]
"""How a file is read: told by its suffix alone."""

ATOM_TOKENS = 200
"""The size an atom is split to, in estimated tokens (Standard 065: `AvgTokensPerAtom`)."""


class BadItemError(Exception):
    """Why a file, or something in it, does not go in."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to another document, as the text spells it; data, never a path to open."""

    target: str
    """Never empty. A wiki link names a page; a relative one is a percent-decoded relative path."""
    fragment: str | None
    """What followed `#`: a heading, or `^block`."""
    kind: Literal["wiki", "relative"]


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of one atom, cut out of its document."""

    content: str
    """An exact slice of the decoded file, without outer blank lines; never blank."""
    title: str | None
    """One line of at most `TITLE_BYTES_MAX` bytes."""
    tags: tuple[str, ...]
    """In their kept form, no two the same, the file's own first."""
    occurrence: int
    """How many equal contents come earlier in the same source; 0 where `id` is given."""
    links: tuple[Reference, ...]
    """In order of appearance, no two equal."""
    created: int | None
    """µs UTC, if the text says when it was made."""
    id: str | None
    """The caller's own key for it (JSON lines only)."""
    sequence: int | None
    """The caller's own position (JSON lines only); else the order of the pieces is the position."""


@dataclass(frozen=True, slots=True)
class Document:
    """One Markdown or text file; its pieces are in the order of the file."""

    source: str
    title: str | None
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Sourced:
    """One line of a JSON-lines file; such a file can hold any number of sources, interleaved."""

    source: str
    line: int
    """From 1."""
    piece: Piece


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that did not go in, and why; what surrounds it did."""

    source: str
    reason: str
    line: int | None = None
    """From 1; None where the whole file or folder is meant."""
    kept: bool = False
    """It did go in, though not as it was meant: a warning, not a loss."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read."""

    path: Path
    source: str
    """`<folder>/<relative path>`, `/` between components, NFC."""
    format: Format
