"""The mark of a SQLite file: the number of events in each of its stores, kept in a separate file.

After a damaged frame, SQLite ignores the rest of the WAL without an error, although the rest may hold
transactions that were acknowledged. The file `PATH-wal-mark` shows the loss. It has 64 bytes for each store
in the file. After each durable commit, the handle writes the content of the backend's own row there. The mark
is not synced, so it may lag behind the store after a crash. If the mark is ahead of the store, the store has
lost commits, or was replaced by an older copy. If there is no mark, nothing is compared.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import struct
from pathlib import Path
from zlib import crc32

from backends.errors import BackendCorrupt, BackendLost, BackendUnusable
from backends.files import fsync_opened, fsync_path
from backends.locks import share_permissions
from backends.sqlite.sqlite_connections import address
from backends.sqlite.sqlite_tables import Own, memory_numbers, read_own, statements_for

MARK_SUFFIX = "-wal-mark"

_MAGIC = b"memrmark"
_FORM = struct.Struct(">8s8sQQ28x")
_SUM_BYTES = 4
_SLOT_BYTES = _FORM.size + _SUM_BYTES
_EMPTY = bytes(_SLOT_BYTES)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Mark:
    """The mark of one store.

    Args:
        store: The path of the database, a result of `backends.files.resolve_path`.
        number: The number of the memory in the file; 0 is the store without a name.
    """

    def __init__(self, store: Path, number: int) -> None:
        self._store = store
        self._path = Path(f"{store}{MARK_SUFFIX}")
        self._at = number * _SLOT_BYTES
        self._descriptor: int | None = None

    def read(self) -> Own | None:
        """Return the last row that was marked, or None.

        Read the mark before the database: then a commit between the two reads cannot look like a loss.

        Raises:
            BackendCorrupt: the file is damaged, or is not a mark.
            OSError: the system denies access.
        """
        try:
            descriptor = os.open(self._path, _READ)
        except FileNotFoundError:
            return None
        try:
            slot = os.pread(descriptor, _SLOT_BYTES, self._at)
        finally:
            os.close(descriptor)
        if slot in (b"", _EMPTY):
            return None
        raw, checksum = slot[: _FORM.size], slot[_FORM.size :]
        if len(slot) == _SLOT_BYTES and slot.startswith(_MAGIC) and checksum == _sum(raw):
            return Own(*_FORM.unpack(raw)[1:])
        raise BackendCorrupt(
            f"{self._path} is damaged, or is not a file of memroot; move it to another folder, and the store "
            f"opens without it"
        )

    def prepare(self) -> None:
        """Open the file for `write`; create it if it is missing. Call this before the commit.

        Raises:
            BackendUnusable: the path is occupied by something that is not a file.
            OSError: the system denies access, or the disk is full.
        """
        self._prepared()

    def _prepared(self) -> int:
        """Return the descriptor of the file, after reserving space for the mark."""
        if self._descriptor is None:
            missing = not self._path.exists()
            self._descriptor = os.open(self._path, _WRITE, 0o600)
            self._take_space(self._descriptor)
            if missing:
                share_permissions(self._descriptor, self._store)
                fsync_path(self._path.parent)
        return self._descriptor

    def _take_space(self, descriptor: int) -> None:
        """Make the file long enough, so that `write` does not fail on a full disk."""
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise BackendUnusable(f"{self._path} is not a file, but the store needs the path; rename it")
        if status.st_size < self._at + _SLOT_BYTES:
            os.pwrite(descriptor, _EMPTY, self._at)
            fsync_opened(descriptor)

    def write(self, own: Own) -> None:
        """Record that the store has reached `own`. Call this after the commit, before other processes write.

        Raises:
            OSError: the system fails to write.
        """
        raw = _FORM.pack(_MAGIC, *own)
        os.pwrite(self._prepared(), raw + _sum(raw), self._at)

    def check(self, marked: Own | None, own: Own, where: str) -> None:
        """Raise BackendLost if the mark is ahead of the store.

        Args:
            marked: The result of `read`.
            own: The backend's own row, read after the mark.
            where: The store's name in messages.
        """
        if marked is None or marked.file != own.file or marked.writes <= own.writes:
            return
        if marked.reach > own.reach:
            lost = f"events up to {marked.reach:,} were acknowledged, but the file ends at {own.reach:,}"
        else:
            lost = f"{marked.writes:,} durable writes were acknowledged, but the file has {own.writes:,}"
        raise BackendLost(
            f"{where} has lost data: {lost}; its WAL is damaged, or an older copy was put in its place",
            hint=f"copy {self._store} and the files beside it to another folder, then read what is left with "
            "`engine rescue STORE -o NEW`; to accept the loss, or if you restored an older copy, delete "
            f"{self._path}",
        )

    def close(self) -> None:
        """Close the file; calling it twice is allowed."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _is_left_over(store: Path) -> bool:
    """Return True if a WAL and a mark exist: a process is using the store, or did not close it."""
    wal, mark = Path(f"{store}-wal"), Path(f"{store}{MARK_SUFFIX}")
    return mark.exists() and wal.exists() and wal.stat().st_size > 0


def check_marks(store: Path, busy_seconds: float) -> None:
    """Before SQLite changes a damaged WAL, raise BackendLost if commits of any memory in a file are missing.

    When the last connection that can write is closed, SQLite moves the readable part of the WAL into the
    database and removes the rest. A connection that can only read leaves the WAL as it is.

    Raises:
        BackendLost: commits are missing.
        BackendCorrupt: the mark or a row of the backend is damaged.
        OSError: the mark cannot be read.
        sqlite3.Error: SQLite fails.
    """
    if not _is_left_over(store):
        return
    with contextlib.closing(
        sqlite3.connect(address(store, "ro"), uri=True, timeout=busy_seconds)
    ) as connection:
        _check_marks(connection, store)


def _check_marks(connection: sqlite3.Connection, store: Path) -> None:
    for name, number in (("", 0), *memory_numbers(connection).items()):
        mark = Mark(store, number)
        marked = mark.read()
        if marked is not None:
            where = f"memory {name!r} in {store}" if name else str(store)
            mark.check(marked, read_own(connection, statements_for(number), where), where)


def _sum(raw: bytes) -> bytes:
    return crc32(raw).to_bytes(_SUM_BYTES, "big")
