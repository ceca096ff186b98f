"""The use lock of a named memory in a SQLite file: a flock on the empty file `PATH-use-NAME`.

Every open handle holds a shared lock. Renaming or deleting the memory needs an exclusive lock, and is
therefore refused while a handle is open. The operating system releases the lock when the process that holds
it dies. A leftover file has no effect.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from pathlib import Path

from backends.environment import system_error
from backends.errors import BackendBusy, BackendUnusable
from backends.flock import Flock

SUFFIX = "-use-"

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class UseLock(Flock):
    """A lock on the memory `name` in `store`, held from creation until `close`.

    Args:
        store: The path of the database, a result of `backends.files.resolve_path`.
        name: The name of the memory.
        exclusive: True to exclude all other handles. Renaming or deleting the memory requires this.

    Raises:
        BackendBusy: another process is renaming or deleting the memory, or, if `exclusive`, a handle has the
            memory open.
        BackendUnusable: `PATH-use-NAME` is not an empty file, or the system denies access.
    """

    def __init__(self, store: Path, name: str, *, exclusive: bool = False) -> None:
        self._path = f"{store}{SUFFIX}{name}"
        self._where = f"memory {name!r} in {store}"
        try:
            while not self._take(exclusive=exclusive):
                self.abandon()
        except OSError as error:
            self.abandon()
            if isinstance(error, BlockingIOError):
                raise BackendBusy(self._where, "another handle or process") from error
            raise system_error(f"{self._path} cannot be locked", error) from error

    def _take(self, *, exclusive: bool) -> bool:
        """Take the lock. Return False if the locked file has been replaced; the caller then tries again."""
        with contextlib.suppress(FileNotFoundError):
            status = os.lstat(self._path)
            if not stat.S_ISREG(status.st_mode) or status.st_size:
                raise BackendUnusable(
                    f"{self._path} is not an empty file, but the store needs an empty lock file; rename it"
                )
        self._descriptor = os.open(self._path, _FLAGS, 0o600)
        fcntl.flock(self._descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._descriptor), os.lstat(self._path))
        return False

    def remove(self) -> None:
        """Remove the lock file. The lock must be held exclusively."""
        Path(self._path).unlink(missing_ok=True)
