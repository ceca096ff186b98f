"""A folder that is published: files appear in it whole, and those that may not change never do."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backends.files import fsync_path, make_parents
from engine.base.errors import BusyError, ConflictError, EngineError, InvalidInputError, RefusedError

UNFINISHED = ".unfinished"
"""Where a file is written before it gets its name; one of a run that was killed is written over."""

READ_BYTES_MAX = 1 << 20
"""The largest file that is read back whole."""


class PublishedFolder:
    """Reads and writes files below one folder and nowhere else: no name is followed through a symbolic link.

    ConflictError is raised where what has the name of a file is none, or a link is on the way.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written = 0
        """Files that this object has put in place."""
        self._folders = {root}

    def names(self) -> set[str]:
        """What stands directly in the folder, a leftover of a killed run excepted."""
        return {entry.name for entry in self.root.iterdir()} - {UNFINISHED}

    def read(self, name: str) -> bytes | None:
        """The file `name`, or None; ConflictError where it is over 1 MiB."""
        size = self._size(name)
        if size is None:
            return None
        if size > READ_BYTES_MAX:
            raise ConflictError(f"{self.root / name} has {size} bytes; nothing of ours is so large")
        return (self.root / name).read_bytes()

    def has(self, name: str) -> bool:
        """Whether there is a file `name`."""
        return self._size(name) is not None

    def check(self, name: str, data: bytes) -> None:
        """Make sure that the file `name`, which never changes, says what it should.

        Raises:
            RefusedError: it says something else.
        """
        path = self.root / name
        if self._size(name) != len(data) or path.read_bytes() != data:
            raise RefusedError(
                f"{path} is there with other bytes than this log gives, and such a file never changes",
                hint="find out what changed it; once it is removed, the next run writes it anew",
            )

    def listed(self, name: str) -> list[str]:
        """What stands in the folder `name`, sorted; nothing if it is not there."""
        folder = self.root / name
        return sorted(path.name for path in folder.iterdir()) if self._stands(folder) else []

    def replace(self, name: str, data: bytes) -> None:
        """Put `data` in the place of the file `name`, which a reader sees whole, old or new."""
        path = self.root / name
        self._enter(path.parent)
        unfinished = self.root / UNFINISHED
        unfinished.unlink(missing_ok=True)  # a link of that name must not lead the writing elsewhere
        unfinished.write_bytes(data)
        fsync_path(unfinished)
        unfinished.replace(path)
        self.written += 1

    def settle(self) -> None:
        """Have every file that was written or looked for be sure to survive, one of a killed run too."""
        for folder in sorted(self._folders):
            fsync_path(folder)

    def rename(self, name: str, new: str) -> None:
        """Give a file its final name once everything else is sure to survive."""
        self.settle()
        (self.root / name).replace(self.root / new)
        fsync_path(self.root)

    def clear(self) -> None:
        """Remove what a killed run has left."""
        (self.root / UNFINISHED).unlink(missing_ok=True)

    def _enter(self, folder: Path) -> None:
        if not self._stands(folder):
            self._enter(folder.parent)
            folder.mkdir()
            self._folders.add(folder)

    def _stands(self, folder: Path) -> bool:
        """Whether a folder is there, and no link leads to it."""
        if folder in self._folders:
            return True
        if not self._stands(folder.parent):
            return False
        try:
            mode = folder.lstat().st_mode
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(mode):
            raise ConflictError(f"{folder} is no folder; nothing is written through a link")
        self._folders.add(folder)
        return True

    def _size(self, name: str) -> int | None:
        path = self.root / name
        if not self._stands(path.parent):
            return None
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
