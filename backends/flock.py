"""A flock on a file, held through an open descriptor.

The operating system releases the flock when the process that holds it dies.
"""

from __future__ import annotations

import fcntl
import os


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
