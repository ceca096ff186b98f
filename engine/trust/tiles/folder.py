"""A folder of published files: a file appears only when it is complete, and tiles are never changed."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backends.files import fsync_path, make_parents
from engine.base.error_translation import system_failure
from engine.base.errors import BusyError, ConflictError, InvalidInputError, RefusedError

UNFINISHED = ".unfinished"
"""The temporary name of a file that is being written. A file left by a killed process is overwritten."""

READ_BYTES_MAX = 1 << 20
"""The maximum size, in bytes, of a file that is read as a whole."""


class PublishedFolder:
    """Reads and writes files in one folder and its subfolders. It does not follow symbolic links.

    The methods raise ConflictError if a path is taken by something that is not a regular file, or goes
    through a symbolic link.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written = 0
        """The number of files that were written through this object."""
        self._folders = {root}

    def names(self) -> set[str]:
        """Return the names in the folder, except the name of a temporary file that a killed process left."""
        return {entry.name for entry in self.root.iterdir()} - {UNFINISHED}

    def read(self, name: str) -> bytes | None:
        """Return the content of the file `name`, or None if it does not exist.

        Raises:
            ConflictError: The file is larger than 1 MiB.
        """
        size = self._size(name)
        if size is None:
            return None
        if size > READ_BYTES_MAX:
            raise ConflictError(
                f"{self.root / name} has {size} bytes, but a checkpoint has at most {READ_BYTES_MAX} bytes"
            )
        return (self.root / name).read_bytes()

    def has(self, name: str) -> bool:
        """Return True if the file `name` exists."""
        return self._size(name) is not None

    def check(self, name: str, data: bytes) -> None:
        """Check that the file `name`, which must never change, contains `data`.

        Raises:
            RefusedError: The file has different content.
        """
        path = self.root / name
        if self._size(name) != len(data) or path.read_bytes() != data:
            raise RefusedError(
                f"{path} differs from this log, although such a file must never change",
                hint="find out what changed the file, then remove the file; the next export writes it again",
            )

    def listed(self, name: str) -> list[str]:
        """Return the sorted names in the subfolder `name`, or an empty list if there is no such subfolder."""
        folder = self.root / name
        return sorted(path.name for path in folder.iterdir()) if self._exists(folder) else []

    def replace(self, name: str, data: bytes) -> None:
        """Write `data` to the file `name` atomically: a reader gets either the old or the new content."""
        path = self.root / name
        self._enter(path.parent)
        unfinished = self.root / UNFINISHED
        unfinished.unlink(missing_ok=True)  # a link with that name would redirect the write to another file
        unfinished.write_bytes(data)
        fsync_path(unfinished)
        unfinished.replace(path)
        self.written += 1

    def sync(self) -> None:
        """Sync the folders, so that every file that was written or read survives a crash.

        This includes files that were written by a killed process.
        """
        for folder in sorted(self._folders):
            fsync_path(folder)

    def rename(self, name: str, new: str) -> None:
        """Give a temporary file its final name, after all other files are durable."""
        self.sync()
        (self.root / name).replace(self.root / new)
        fsync_path(self.root)

    def clear(self) -> None:
        """Remove a temporary file that a killed process left."""
        (self.root / UNFINISHED).unlink(missing_ok=True)

    def _enter(self, folder: Path) -> None:
        if not self._exists(folder):
            self._enter(folder.parent)
            folder.mkdir()
            self._folders.add(folder)

    def _exists(self, folder: Path) -> bool:
        """Return True if the folder exists; check that its path goes through no symbolic link."""
        if folder in self._folders:
            return True
        if not self._exists(folder.parent):
            return False
        try:
            mode = folder.lstat().st_mode
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(mode):
            raise ConflictError(f"{folder} is not a folder; symbolic links are not followed")
        self._folders.add(folder)
        return True

    def _size(self, name: str) -> int | None:
        path = self.root / name
        if not self._exists(path.parent):
            return None
        try:
            status = path.lstat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise ConflictError(f"{path} is not a regular file")
        return status.st_size


@contextmanager
def published(root: Path) -> Iterator[PublishedFolder]:
    """Open the folder `root` for this process alone, after creating it if necessary.

    Raises:
        InvalidInputError: `root` is not a folder.
        BusyError: Another process is writing to the folder.
        EngineError: Writing to the disk failed.
    """
    try:
        descriptor = _locked(root)
        try:
            yield PublishedFolder(root)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise system_failure(error, f"{root} cannot be written") from error


def _locked(root: Path) -> int:
    """Return a file descriptor of the folder, through which the folder is locked (flock)."""
    if "\0" in str(root) or (root.exists() and not root.is_dir()):
        raise InvalidInputError(f"{str(root)!r} is not a folder")
    make_parents(root / UNFINISHED)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BusyError(f"another process is writing to {root}", hint="wait until it has finished") from None
    return descriptor
