"""Which stores this process has open: one list for the whole process, by device and inode.

Needed because file locks are not enough inside one process. LevelDB and SQLite lock with fcntl(),
and closing *any* descriptor of such a file, even one opened only to look at it, drops the locks
that the whole process holds on it. So a second LevelDB handle must be refused before LevelDB sees
it, and a SQLite file must not be opened for sniffing while a handle on it is open. Two paths to
one file (links, mounts) count as one.
"""

from __future__ import annotations

import os
import threading
from collections import Counter

Identity = tuple[int, int]
"""Device and inode."""


class Registry:
    """Open stores, counted; and those a parent process had open when it forked this one."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Hold it from looking into the registry until the handle is entered or given up."""
        self._open: Counter[Identity] = Counter()
        self._parents: set[Identity] = set()

    def enter(self, identity: Identity) -> None:
        """Count one more open handle."""
        with self.lock:
            self._open[identity] += 1

    def leave(self, identity: Identity) -> None:
        """Count one handle less."""
        with self.lock:
            self._open[identity] -= 1
            if not self._open[identity]:
                del self._open[identity]

    def is_open(self, identity: Identity) -> bool:
        """Whether this process has a handle on it."""
        with self.lock:
            return identity in self._open

    def is_parents(self, identity: Identity) -> bool:
        """Whether it was open when this process was forked.

        LevelDB and SQLite both keep a table of locked files per process; in a forked one it names
        locks that the process does not have, so that it must not open those files at all.
        """
        return identity in self._parents

    def after_fork(self) -> None:
        """In a forked process: everything that was open belongs to the parent."""
        self.lock = threading.RLock()
        self._parents |= set(self._open)
        self._open.clear()


REGISTRY = Registry()

os.register_at_fork(after_in_child=REGISTRY.after_fork)


def identity_of(status: os.stat_result) -> Identity:
    """Device and inode out of a stat result."""
    return status.st_dev, status.st_ino
