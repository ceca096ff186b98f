"""The items in the files of other programs, which become atoms, and the reading of items from JSON.

The items of a JSON file are read one at a time; only a single item must fit into memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO, Final

from engine.base.errors import EngineError, InvalidInputError, NotFoundError
from engine.base.json_text import JsonError, parse
from engine.base.limits import CONTENT_BYTES_MAX, KEY_BYTES_MAX, TAGS_PER_ATOM_MAX
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.field_values import is_line, tag_of
from engine.files.ingest.pieces import distinct_tags, parse_plain
from engine.store.store import Store
from proofs.events import Scalar

TEXT_CHARS_MAX: Final = CONTENT_BYTES_MAX
"""The maximum number of characters of a text. A longer text is reported and not imported."""

ACTOR: Final = "import"
"""The actor of all events of an import."""

Put = Callable[[bytes], object]
"""A callback that receives the next bytes of a file."""

ITEM_BYTES_MAX: Final = 64 << 20

_WHITE: Final = b" \t\r\n"

_START: Final = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")
"""A byte order mark and white space."""

_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{},]', re.DOTALL)
"""A string; or a bracket, a comma, or a quote that opens a string without an end."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item in a file of another program, such as a message.

    If the text is split, it becomes several atoms.
    """

    where: str
    """The name of the file, for reports."""
    at: int | None
    """The number of the item in the file, from 1."""
    source: str
    key: str | None
    """The item's id in the other program, or None.

    The id of an atom is derived from the source and the key or, without a key, from the source, the text and
    its place.
    """
    pieces: tuple[str, ...]
    """The contents of the item's atoms, in order: at least one, and exactly one if there is no key."""
    title: str | None = None
    kind: str = "note"
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] | None = None
    """The buckets, or None for the buckets that the caller of the import chose."""
    sequence: int | None = None
    """The sequence number of the first piece; the other pieces have the following numbers."""
    created: int | None = None
    trust: int | None = None
    occurrence: int | None = None
    """The number of earlier items of the same source with the same text, if it identifies the item: the item
    has no key, and its format gives no place.
    """
    fields: str = ""
    """The fields that an atom cannot represent, as JSON. They are stored on the atom's edge to the origin."""
    omitted: tuple[str, ...] = ()
    """The names of the item's parts that are not imported."""
    provenance: str | None = None
    """The provenance, or None for the provenance that the caller of the import chose."""
    meta: Mapping[str, Scalar] | None = None


@dataclass(frozen=True, slots=True)
class Omitted:
    """The names of the parts of a file that do not belong to an item and are not imported."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemsExported:
    """The result of an export in the format of another program."""

    items: int
    left: tuple[tuple[str, int], ...]
    """The data that the format cannot represent, as (name, number of occurrences)."""

    @classmethod
    def of(cls, items: int, omitted: Counter[str]) -> ItemsExported:
        """Create the result from the counts; zero counts are omitted, and the rest is sorted by name."""
        return cls(items, tuple(sorted((name, count) for name, count in omitted.items() if count)))


ReadItems = Callable[[Path], Iterator[Item | Omitted | Skipped]]
"""A function that reads a file from its beginning and returns an iterator.

The first step of the iterator raises NotFoundError or InvalidInputError if the file cannot have this format.
After that, no content of the file causes an exception.
"""


WriteFile = Callable[[Store, Put], ItemsExported]
"""A function that writes the live atoms as the bytes of one file."""

WriteFolder = Callable[[Store, Path], ItemsExported]
"""A function that writes the live atoms as files in an empty folder."""


def split_text(text: str, label: str = "") -> tuple[str, ...]:
    """Split a text into pieces of the size of an atom, each with the prefix `label: ` if there is a label.

    Raises:
        BadItemError: the text is too long, or a piece is not valid as content.
    """
    if len(text) > TEXT_CHARS_MAX:
        raise BadItemError(f"the text has {len(text):,} characters; at most {TEXT_CHARS_MAX:,} are allowed")
    document, skipped = parse_plain(text.replace("\r\n", "\n"), "text")
    if skipped:
        raise BadItemError(skipped[0].reason)
    prefix = f"{label}: " if label else ""
    return tuple(prefix + piece.content for piece in document.pieces)


def checked_key(value: object, what: str) -> str:
    """Return the id of an item in the other program, checked as a key; error messages call the id `what`.

    Raises:
        BadItemError: the id is not a string, is empty, or is not valid as a key.
    """
    if not isinstance(value, str) or not value:
        raise BadItemError(f"{what} is missing or is not a string")
    if not is_line(value, KEY_BYTES_MAX - 8):
        raise BadItemError(f"{what} is over {KEY_BYTES_MAX - 8} bytes long or is not a single line")
    return value


def valid_tags(values: object) -> tuple[tuple[str, ...], int]:
    """Return the valid tags in a list, at most TAGS_PER_ATOM_MAX, and the number of list members left out."""
    words = values if isinstance(values, list) else []
    folded = [tag_of(word) if isinstance(word, str) else None for word in words]
    tags = distinct_tags(tag for tag in folded if tag is not None)[:TAGS_PER_ATOM_MAX]
    return tags, len(words) - len(tags)


def check_readable(path: Path) -> None:
    """Check that there is a file at `path`.

    Raises:
        NotFoundError: `path` does not exist.
        InvalidInputError: `path` is not a regular file, or not a valid path.
    """
    try:
        if not path.exists():
            raise NotFoundError(f"there is no file {path}")
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{str(path)!a:.80} cannot be used as a path: {error}") from None
    if is_folder:
        raise InvalidInputError(f"{path} is a folder")
    if not is_file:
        raise InvalidInputError(f"{path} is not a regular file")


def read_items(
    path: Path,
    read: Callable[[Any, str, int], Iterator[Item | Omitted | Skipped]],
    lists: Sequence[str] = (),
) -> Iterator[Item | Omitted | Skipped]:
    """Call `read` with each item of a file, the file's name and the item's number; yield the results.

    An item that is not valid JSON, or for which `read` raises BadItemError, is reported. If the file is an
    array, its elements are the items. If the file is an object, the items are the elements of the first list
    under one of the keys `lists`. Without such a list, the object itself is the only item. Only one item of
    an array, or the whole object, is copied into memory.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: according to its first bytes, the file is not JSON.
        EngineError: the file cannot be read.
    """
    check_readable(path)
    try:
        with path.open("rb") as stream, _mapped(stream, path) as raw:
            for item in _items(raw, path, lists):
                if isinstance(item, Skipped):
                    yield item
                    continue
                number, value = item
                try:
                    yield from read(value, path.name, number)
                except BadItemError as error:
                    yield Skipped(path.name, str(error), number)
    except OSError as error:
        raise EngineError(f"{path} cannot be read: {error.strerror}") from error


def _mapped(stream: BinaryIO, path: Path) -> mmap:
    try:
        return mmap(stream.fileno(), 0, access=ACCESS_READ)
    except ValueError:
        raise InvalidInputError(f"{path} is empty") from None


def _items(raw: mmap, path: Path, lists: Sequence[str]) -> Iterator[tuple[int, Any] | Skipped]:
    if raw[:4] == b"PK\x03\x04":
        raise InvalidInputError(f"{path} is a ZIP file", hint="unpack it, and name the JSON file in it")
    start = _START.match(raw)
    begin = start.end() if start else 0
    if raw[begin : begin + 1] == b"{":
        if len(raw) - begin > ITEM_BYTES_MAX:
            raise InvalidInputError(f"{path} is one object of over {ITEM_BYTES_MAX:,} bytes")
        yield from _members(raw[begin:], path, lists)
        return
    if raw[begin : begin + 1] != b"[":
        raise InvalidInputError(f"{path} is not JSON: it must begin with [ or {{")
    for number, item in enumerate(_elements(raw, begin + 1), 1):
        try:
            if isinstance(item, str):
                raise JsonError(item)
            yield number, parse(item)
        except JsonError as error:
            yield Skipped(path.name, str(error), number)


def _members(raw: bytes, path: Path, lists: Sequence[str]) -> Iterator[tuple[int, Any] | Skipped]:
    try:
        value = parse(raw)
    except JsonError as error:
        yield Skipped(path.name, str(error))
        return
    items = next((value[name] for name in lists if isinstance(value.get(name), list)), [value])
    yield from enumerate(items, 1)


def _elements(raw: mmap, begin: int) -> Iterator[bytes | str]:
    """Yield the bytes of each element of an array whose first element begins at `begin`, or an error message.

    Only brackets, commas and quotes are looked at. An element over `ITEM_BYTES_MAX` is not copied.
    """
    depth, start = 0, begin
    for token in _TOKEN.finditer(raw, begin):
        at, mark = token.start(), raw[token.start()]
        if mark == ord('"'):
            if token.end() == at + 1:
                break
        elif mark in b"[{":
            depth += 1
        elif depth:
            depth -= mark in b"]}"
        else:
            is_long = at - start > ITEM_BYTES_MAX
            item = b"" if is_long else raw[start:at].strip(_WHITE)
            if is_long or item or start > begin or mark == ord(","):
                yield f"the item is over {ITEM_BYTES_MAX:,} bytes long" if is_long else item
            start = token.end()
            if mark != ord(","):
                if mark != ord("]") or raw[start : start + ITEM_BYTES_MAX].strip(_WHITE):
                    yield "there are more bytes after the end of the array"
                return
    yield "the file ends inside this item"
