"""Who may write to a SQLite store: a flock on `PATH-lock`, an empty file of our own beside it.

SQLite's own lock ends with every commit; this one lasts as long as its holder wants, over any number
of them. It cannot be on the database itself: closing any descriptor of that would drop the locks
SQLite holds on it. The system gives the flock up when its holder dies.

The file is made at the first write and never removed. Whoever removes it by hand makes nobody wait
any longer for whoever holds it just then: that one is no longer exclusive, and its guarded writes may
lose. No row is lost or torn, since SQLite's lock still keeps transactions apart, and the next write
makes the file again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from pathlib import Path
from types import TracebackType

from backends.errors import BackendBusy, BackendUnusable
from backends.flock import Flock
from backends.registry import Identity, identity_of

SUFFIX = "-lock"

_PAUSE_SECONDS = 0.0005
"""Between two tries. Measured against three processes that write durably without a pause: the lock is had
after 70 ms (median), 0.4 s (most); pauses that grow to 8 ms took 2.2 s and 3.4 s. A waiter uses 3 % of a
core."""

_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class WriterLock(Flock):
    """The right to write to `store`, as a context manager that one thread may enter several times.

    It knows nothing of threads: keep them apart with a mutex around it.

    Args:
        store: the database, as `backends.files.real` gives it.
        busy_seconds: how long to wait for other holders.

    Raises:
        BackendBusy: on entering, somebody else kept it for all of `busy_seconds`.
        BackendUnusable: on entering, something else is at `PATH-lock`, or the system does not let us.
    """

    def __init__(self, store: Path, busy_seconds: float) -> None:
        self._store = str(store)
        self._path = f"{store}{SUFFIX}"
        self._busy_seconds = busy_seconds
        self._depth = 0
        self._identity: Identity = (0, 0)

    def __enter__(self) -> None:
        if not self._depth:
            try:
                self._take()
            except OSError as error:
                raise BackendUnusable(f"{self._path} cannot be locked: {error}") from error
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth and self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def _take(self) -> None:
        if self._try():
            return
        # flock cannot wait for a limited time.
        deadline = time.monotonic() + self._busy_seconds
        while time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
            if self._try():
                return
        raise BackendBusy(self._store, "another process")

    def _try(self) -> bool:
        """Whether the lock is held now, and on the file that everybody else would open."""
        if self._descriptor is None:
            self._descriptor = self._open()
            self._identity = identity_of(os.fstat(self._descriptor))
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        with contextlib.suppress(FileNotFoundError):
            if identity_of(os.lstat(self._path)) == self._identity:
                return True
        self.close()
        return False

    def _open(self) -> int:
        """A descriptor of the lock file, made where it is missing, with the rights of the store."""
        while True:
            with contextlib.suppress(FileNotFoundError):
                self._refuse_foreign(os.lstat(self._path))
                return os.open(self._path, _FLAGS)
            with contextlib.suppress(FileExistsError):
                return self._create()

    def _refuse_foreign(self, found: os.stat_result) -> None:
        """Raise unless it is an empty file; looked at without opening, as it may be another store."""
        if not stat.S_ISREG(found.st_mode) or found.st_size:
            raise BackendUnusable(
                f"{self._path} is something else, and {self._store} needs an empty file there; "
                f"rename one of them"
            )

    def _create(self) -> int:
        store = Path(self._store).stat()
        descriptor = os.open(self._path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        # As SQLite does for its own files, so that everybody who may write to the store still may.
        with contextlib.suppress(OSError):
            os.fchown(descriptor, store.st_uid, store.st_gid)
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(store.st_mode) & 0o666)
        return descriptor
