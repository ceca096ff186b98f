"""The ways of reading a damaged SQLite store."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
import struct
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path

from backends.base import Row
from backends.salvaged_rows import Way
from backends.sqlite.sqlite_connections import address
from backends.sqlite.sqlite_tables import memory_numbers, statements_for

_UNNAMED = "rows"
_ROWS = "SELECT key, value FROM {} ORDER BY key"
_TABLES = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"

_LEAF, _INTERIOR = 10, 2

_FILE_HEADER_BYTES = 100

_DEFAULT_PAGE_BYTES = 4096

_WAL_HEADER_BYTES, _FRAME_HEADER_BYTES = 32, 24

_WAL_MAGIC = (0x377F0682, 0x377F0683)

_PAYLOAD_BYTES_MAX = 8 << 20
"""The maximum size of a record that is read; an event has at most 4 MiB."""

_COLUMNS_MAX = 8

_FIXED_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)
"""The sizes of columns of the types 0 to 11, in bytes."""

_RECORD_BEGINS = re.compile(rb"[\x03-\x08][\x0e-\x7f](?=.{1,6}[a-z])", re.DOTALL)
"""The first bytes of a record in a page. Only records with a short key that begins with a letter match."""

PageSource = Callable[[int], bytes | None]
"""A function that returns a page by its number, from 1, or None."""


def sqlite_ways(place: Path, memory: str | None, scratch: Path) -> Iterator[Way]:
    """Yield the ways of reading the store `memory` in the file `place`; `scratch` is a folder for copies."""
    copy = scratch / "copy"
    for end in ("", "-wal"):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(f"{place}{end}", f"{copy}{end}")
    yield Way("SQLite on a copy of the files", True, partial(_own_rows, copy, memory))
    name = "every page of the database and its WAL, without SQLite"
    yield Way(name, False, lambda _: _page_rows(place, memory, copy))


def _own_rows(copy: Path, memory: str | None, problems: list[str]) -> Iterator[Row]:
    """Yield the rows that SQLite finds in the copy. After damage, read from the end back to the damage."""
    table = ""
    wal = Path(f"{copy}-wal")
    with contextlib.closing(SQLiteFiles(copy, wal)) as files:
        frames = files.frames
    with contextlib.closing(sqlite3.connect(address(copy), uri=True, isolation_level=None)) as connection:
        try:
            table = _table(connection, memory)
            used = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1]
            if 0 <= used < frames:
                problems.append(f"SQLite uses {used} of the {frames} pages in the WAL")
            yield from connection.execute(_ROWS.format(table))
        except sqlite3.Error as error:
            problems.append(f"SQLite cannot read every row: {error}")
            if table:
                with contextlib.suppress(sqlite3.Error):
                    yield from connection.execute(_ROWS.format(table) + " DESC")
            return
        for (problem,) in connection.execute("PRAGMA integrity_check(1)"):
            if problem != "ok":
                problems.append(f"SQLite finds damage: {problem}")


def _table(connection: sqlite3.Connection, memory: str | None) -> str:
    """Return the name of the table of a memory."""
    if memory is None:
        return _UNNAMED
    number = memory_numbers(connection).get(memory)
    if number is None:
        raise sqlite3.DatabaseError(f"there is no memory {memory!r} in the file")
    return statements_for(number).table


def _page_rows(place: Path, memory: str | None, copy: Path) -> Iterator[Row]:
    with contextlib.closing(SQLiteFiles(place, Path(f"{place}-wal"))) as files:
        yield from files.rows(without=_pages_of_others(files, memory, copy))


def _pages_of_others(files: SQLiteFiles, memory: str | None, copy: Path) -> set[int]:
    """Return the pages that belong to other memories, as far as the tables of the file can be read."""
    try:
        with contextlib.closing(sqlite3.connect(address(copy), uri=True)) as connection:
            table = _table(connection, memory)
            tables = connection.execute(_TABLES).fetchall()
    except sqlite3.Error:
        return set()
    waiting = [root for name, root in tables if name == _UNNAMED or name.startswith("memory_")]
    waiting = [root for name, root in tables if root in waiting and name != table]
    pages: set[int] = set()
    while waiting:
        page = waiting.pop()
        if page not in pages:
            pages.add(page)
            waiting += files.children(page)
    return pages


class _Damaged(Exception):
    """Raised if bytes cannot be decoded."""


class SQLiteFiles:
    """The pages of a SQLite database and of its WAL.

    Args:
        database: The database.
        wal: The WAL; it need not exist.

    Raises:
        OSError: a file cannot be read.
    """

    def __init__(self, database: Path, wal: Path) -> None:
        self._file = database.open("rb")
        header = self._file.read(_FILE_HEADER_BYTES)
        self._wal = wal.read_bytes() if wal.exists() else b""
        self.page_bytes = self._page_bytes(header)
        self._usable = self.page_bytes - (header[20] if len(header) > 20 and header[20] < 64 else 0)
        self.pages = -(-database.stat().st_size // self.page_bytes)
        self._frames = list(self._present_frames())
        self._versions: dict[int, list[int]] = defaultdict(list)
        for at, (number, _, _) in enumerate(self._frames):
            self._versions[number].append(at)

    def close(self) -> None:
        """Close the database."""
        self._file.close()

    def _page_bytes(self, header: bytes) -> int:
        """Return the page size that is stated in the database or in the WAL; otherwise SQLite's default."""
        stored = int.from_bytes(header[16:18], "big")
        for size in (65536 if stored == 1 else stored, int.from_bytes(self._wal[8:12], "big")):
            if 512 <= size <= 65536 and not size & (size - 1):
                return size
        return _DEFAULT_PAGE_BYTES

    def _present_frames(self) -> Iterator[tuple[int, bool, int]]:
        """Yield (page number, whether a transaction ends, position) for each frame of the present round.

        A frame belongs to the round if it repeats the salts of the WAL's header. If the header is damaged,
        the salts of the first frame are used.
        """
        step = _FRAME_HEADER_BYTES + self.page_bytes
        first = self._wal[_WAL_HEADER_BYTES : _WAL_HEADER_BYTES + _FRAME_HEADER_BYTES]
        salts = self._wal[16:24]
        if int.from_bytes(self._wal[:4], "big") not in _WAL_MAGIC:
            salts = first[8:16]
        for at in range(_WAL_HEADER_BYTES, len(self._wal) - step + 1, step):
            number, size, salt = struct.unpack_from(">II8s", self._wal, at)
            if salt == salts and number:
                yield number, size != 0, at + _FRAME_HEADER_BYTES

    @property
    def frames(self) -> int:
        """The number of frames in the WAL's present round."""
        return len(self._frames)

    def rows(self, without: Collection[int] = ()) -> Iterator[Row]:
        """Yield the rows of all pages except `without`. Pages of the WAL come first, the newest page first.

        A row consists of the first two columns, if both are blobs.
        """
        for at in range(len(self._frames) - 1, -1, -1):
            number = self._frames[at][0]
            if number not in without:
                source = partial(self._version, until=self._end_of_transaction(at))
                yield from self._page_rows(number, self._frame(at), source)
        for number in range(1, self.pages + 1):
            page = self._stored(number)
            if page is not None and number not in without:
                yield from self._page_rows(number, page, self._stored)

    def newest(self, number: int) -> bytes | None:
        """Return the newest version of a page."""
        return self._version(number, len(self._frames))

    def _end_of_transaction(self, at: int) -> int:
        while at < len(self._frames) - 1 and not self._frames[at][1]:
            at += 1
        return at

    def _version(self, number: int, until: int) -> bytes | None:
        """Return the newest version of a page at or before the frame `until`, or the page of the database."""
        for at in reversed(self._versions.get(number, ())):
            if at <= until:
                return self._frame(at)
        return self._stored(number)

    def _frame(self, at: int) -> bytes:
        position = self._frames[at][2]
        return self._wal[position : position + self.page_bytes]

    def _stored(self, number: int) -> bytes | None:
        if not 0 < number <= self.pages:
            return None
        self._file.seek((number - 1) * self.page_bytes)
        try:
            page = self._file.read(self.page_bytes)
        except OSError:
            return None  # a sector that the disk cannot read
        return page.ljust(self.page_bytes, b"\0")

    def children(self, number: int) -> list[int]:
        """Return the children of a page of a table's tree, from the newest version of the page."""
        page = self.newest(number)
        at = _FILE_HEADER_BYTES if number == 1 else 0
        if page is None or page[at] != _INTERIOR:
            return []
        below = [int.from_bytes(page[cell : cell + 4], "big") for cell in self._cells(page, at)]
        return [*below, int.from_bytes(page[at + 8 : at + 12], "big")]

    def _cells(self, page: bytes, at: int) -> list[int]:
        head = at + (12 if page[at] == _INTERIOR else 8)
        count = int.from_bytes(page[at + 3 : at + 5], "big")
        count = min(count, (self._usable - head) // 2)
        return [cell for (cell,) in struct.iter_unpack(">H", page[head : head + 2 * count])]

    def _page_rows(self, number: int, page: bytes, source: PageSource) -> Iterator[Row]:
        """Yield the rows of a page.

        If its list of cells is damaged, also yield everything that looks like a row.
        """
        at = _FILE_HEADER_BYTES if number == 1 else 0
        whole = page[at] in (_LEAF, _INTERIOR)
        for cell in self._cells(page, at) if whole else ():
            try:
                _, start = _varint(page, cell + (4 if page[at] == _INTERIOR else 0))
                row = self._row(page, start, source)
            except (_Damaged, IndexError):
                whole = False
                continue
            if row is not None:
                yield row
        if not whole:
            yield from self._scattered_rows(page, source)

    def _scattered_rows(self, page: bytes, source: PageSource) -> Iterator[Row]:
        for match in _RECORD_BEGINS.finditer(page):
            try:
                row = self._row(page, match.start(), source)
            except (_Damaged, IndexError):
                continue
            if row is not None:
                yield row

    def _row(self, page: bytes, at: int, source: PageSource) -> Row | None:
        """Return the first two columns of the record at a position, or None if they are not blobs.

        The rest of a large record is on overflow pages.
        """
        size, kinds = _record_head(page, at)
        if len(kinds) < 2 or not all(kind >= 12 and not kind & 1 for kind in kinds[:2]):
            return None
        end = size + sum(_size_of(kind) for kind in kinds)
        record = self._payload(page, at, end, source)
        middle = size + _size_of(kinds[0])
        last = middle + _size_of(kinds[1])
        return None if len(record) < end else (record[size:middle], record[middle:last])

    def _payload(self, page: bytes, at: int, size: int, source: PageSource) -> bytes:
        """Return the record of `size` bytes that begins at a position of a page."""
        usable = self._usable
        most, least = (usable - 12) * 64 // 255 - 23, (usable - 12) * 32 // 255 - 23
        if size <= most:
            return page[at : at + size]
        if size > _PAYLOAD_BYTES_MAX:
            raise _Damaged
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        parts, have = [page[at : at + local]], local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        while have < size:
            rest = source(following)
            if rest is None:
                raise _Damaged
            following = int.from_bytes(rest[:4], "big")
            parts.append(rest[4 : min(usable, 4 + size - have)])
            have += len(parts[-1])
        return b"".join(parts)


def _record_head(data: bytes, at: int) -> tuple[int, list[int]]:
    """Return the size of a record's head, and the types of its columns."""
    size, position = _varint(data, at)
    kinds: list[int] = []
    while position < at + size and len(kinds) <= _COLUMNS_MAX:
        kind, position = _varint(data, position)
        kinds.append(kind)
    return size, kinds


def _size_of(kind: int) -> int:
    """Return the size in bytes of a column of the given type."""
    return (kind - 12) // 2 if kind >= 12 else _FIXED_SIZES[kind]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number that has SQLite's variable-length encoding, and the position after the number."""
    number = 0
    for _ in range(8):
        byte = data[at]
        at += 1
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at
    return number << 8 | data[at], at + 1
