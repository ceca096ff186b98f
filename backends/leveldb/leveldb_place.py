"""The folder of a LevelDB store: `PATH/lock` is the lock file of this package, `PATH/db/` is the LevelDB.

LevelDB's own lock is an fcntl lock. Such a lock is released as soon as any code in the process closes a
descriptor of the locked file, for instance after copying the file. The lock here is a flock on a separate
file. Only the process that holds this flock can release it, and the operating system releases it when that
process dies.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from backends.errors import BackendBusy, BackendMissing, BackendUnusable, system_error
from backends.files import fsync_path, fsync_tree, make_parents, staging
from backends.leveldb.leveldb_opening import (
    NOT_SHARED,
    OPTIONS,
    lost_logs,
    make_data,
    plyvel_module,
    put_back,
)
from backends.locks import REGISTRY, Flock, Identity, identity_of

LOCK = "lock"
DATA = "db"
_UNFINISHED, NEW, _OLD = ".db.unfinished", ".db.new", ".db.old"
"""The names of the folders that exist during a rewrite.

They are, in this order: the new LevelDB while it is written, the complete new LevelDB before it replaces
`db`, and the old LevelDB after it has been replaced.
"""

_REWRITE_BYTES = 1 << 20
"""During a rewrite, a batch of rows is written when it has reached this size, in bytes."""

_PID_BYTES_MAX = 32

TABLES = (".ldb", ".sst")
"""The endings of the names of LevelDB's tables."""

NOT_ROWS = ("LOCK", "LOG", "LOG.old")
"""The names of LevelDB's files that hold no rows."""


def is_leveldb_store(path: Path) -> bool:
    """Return True if `path` has the layout of a LevelDB store of this package, even during a rewrite."""
    return (path / LOCK).is_file() and ((path / DATA).is_dir() or (path / NEW).is_dir())


def data_folders(place: Path) -> list[Path]:
    """Return the folders with LevelDB's files in a LevelDB store. The folder to use comes first."""
    return [folder for folder in (place / DATA, place / NEW) if folder.is_dir()]


def files_to_write(place: Path) -> list[Path]:
    """Return the paths that a process must be able to write to use the store; none if there is no store."""
    return [place / LOCK, *data_folders(place)] if is_leveldb_store(place) else []


def rewrite(path: Path, rows: Iterable[tuple[bytes, bytes]]) -> None:
    """Write `rows` to a new LevelDB inside the store at `path`.

    `swap` then replaces the old LevelDB with the new one. After a crash, the new LevelDB is either complete
    and durable, or ignored.
    """
    unfinished = path / _UNFINISHED
    _remove(unfinished, path / NEW)
    plyvel = plyvel_module()
    database = plyvel.DB(str(unfinished), create_if_missing=True, error_if_exists=True, **OPTIONS)
    try:
        size, batch = 0, database.write_batch()
        for key, value in rows:
            batch.put(key, value)
            size += len(key) + len(value)
            if size >= _REWRITE_BYTES:
                batch.write()
                size, batch = 0, database.write_batch()
        batch.write()
    finally:
        database.close()
    fsync_tree(unfinished)
    unfinished.rename(path / NEW)
    fsync_path(path)


def swap(path: Path) -> None:
    """Replace the LevelDB of the store at `path` with the rewritten LevelDB. Both must be closed.

    If the process is killed at any point, `recover` finishes or undoes the swap.
    """
    (path / DATA).rename(path / _OLD)
    fsync_path(path)
    (path / NEW).rename(path / DATA)
    fsync_path(path)
    _remove(path / _OLD)
    fsync_path(path)


def recover(path: Path) -> None:
    """Clean up after an interrupted rewrite or opening; the caller holds the lock.

    If `db` is missing, the new LevelDB is complete and is renamed to `db`. Otherwise, `db` stays unchanged,
    except that the logs that an interrupted opening deleted are restored.
    """
    data, new = path / DATA, path / NEW
    if not data.exists() and new.exists():
        new.rename(data)
        fsync_path(path)
    if data.exists():
        _remove(new, path / _UNFINISHED, path / _OLD)
        put_back(data)


def _remove(*folders: Path) -> None:
    for folder in folders:
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            import shutil

            shutil.rmtree(folder)


def claim_store(path: Path, *, create: bool) -> Claim:
    """Acquire the exclusive right to use the store at `path`, after creating the store if it is missing.

    Args:
        path: A result of `backends.files.resolve_path`.
        create: Create the store if it is missing.

    Raises:
        BackendMissing: there is no store, and `create` is false.
        BackendBusy: another handle or process has the store open; the exception names it.
        BackendUnusable: the path is occupied by something that is not a store, or the system denies access.
    """
    try:
        if not is_leveldb_store(path):
            _check_unoccupied(path)
            if not create:
                raise BackendMissing(f"there is no store at {path}")
            _create(path)
        return Claim(path)
    except OSError as error:
        raise system_error(f"{path} cannot be used as a LevelDB store", error) from error


def _check_unoccupied(path: Path) -> None:
    """Raise BackendUnusable unless `path` is missing or an empty folder."""
    if not path.exists():
        return
    if not path.is_dir():
        raise BackendUnusable(f"{path} is a file, and a LevelDB store is a folder; use another path")
    names = sorted(entry.name for entry in path.iterdir())
    if DATA in names and LOCK not in names:
        raise BackendUnusable(
            f"the file {LOCK!r} in {path} is missing; create it, empty, if no process has the store open"
        )
    if names:
        raise BackendUnusable(
            f"{path} is a folder that is not a store (it contains {names[0]!r}); use a new or empty folder"
        )


def _create(path: Path) -> None:
    """Create the store atomically: after a crash, it is either complete or absent.

    A crash before the rename leaves a folder `.NAME.new-…`. This folder is removed when a store is created at
    the same path again. A crash after the rename leaves the complete store, but a power failure before the
    parent folder is synced may still undo the rename.
    """
    make_parents(path)
    with staging(path) as folder:
        new = folder / "store"
        new.mkdir(mode=0o700)
        (new / LOCK).touch(mode=0o600)
        make_data(new / DATA, path)
        fsync_tree(new)
        try:
            new.rename(path)
        except OSError as error:
            # The folder is no longer empty. If it is now a store, another process has just created it.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not is_leveldb_store(path):
                raise
        fsync_path(path.parent)


class Claim(Flock):
    """The exclusive right to use the store at `path`: its flock and its entry in the process's registry."""

    def __init__(self, path: Path) -> None:
        super().__init__(path / LOCK, os.O_RDWR)
        self.path = path
        # Hold the lock until the store is registered, so that two threads cannot both pass the checks.
        with REGISTRY.lock:
            if (path / DATA).exists():
                self._check_not_open()
            try:
                self._take_and_sign()
                self._asked = os.fstat(self.descriptor).st_mtime_ns
                recover(path)
                self._identity: Identity = self._check_not_open()
                REGISTRY.refuse_inherited(self._identity, path)
            except BaseException:
                self.abandon()
                raise
            REGISTRY.enter(self._identity)

    def _take_and_sign(self) -> None:
        """Take the flock, and write this process's pid into the file; raise BackendBusy if it is taken."""
        if not self.take(fcntl.LOCK_EX | fcntl.LOCK_NB):
            os.utime(self.descriptor)  # tells the holder that the store is wanted
            holder = os.pread(self.descriptor, _PID_BYTES_MAX, 0).strip()
            holder_name = f"pid {int(holder)}" if holder.isdigit() else "another process"
            raise BackendBusy(str(self.path), holder_name, hint=NOT_SHARED)
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, b"%d\n" % os.getpid(), 0)

    def _check_not_open(self) -> Identity:
        """Return the identity of the store's data; raise BackendBusy if this process has the store open."""
        identity = identity_of((self.path / DATA).stat())
        if REGISTRY.is_open(identity):
            with suppress(OSError):
                os.utime(self.path / LOCK)
            raise BackendBusy(str(self.path), f"pid {os.getpid()} (this process)", hint=NOT_SHARED)
        return identity

    def is_wanted(self) -> bool:
        """Return True if somebody has tried to open the store since it was claimed.

        Whoever finds the store busy sets the time of the lock file. An attempt is not seen if the clock of
        the file system still shows the time of the claim.
        """
        descriptor = self._descriptor
        return descriptor is not None and os.fstat(descriptor).st_mtime_ns != self._asked

    def swap(self) -> None:
        """Replace the LevelDB with the rewritten one, like the function `swap`, and keep the lock."""
        with REGISTRY.lock:
            swap(self.path)
            before, self._identity = self._identity, identity_of((self.path / DATA).stat())
            REGISTRY.enter(self._identity)
            REGISTRY.leave(before)

    def release(self) -> None:
        """Release the store. The lock file stays: if it were removed, two processes could hold the lock."""
        with REGISTRY.lock:
            if self._descriptor is not None:
                REGISTRY.leave(self._identity)
                self.close()


def lock_for_reading(place: Path) -> Flock:
    """Return a shared flock on the store. It admits other readers, but no writers.

    A process that writes would delete tables to which the copy links.
    """
    lock = Flock(place / LOCK)
    if not lock.take(fcntl.LOCK_SH | fcntl.LOCK_NB):
        lock.abandon()
        raise BackendBusy(str(place), "another process")
    return lock


def link_store(place: Path, copy: Path) -> None:
    """Make a store at `copy`, with links to the tables of the store at `place` and copies of its other files.

    A table that this process could write is copied, too: LevelDB may reuse the name of a table that is not
    in its list of files, and would overwrite the original through the link.
    """
    import shutil

    data = data_folders(place)[0]
    (copy / DATA).mkdir(parents=True)
    (copy / LOCK).touch()
    for file in data.iterdir():
        target = copy / DATA / file.name
        if file.suffix in TABLES and not os.access(file, os.W_OK):
            target.symlink_to(file)
        elif file.is_file() and file.name not in NOT_ROWS:
            shutil.copyfile(file, target)
    for name, file in lost_logs(data).items():
        shutil.copyfile(file, copy / DATA / name)
