"""A registry of the stores that this process has open, by device and inode.

File locks are not enough inside one process. LevelDB and SQLite lock files with fcntl(). If a process closes
*any* descriptor of such a file, even a descriptor that was opened only for reading, all locks of the process
on this file are released. So a second LevelDB handle must be refused before LevelDB opens the file, and a
SQLite file must not be inspected while a handle on it is open. Two paths to the same file (through links or
mounts) are treated as one store.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

from backends.errors import BackendUnusable

Identity = tuple[int, int]
"""The identity of a file: the numbers of its device and of its inode."""


class Registry:
    """The number of open handles on each store, and the stores that were open before a fork."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """The lock to hold between checking the registry and registering the new handle."""
        self._open: Counter[Identity] = Counter()
        self._inherited: set[Identity] = set()

    def enter(self, identity: Identity) -> None:
        """Register one more open handle on the store `identity`."""
        with self.lock:
            self._open[identity] += 1

    def leave(self, identity: Identity) -> None:
        """Unregister one open handle on the store `identity`."""
        with self.lock:
            self._open[identity] -= 1
            if not self._open[identity]:
                del self._open[identity]

    def is_open(self, identity: Identity) -> bool:
        """Return True if this process has an open handle on the store `identity`."""
        with self.lock:
            return identity in self._open

    def refuse_inherited(self, identity: Identity, path: Path) -> None:
        """Raise BackendUnusable if the parent process had the store open when it forked this process.

        LevelDB and SQLite both keep a table of locked files in the memory of the process. In a forked process
        the table lists locks that the process does not hold, so the process must not open those files at all.
        """
        if identity in self._inherited:
            raise BackendUnusable(
                f"{path} was open in the process that this one was forked from; "
                f"use multiprocessing's 'spawn' instead"
            )

    def after_fork(self) -> None:
        """In a newly forked process, mark all open stores as stores that the parent process has open."""
        self.lock = threading.RLock()
        self._inherited |= set(self._open)
        self._open.clear()


REGISTRY = Registry()

os.register_at_fork(after_in_child=REGISTRY.after_fork)


def identity_of(status: os.stat_result) -> Identity:
    """Return the device and inode in a stat result."""
    return status.st_dev, status.st_ino


class Flock:
    """A flock on the file or folder at `path`, which is opened when the lock is first taken.

    Args:
        path: The path. It must not be a symbolic link.
        flags: The flags of `os.open`.
    """

    def __init__(self, path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> None:
        self._lock_path = os.fspath(path)
        self._flags = flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int:
        """The descriptor of the file, which is open after `take`."""
        if self._descriptor is None:
            self._descriptor = self._opened()
        return self._descriptor

    def _opened(self) -> int:
        return os.open(self._lock_path, self._flags)

    def take(self, operation: int) -> bool:
        """Take the lock and return True; return False if another process holds it.

        If another process removes or replaces the file meanwhile, the new file is locked instead.

        Args:
            operation: `fcntl.LOCK_EX` or `fcntl.LOCK_SH`, with `fcntl.LOCK_NB` in order not to wait.

        Raises:
            OSError: the file is missing, or cannot be opened.
        """
        while True:
            try:
                fcntl.flock(self.descriptor, operation)
            except BlockingIOError:
                return False
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self.descriptor), os.lstat(self._lock_path)):
                    return True
            self.close()

    def close(self) -> None:
        """Release the lock, if it is held, and close the descriptor; calling it twice is allowed."""
        if self._descriptor is not None:
            # Unlock explicitly: a process that was just forked may still hold a copy of the descriptor.
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.abandon()

    def abandon(self) -> None:
        """Close the descriptor without unlocking: in a forked process the flock belongs to the parent."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def share_permissions(descriptor: int, store: Path) -> None:
    """Give a file the owner and the permissions of the store, so that all users of the store can use it."""
    status = store.stat()
    with suppress(OSError):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    with suppress(OSError):
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & 0o666)
