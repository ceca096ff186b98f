"""Read the items of a JSON file one at a time; only a single item must fit into memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from engine.base.errors import EngineError, InvalidInputError
from engine.base.json_text import JsonError, parse
from engine.exchange.other_programs.base import Item, Omitted, check_readable
from engine.files.ingest.documents import BadItemError, Skipped

ITEM_BYTES_MAX: Final = 64 << 20

_READ_BYTES: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_WHITE: Final = b" \t\r\n"
_IN_STRING: Final = re.compile(rb'["\\]')
_OUTSIDE: Final = re.compile(rb'["\[\]{},]')


def read_items(
    path: Path,
    read: Callable[[Any, str, int], Iterator[Item | Omitted | Skipped]],
    lists: Sequence[str] = (),
) -> Iterator[Item | Omitted | Skipped]:
    """Call `read` with each item of a file, the file's name and the item's number; yield the results.

    An item that is not valid JSON, or for which `read` raises BadItemError, is reported. If the file is an
    array, its elements are the items. If the file is an object, the items are the elements of the first list
    under one of the keys `lists`. Without such a list, the object itself is the only item. Only one item of
    an array, or the whole object, is held in memory.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: according to its first bytes, the file is not JSON.
        EngineError: the file cannot be read.
    """
    check_readable(path)
    try:
        with path.open("rb") as stream:
            for found in _items(stream, path, lists):
                if isinstance(found, Skipped):
                    yield found
                    continue
                number, value = found
                try:
                    yield from read(value, path.name, number)
                except BadItemError as error:
                    yield Skipped(path.name, str(error), number)
    except OSError as error:
        raise EngineError(f"{path} cannot be read: {error.strerror}") from error


def _items(stream: BinaryIO, path: Path, lists: Sequence[str]) -> Iterator[tuple[int, Any] | Skipped]:
    begin = stream.read(_READ_BYTES)
    if begin.startswith(b"PK\x03\x04"):
        raise InvalidInputError(f"{path} is a ZIP file", hint="unpack it, and name the JSON file in it")
    begin = begin.removeprefix(_BOM).lstrip(_WHITE)
    if begin[:1] == b"[":
        raws = _elements(stream, begin[1:])
    elif begin[:1] == b"{":
        raw = begin + stream.read(ITEM_BYTES_MAX)
        if len(raw) > ITEM_BYTES_MAX:
            raise InvalidInputError(f"{path} is one object of over {ITEM_BYTES_MAX:,} bytes")
        yield from _members(raw, path, lists)
        return
    else:
        raise InvalidInputError(f"{path} is not JSON: it must begin with [ or {{")
    for number, item in raws:
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
    found = next((value[name] for name in lists if isinstance(value.get(name), list)), [value])
    yield from enumerate(found, 1)


def _elements(stream: BinaryIO, chunk: bytes) -> Iterator[tuple[int, bytes | str]]:
    """Yield the number of each element of an array with its bytes, or with an error message as a string.

    `chunk` contains the bytes after the `[`, and `stream` the rest. An element over `ITEM_BYTES_MAX` is not
    held in memory and gives an error message.
    """
    scan = _Scan()
    while chunk and not scan.ended:
        yield from scan.feed(chunk)
        chunk = b"" if scan.ended else stream.read(_READ_BYTES)
    if not scan.ended:
        yield scan.number + 1, "the file ends inside this item"
    elif (scan.rest + stream.read(_READ_BYTES)).strip(_WHITE):
        yield scan.number + 1, "there are more bytes after the end of the array"


class _Scan:
    """A scanner that splits an array into elements, looking only at brackets, commas and quotes."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._long = False
        self._depth = 0
        self._quoted = self._escaped = False
        self.number = 0
        self.ended = False
        self.rest = b""

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes | str]]:
        at = start = 0
        if self._escaped:
            self._escaped, at = False, 1
        while found := (_IN_STRING if self._quoted else _OUTSIDE).search(chunk, at):
            at, mark = found.end(), found[0]
            if mark == b"\\":
                self._escaped = at == len(chunk)
                at += 1
            elif mark == b'"':
                self._quoted = not self._quoted
            elif mark in b"[{":
                self._depth += 1
            elif self._depth:
                self._depth -= mark in b"]}"
            else:
                self._append(chunk[start : found.start()])
                start = at
                yield from self._element(last=mark != b",")
                if mark != b",":
                    self.ended, self.rest = True, (b"" if mark == b"]" else mark) + chunk[at:]
                    return
        self._append(chunk[start:])

    def _append(self, part: bytes) -> None:
        if not self._long:
            self._buffer += part
            if len(self._buffer) > ITEM_BYTES_MAX:
                self._long = True
                self._buffer.clear()

    def _element(self, *, last: bool) -> Iterator[tuple[int, bytes | str]]:
        raw = bytes(self._buffer).strip(_WHITE)
        self._buffer.clear()
        if last and not raw and not self._long and not self.number:
            return  # the array is empty
        self.number += 1
        yield self.number, f"the item is over {ITEM_BYTES_MAX:,} bytes long" if self._long else raw
        self._long = False
