"""What an adapter gives: items, each to be held as atoms, and reports of what does not go in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.limits import CONTENT_BYTES_MAX, KEY_BYTES_MAX, TAGS_PER_ATOM_MAX
from engine.store.store import Store
from engine.transfer.ingest.documents import BadItemError, Skipped
from engine.transfer.ingest.field_values import is_line, tag_of
from engine.transfer.ingest.pieces import distinct_tags, parse_plain

TEXT_CHARS_MAX: Final = CONTENT_BYTES_MAX
"""A longer text is reported instead of cut into thousands of atoms: nobody wrote it."""

ACTOR: Final = "import"
"""Who all events of an import are by."""


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge from an item to another one, which is told by one of its names."""

    predicate: str
    """A label."""
    target: str
    """As the file spells it."""
    data: bytes = b""
    """Canonical CBOR."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something in a file of another memory: one atom, or several that are pieces of one text."""

    where: str
    """The file, for reports."""
    at: int | None
    """Its number in there, from 1."""
    source: str
    key: str | None
    """What the other memory calls it; the atom's id follows from source and key. None: from the content."""
    pieces: tuple[str, ...]
    """In order; not empty; one where there is no key."""
    title: str | None = None
    kind: str = "note"
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] | None = None
    """None: what the person asked for."""
    sequence: int | None = None
    """Of the first piece; the others follow it one by one."""
    created: int | None = None
    trust: int | None = None
    occurrence: int = 0
    """How many equal texts came before it in its source, where there is no key."""
    fields: str = ""
    """What has no place in an atom, as a text to keep on the edge to the origin."""
    relations: tuple[Relation, ...] = ()
    names: tuple[str, ...] = ()
    """What relations may call it."""
    whole: bool = False
    """All of its source is in this file: what is not there by now is gone."""
    left: tuple[str, ...] = ()
    """Names of what is in the file and is not kept."""


@dataclass(frozen=True, slots=True)
class Left:
    """Things in a file that are not kept and belong to no item."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export in the format of another memory holds, and what it could not."""

    items: int
    left: tuple[tuple[str, int], ...]
    """Things that the format has no place for, and how many."""

    @classmethod
    def of(cls, items: int, left: Counter[str]) -> Exported:
        """From counts."""
        return cls(items, tuple(sorted((name, count) for name, count in left.items() if count)))


Reads = Callable[[Path], Iterator[Item | Left | Skipped]]
"""Reads a file, or a folder, from its beginning; never raises for what is in it once it is open.

Raises NotFoundError or InvalidInputError at the first step where it cannot be a file of this format.
"""

Put = Callable[[bytes], object]
"""Takes the next bytes of a file."""

Writes = Callable[[Store, Put], Exported]
"""Writes what is live as the bytes of one file."""

WritesFolder = Callable[[Store, Path], Exported]
"""Writes what is live as files in an empty folder."""


def cut(text: str, label: str = "") -> tuple[str, ...]:
    """A text in pieces of the size of an atom, each after `label` and a colon, if one is given.

    Raises:
        BadItemError: it is too long, or a piece could not be kept.
    """
    if len(text) > TEXT_CHARS_MAX:
        raise BadItemError(f"a text of {len(text):,} characters; at most {TEXT_CHARS_MAX:,} are taken")
    document, skipped = parse_plain(text.replace("\r\n", "\n"), "text")
    if skipped:
        raise BadItemError(skipped[0].reason)
    begin = f"{label}: " if label else ""
    return tuple(begin + piece.content for piece in document.pieces)


def checked_key(value: object, what: str) -> str:
    """The other memory's name of an item, which is to be a key.

    Raises:
        BadItemError: it is no text, or cannot be one.
    """
    if not isinstance(value, str) or not value:
        raise BadItemError(f"{what} is missing, or no text")
    if not is_line(value, KEY_BYTES_MAX - 8):
        raise BadItemError(f"{what} is over {KEY_BYTES_MAX - 8} bytes long, or not on one line")
    return value


def kept_tags(values: object) -> tuple[tuple[str, ...], int]:
    """Those of a list that can be tags, and how many are left out."""
    words = values if isinstance(values, list) else []
    found = [tag_of(word) if isinstance(word, str) else None for word in words]
    tags = distinct_tags(tag for tag in found if tag is not None)[:TAGS_PER_ATOM_MAX]
    return tags, len(words) - len(tags)


def check_readable(path: Path, *, folder: bool = False) -> None:
    """Make sure that there is a file, or a folder.

    Raises:
        NotFoundError: there is none.
        InvalidInputError: it is the other one.
    """
    try:
        if not path.exists():
            raise NotFoundError(f"there is no {'folder' if folder else 'file'} {path}")
        right = path.is_dir() if folder else not path.is_dir()
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{str(path)!a:.80} cannot be used as a path: {error}") from None
    if not right:
        raise InvalidInputError(f"{path} is {'no folder' if folder else 'a folder'}")
