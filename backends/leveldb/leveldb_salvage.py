"""The ways of reading a damaged LevelDB store.

LevelDB changes a folder when it opens the folder. It may even write into a file that is not in its list of
files. So LevelDB is given copies of the files, and never links to them.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

from backends.base import Row
from backends.errors import BackendUnusable
from backends.leveldb.leveldb_opening import lost_logs, open_copy, plyvel_module
from backends.leveldb.leveldb_place import NOT_ROWS, TABLES, data_folders
from backends.salvaged_rows import Way

_LOG = ".log"
_CURRENT = "CURRENT"

_FOOTER_BYTES = 48

_MAGIC = bytes.fromhex("57fb808b247547db")

_TRAILER_BYTES = 5
"""The number of bytes after each block of a table: the type of compression, and a checksum."""

_TAG_BYTES = 8
"""The number of bytes after each key in a table: one for the kind of row, the others for LevelDB's sequence
number."""

_DELETED, _SET = 0, 1

_LOG_BLOCK_BYTES = 32768

_RECORD = struct.Struct("<IHB")

_DAMAGED, _FULL, _FIRST, _MIDDLE, _LAST = 0, 1, 2, 3, 4

_BATCH_HEADER_BYTES = 12

_ROW_BEGINS = re.compile(rb"\x01[\x01-\x7f][a-z]")
"""The beginning of a row in a log of a store of this package: the code for setting a row, then a short
key that begins with a letter."""


def leveldb_ways(place: Path, scratch: Path) -> Iterator[Way]:
    """Yield the ways of reading the LevelDB store in the folder `place`; `scratch` is a folder for copies."""
    data = _data_folder(place)
    if not any(file.name == _CURRENT or file.suffix in (*TABLES, _LOG) for file in data.iterdir()):
        raise BackendUnusable(f"{place} is a folder without files of LevelDB, so it is not a store")
    yield Way("LevelDB on a copy of the files", True, partial(_own_rows, data, scratch / "copy"))
    yield Way("every table and log, without LevelDB", False, partial(_file_rows, data))


def _data_folder(place: Path) -> Path:
    """Return the folder with LevelDB's files.

    An interrupted rewrite may have left them in a second folder.
    """
    return next(iter(data_folders(place)), place)


def _own_rows(data: Path, copy: Path, problems: list[str]) -> Iterator[Row]:
    """Yield the rows that LevelDB finds in a copy. After damage, a new copy is read with fewer checks."""
    try:
        plyvel = plyvel_module()
    except BackendUnusable:
        problems.append("LevelDB was not used, because the package plyvel is not installed")
        return
    for strict in (True, False):
        _copy(data, copy)
        try:
            with (
                contextlib.closing(open_copy(copy, strict=strict)) as database,
                contextlib.closing(database.iterator(verify_checksums=True)) as rows,
            ):
                yield from rows
        except plyvel.Error as error:
            how = "" if strict else " without strict checks"
            problems.append(f"LevelDB cannot read every row{how}: {_told(error, copy)}")
        else:
            return


def _copy(data: Path, copy: Path) -> None:
    if copy.exists():
        shutil.rmtree(copy)
    copy.mkdir()
    for name, file in _files(data).items():
        if file.is_file() and name not in NOT_ROWS:
            shutil.copyfile(file, copy / name)


def _files(data: Path) -> dict[str, Path]:
    """Return the files of the database by name, including files that an interrupted opening preserved."""
    return {path.name: path for path in data.iterdir()} | lost_logs(data)


def _told(error: Exception, copy: Path) -> str:
    """Return LevelDB's message without the path of the copy."""
    told = str(error)
    if told.startswith(("b'", 'b"')):
        told = told[2:-1]
    return told.replace(f"{copy}/", "")


def _file_rows(data: Path, problems: list[str]) -> Iterator[Row]:
    """Yield the rows of all files, newest file first."""
    readers: dict[str, Callable[[bytes], Iterator[Row]]] = {
        _LOG: log_rows,
        **dict.fromkeys(TABLES, table_rows),
    }
    for name, file in sorted(_files(data).items(), reverse=True):
        if file.suffix not in readers:
            continue
        try:
            content = file.read_bytes()
        except OSError as error:
            problems.append(f"{name} cannot be read: {error.strerror}")
            continue
        yield from readers[file.suffix](content)


class _Damaged(Exception):
    """Raised if bytes cannot be decoded."""


def table_rows(data: bytes) -> Iterator[Row]:
    """Yield the rows of a table file (`.ldb`), in the order of the file. Deleted rows are left out."""
    blocks = _indexed_blocks(data) or _consecutive_blocks(data)
    for start, end in blocks:
        for key, value in _block_rows(data, start, end):
            if len(key) > _TAG_BYTES and key[-_TAG_BYTES] == _SET:
                yield key[:-_TAG_BYTES], value


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Decode a variable-length number of LevelDB; return the number and the position after it."""
    number = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise _Damaged


def _indexed_blocks(data: bytes) -> list[tuple[int, int]]:
    """Return the start and end of each block in the table's index, or an empty list if there is no index."""
    if data[-8:] != _MAGIC:
        return []
    try:
        at = len(data) - _FOOTER_BYTES
        for _ in range(2):
            _, at = _varint(data, at, len(data))
        start, at = _varint(data, at, len(data))
        size, _ = _varint(data, at, len(data))
    except _Damaged:
        return []
    blocks = []
    for _, handle in _block_rows(data, start, min(start + size, len(data))):
        try:
            first, at = _varint(handle, 0, len(handle))
            length, _ = _varint(handle, at, len(handle))
        except _Damaged:
            continue
        if first + length <= len(data):
            blocks.append((first, first + length))
    # A damaged entry of the index hides a block. Such a gap is read as a block, too.
    edges = [(-_TRAILER_BYTES, -_TRAILER_BYTES), *sorted(blocks), (start, start)]
    gaps = [(left[1] + _TRAILER_BYTES, right[0] - _TRAILER_BYTES) for left, right in pairwise(edges)]
    return sorted(blocks + [(first, last) for first, last in gaps if last - first > _TAG_BYTES])


def _consecutive_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each block of a table that has no index, such as a truncated table.

    A block ends with the positions of its restarts (four bytes each) and the number of restarts. The first
    position is 0, so it consists of four zero bytes. No row begins with four zero bytes.
    """
    start = 0
    while start < len(data):
        at = start
        try:
            while data[at : at + 4] != bytes(4):
                _, after = _varint(data, at, len(data))
                fresh, after = _varint(data, after, len(data))
                length, after = _varint(data, after, len(data))
                at = after + fresh + length
        except _Damaged:
            at = len(data)
        count = 0
        while at + 4 <= len(data) and int.from_bytes(data[at : at + 4], "little") != max(count, 1):
            at, count = at + 4, count + 1
        yield start, min(at + 4, len(data))
        start = at + 4 + _TRAILER_BYTES


def _block_rows(data: bytes, start: int, end: int) -> Iterator[Row]:
    """Yield the entries of a block, with the keys as stored. After damage, go on at the next restart."""
    points, stop = _restarts(data, start, end)
    for first, last in pairwise([*points, stop]):
        at, key = first, b""
        try:
            while at < last:
                shared, at = _varint(data, at, last)
                fresh, at = _varint(data, at, last)
                length, at = _varint(data, at, last)
                if shared > len(key) or at + fresh + length > last:
                    break
                key = key[:shared] + data[at : at + fresh]
                at += fresh + length
                yield key, data[at - length : at]
        except _Damaged:
            continue


def _restarts(data: bytes, start: int, end: int) -> tuple[list[int], int]:
    """Return the positions in a block where an entry has its whole key, and the end of the entries."""
    count = int.from_bytes(data[max(start, end - 4) : end], "little")
    stop = end - 4 - 4 * count
    if stop < start:
        return [start], end
    offsets = struct.unpack(f"<{count}I", data[stop : stop + 4 * count])
    if not offsets or offsets[0] != 0 or any(left >= right for left, right in pairwise(offsets)):
        return [start], end
    return [start + offset for offset in offsets if start + offset < stop], stop


def log_rows(data: bytes) -> Iterator[Row]:
    """Yield the rows of a log file (`.log`), in the order of writing. Deleted rows are left out."""
    for batch in _batches(data):
        yield from _batch_rows(batch)


def _batches(data: bytes) -> Iterator[bytes]:
    """Yield the batches of a log without their headers. A damaged batch is yielded in parts."""
    parts: list[bytes] = []
    for kind, part in _records(data):
        begins = kind in (_FULL, _FIRST)
        if parts and (begins or kind == _DAMAGED):
            yield b"".join(parts)
            parts = []
        if kind == _DAMAGED or not (begins or parts):
            yield part
        else:
            parts.append(part[_BATCH_HEADER_BYTES:] if begins else part)
        if kind in (_FULL, _LAST) and parts:
            yield b"".join(parts)
            parts = []
    if parts:
        yield b"".join(parts)


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a log with their kinds. After a damaged header, yield the rest of the block."""
    for block in range(0, len(data), _LOG_BLOCK_BYTES):
        at, end = block, min(block + _LOG_BLOCK_BYTES, len(data))
        while end - at >= _RECORD.size:
            _, length, kind = _RECORD.unpack_from(data, at)
            at += _RECORD.size
            if kind not in (_FULL, _FIRST, _MIDDLE, _LAST) or at + length > end:
                yield _DAMAGED, data[at:end]
                break
            yield kind, data[at : at + length]
            at += length


def _batch_rows(batch: bytes) -> Iterator[Row]:
    """Yield the rows of a batch. After damage, go on at the next bytes that look like a row."""
    at = 0
    while at < len(batch):
        try:
            row, at = _batch_row(batch, at)
        except _Damaged:
            following = _ROW_BEGINS.search(batch, at + 1)
            if following is None:
                return
            at = following.start()
        else:
            if row is not None:
                yield row


def _batch_row(batch: bytes, at: int) -> tuple[Row | None, int]:
    """Return the row at a position of a batch (None for a deleted row), and the position after the row."""
    kind, end = batch[at], len(batch)
    length, at = _varint(batch, at + 1, end)
    key = batch[at : at + length]
    at += length
    if kind == _DELETED and at <= end and key:
        return None, at
    size, at = _varint(batch, at, end)
    if kind != _SET or at + size > end or not key:
        raise _Damaged
    return (key, batch[at : at + size]), at + size
