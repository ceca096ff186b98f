"""Who uses a named memory of a SQLite file: a flock on `PATH-use-NAME`, an empty file beside it.

Every handle holds it shared; whoever renames or deletes the memory holds it alone, and so is refused
while there are handles. The system gives it up when its holder dies. A file that was left behind
means nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from pathlib import Path

from backends.errors import BackendBusy, BackendUnusable
from backends.flock import Flock

SUFFIX = "-use-"

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class UseLock(Flock):
    """The right to use the memory `name` in `store`, held from here until `close`.

    Args:
        store: the database, as `backends.files.real` gives it.
        name: the memory's.
        alone: nobody else may.

    Raises:
        BackendBusy: somebody uses it, or, where this is not `alone`, renames or deletes it.
        BackendUnusable: something else is at `PATH-use-NAME`, or the system does not let us.
    """

    def __init__(self, store: Path, name: str, *, alone: bool = False) -> None:
        self._path = f"{store}{SUFFIX}{name}"
        self._where = f"memory {name!r} in {store}"
        try:
            while not self._take(alone=alone):
                self.abandon()
        except OSError as error:
            self.abandon()
            if isinstance(error, BlockingIOError):
                raise BackendBusy(self._where, "another handle or process") from error
            raise BackendUnusable(f"{self._path} cannot be locked: {error}") from error

    def _take(self, *, alone: bool) -> bool:
        """Whether the lock is held now, and on the file that everybody else would open."""
        with contextlib.suppress(FileNotFoundError):
            found = os.lstat(self._path)
            if not stat.S_ISREG(found.st_mode) or found.st_size:
                raise BackendUnusable(f"{self._path} is something else; an empty file is needed there")
        self._descriptor = os.open(self._path, _FLAGS, 0o600)
        fcntl.flock(self._descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._descriptor), os.lstat(self._path))
        return False

    def remove(self) -> None:
        """Remove the file; only while it is held alone."""
        Path(self._path).unlink(missing_ok=True)
