"""The writers' lock of a SQLite store: a flock on `PATH-lock`, an empty file next to the store.

SQLite releases its own lock at every commit; this lock can be held over several commits. It cannot be a lock
on the database itself, because closing any descriptor of the database would release the locks that SQLite
holds on the database. The operating system releases the flock when its holder dies.

The file is created at the first write and never removed. If it is removed by hand while
a process holds the lock, other processes no longer wait for that process: its writes are no longer exclusive,
and its guarded writes may fail. No row is lost and no transaction is applied in part, because SQLite's lock
still separates transactions. The next write creates the file again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from pathlib import Path
from types import TracebackType

from backends.errors import BackendBusy, BackendUnusable, system_error
from backends.locks import Flock, share_permissions

LOCK_SUFFIX = "-lock"

_PAUSE_SECONDS = 0.0005
"""The pause between two attempts to take the lock, in seconds.

Measured against three processes that write durably without a pause: the lock was acquired after 70 ms
(median) and 0.4 s (maximum); with pauses that grow to 8 ms, it was acquired after 2.2 s (median) and 3.4 s
(maximum). A waiting process uses 3 % of a core.
"""

USE_SUFFIX = "-use-"


class _LockFile(Flock):
    """A flock on an empty file next to `store`, which is created when the lock is first taken."""

    def __init__(self, store: Path, suffix: str) -> None:
        super().__init__(f"{store}{suffix}", os.O_RDWR)
        self._store = store

    def _opened(self) -> int:
        """Return a descriptor of the lock file; create a missing file with the store's permissions."""
        while True:
            with contextlib.suppress(FileNotFoundError):
                self._check_lock_file(os.lstat(self._lock_path))
                return super()._opened()
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(self._lock_path, self._flags | os.O_CREAT | os.O_EXCL, 0o600)
                # SQLite does the same for its own files.
                share_permissions(descriptor, self._store)
                return descriptor

    def _check_lock_file(self, status: os.stat_result) -> None:
        """Raise BackendUnusable unless the file is empty.

        The file is not opened for this check, because it may be another store.
        """
        if not stat.S_ISREG(status.st_mode) or status.st_size:
            raise BackendUnusable(
                f"{self._lock_path} is not an empty file, but {self._store} needs an empty lock file there; "
                f"rename one of the two files"
            )


class WriterLock(_LockFile):
    """The lock for writing to `store`, as a context manager that one thread may enter several times.

    It does not synchronise threads; protect it with a mutex.

    Args:
        store: The path of the database, a result of `backends.files.resolve_path`.
        busy_seconds: The time, in seconds, to wait for other processes that hold the lock.

    Raises:
        BackendBusy: on entering, another process held the lock for all of `busy_seconds`.
        BackendUnusable: on entering, `PATH-lock` is not an empty file, or the system denies access.
    """

    def __init__(self, store: Path, busy_seconds: float) -> None:
        super().__init__(store, LOCK_SUFFIX)
        self._busy_seconds = busy_seconds
        self._depth = 0

    def __enter__(self) -> None:
        if not self._depth:
            try:
                self._take()
            except OSError as error:
                raise system_error(f"{self._lock_path} cannot be locked", error) from error
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth and self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _take(self) -> None:
        # flock has no timeout.
        deadline = time.monotonic() + self._busy_seconds
        while not self.take(fcntl.LOCK_EX | fcntl.LOCK_NB):
            if time.monotonic() >= deadline:
                raise BackendBusy(str(self._store), "another process")
            time.sleep(_PAUSE_SECONDS)


class UseLock(_LockFile):
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
        super().__init__(store, USE_SUFFIX + name)
        try:
            if not self.take((fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB):
                raise BackendBusy(f"memory {name!r} in {store}", "another handle or process")
        except OSError as error:
            raise system_error(f"{self._lock_path} cannot be locked", error) from error
        except BackendBusy:
            self.abandon()
            raise

    def remove(self) -> None:
        """Remove the lock file. The lock must be held exclusively."""
        Path(self._lock_path).unlink(missing_ok=True)
