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
import threading
from collections import Counter
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
    """The descriptor of a lock file, or None while the file is not open. Subclasses acquire the lock."""

    _descriptor: int | None = None

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
