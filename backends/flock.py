"""A flock on a file, held through a descriptor for as long as its holder wants.

The system gives it up when the holder dies.
"""

from __future__ import annotations

import fcntl
import os


class Flock:
    """Holds the descriptor of a lock file, or None while the file is not open. Subclasses take the lock."""

    _descriptor: int | None = None

    def close(self) -> None:
        """Give the lock up, if it is held, and the descriptor; twice is allowed."""
        if self._descriptor is not None:
            # Unlocking, not only closing: a process just forked may still hold a copy.
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.abandon()

    def abandon(self) -> None:
        """Only close the descriptor: in a forked process the flock is the parent's."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
