"""A folder that is published: files appear in it whole, and those that may not change never do."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backends.files import fsync_path, make_parents
from engine.errors import BusyError, ConflictError, EngineError, InvalidInputError

UNFINISHED = ".unfinished"
"""Where a file is written before it gets its name; one of a run that was killed is written over."""

READ_BYTES_MAX = 1 << 20
"""The largest file that is read back whole."""


class PublishedFolder:
    """Writes files below one folder and nowhere else: no name is followed through a symbolic link."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written = 0
        """Files that this object has put in place."""
        self._folders = {root}

    def names(self) -> set[str]:
        """What stands directly in the folder, a leftover of a killed run excepted."""
        return {entry.name for entry in self.root.iterdir()} - {UNFINISHED}

    def read(self, name: str) -> bytes | None:
        """The file `name`, or None.

        Raises:
            ConflictError: what has the name is no file of at most 1 MiB.
        """
        path = self._path(name)
        size = self._size(path)
        if size is None:
            return None
        if size > READ_BYTES_MAX:
            raise ConflictError(f"{path} has {size} bytes; nothing of ours is so large")
        return path.read_bytes()

    def keep(self, name: str, data: bytes) -> None:
        """Make sure that the file `name`, which never changes, is there.

        Raises:
            ConflictError: it is there and says something else.
        """
        path = self._path(name)
        size = self._size(path)
        if size is None:
            self.replace(name, data)
        elif size != len(data) or path.read_bytes() != data:
            raise ConflictError(
                f"{path} is there with other bytes than this log gives, and such a file never changes",
                hint="choose an empty folder",
            )

    def replace(self, name: str, data: bytes) -> None:
        """Put `data` in the place of the file `name`, which a reader sees whole, old or new."""
        path = self._path(name)
        unfinished = self.root / UNFINISHED
        unfinished.unlink(missing_ok=True)  # a link of that name must not lead the writing elsewhere
        unfinished.write_bytes(data)
        fsync_path(unfinished)
        unfinished.replace(path)
        self.written += 1

    def rename(self, name: str, new: str) -> None:
        """Give a file its final name once everything written before is sure to survive."""
        for folder in sorted(self._folders):
            fsync_path(folder)
        self._path(name).replace(self._path(new))
        fsync_path(self.root)

    def clear(self) -> None:
        """Remove what a killed run has left."""
        (self.root / UNFINISHED).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        path = self.root / name
        self._enter(path.parent)
        return path

    def _enter(self, folder: Path) -> None:
        if folder in self._folders:
            return
        self._enter(folder.parent)
        folder.mkdir(exist_ok=True)
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise ConflictError(f"{folder} is a link, not a folder; nothing is written through it")
        self._folders.add(folder)

    @staticmethod
    def _size(path: Path) -> int | None:
        try:
            found = path.lstat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(found.st_mode):
            raise ConflictError(f"{path} is no file")
        return found.st_size


@contextmanager
def published(root: Path) -> Iterator[PublishedFolder]:
    """The folder `root`, made if it is not there, for this process alone until the end of the block.

    Raises:
        InvalidInputError: it cannot be a folder.
        BusyError: another process is writing to it.
        EngineError: the disk does not take what is written.
    """
    try:
        descriptor = _locked(root)
        try:
            yield PublishedFolder(root)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise EngineError(
            f"cannot write to {root}: {error.strerror}", hint="mend that and run again"
        ) from error


def _locked(root: Path) -> int:
    """A descriptor of the folder that holds its flock."""
    if "\0" in str(root) or (root.exists() and not root.is_dir()):
        raise InvalidInputError(f"{str(root)!r} is not a folder")
    make_parents(root / UNFINISHED)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BusyError(f"another process is writing to {root}", hint="wait until it is done") from None
    return descriptor
