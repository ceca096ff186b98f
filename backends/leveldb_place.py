"""Where a LevelDB store lives: `PATH/lock` is our own lock file, `PATH/db/` the LevelDB.

LevelDB's own lock is an fcntl lock, which is gone as soon as anything in the process closes a
descriptor of its file (a copy of the folder does). Ours is a flock on a file of our own, which only
its holder can give up, and which the system gives up when the holder dies.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from backends.errors import BackendBusy, BackendCorrupt, BackendMissing, BackendUnusable
from backends.files import building, fsync_path, fsync_tree, make_parents
from backends.flock import Flock
from backends.registry import REGISTRY, Identity, identity_of

LOCK = "lock"
DATA = "db"
_UNFINISHED, _NEW, _OLD = ".db.unfinished", ".db.new", ".db.old"
"""A rewritten LevelDB in the making; whole, before it takes the place of `db`; what was there before."""

_REWRITE_BYTES = 1 << 20
"""Rows put into a rewritten LevelDB at once."""

_PID_BYTES_MAX = 32

_OPTIONS: dict[str, Any] = {
    "paranoid_checks": True,
    "compression": None,
    # Opening after a crash replays up to this much (measured: 12 MiB in 0.14 s); two can be in memory.
    "write_buffer_size": 16 << 20,
    "max_file_size": 8 << 20,
    "lru_cache_size": 32 << 20,
    "max_open_files": 500,
    "bloom_filter_bits": 10,
}


def plyvel_module() -> ModuleType:
    """plyvel, imported on first use.

    Raises:
        BackendUnusable: it is not installed.
    """
    try:
        import plyvel
    except ImportError as error:
        raise BackendUnusable(
            "LevelDB stores need the package plyvel (pip install 'memroot[leveldb]'); "
            "without it, use sqlite:PATH"
        ) from error
    return plyvel  # type: ignore[no-any-return]


def make_data(data: Path) -> None:
    """An empty LevelDB at `data`, closed again."""
    plyvel = plyvel_module()
    try:
        plyvel.DB(str(data), create_if_missing=True, error_if_exists=True, **_OPTIONS).close()
    except plyvel.Error as error:
        raise BackendUnusable(f"no LevelDB can be created in {data.parent}: {error}") from error


def open_data(data: Path) -> Any:
    """The LevelDB at `data`, with its errors made ours (see LevelDBBackend)."""
    plyvel = plyvel_module()
    try:
        return plyvel.DB(str(data), create_if_missing=False, **_OPTIONS)
    except plyvel.IOError as error:
        if "/LOCK:" in str(error):
            raise BackendBusy(str(data), "something that opened the LevelDB itself") from error
        if "No such file" in str(error):
            raise BackendCorrupt(f"{data} lacks a file: {error}") from error
        raise BackendUnusable(f"{data} cannot be opened: {error}") from error
    except plyvel.Error as error:
        raise BackendCorrupt(f"{data} is damaged: {error}") from error


def is_place(path: Path) -> bool:
    """Whether `path` has the layout of a LevelDB store of ours, perhaps one amid being rewritten."""
    return (path / LOCK).is_file() and ((path / DATA).is_dir() or (path / _NEW).is_dir())


def rewrite(path: Path, rows: Iterable[tuple[bytes, bytes]]) -> None:
    """Put `rows` into a new LevelDB beside the one at `path`, for `swap` to take; durable, or not there."""
    unfinished = path / _UNFINISHED
    _remove(unfinished, path / _NEW)
    plyvel = plyvel_module()
    made = plyvel.DB(str(unfinished), create_if_missing=True, error_if_exists=True, **_OPTIONS)
    try:
        size, batch = 0, made.write_batch()
        for key, value in rows:
            batch.put(key, value)
            size += len(key) + len(value)
            if size >= _REWRITE_BYTES:
                batch.write()
                size, batch = 0, made.write_batch()
        batch.write()
    finally:
        made.close()
    fsync_tree(unfinished)
    unfinished.rename(path / _NEW)
    fsync_path(path)


def swap(path: Path) -> None:
    """Have the rewritten LevelDB take the place of the one at `path`, which nobody has open, and remove that.

    Killed anywhere, `recover` finishes it or undoes it.
    """
    (path / DATA).rename(path / _OLD)
    fsync_path(path)
    (path / _NEW).rename(path / DATA)
    fsync_path(path)
    _remove(path / _OLD)
    fsync_path(path)


def recover(path: Path) -> None:
    """Clear up after a rewriting that was killed; the caller holds the lock.

    Without `db`, the new one was whole and about to take its place. Else `db` is what counts.
    """
    data, new = path / DATA, path / _NEW
    if not data.exists() and new.exists():
        new.rename(data)
        fsync_path(path)
    if data.exists():
        _remove(new, path / _UNFINISHED, path / _OLD)


def _remove(*folders: Path) -> None:
    for folder in folders:
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)


def settle(path: Path, *, create: bool) -> Claim:
    """The claim on the store at `path`, which is created first where it is missing.

    Args:
        path: as `backends.files.real` gives it.
        create: make the store where there is none.

    Raises:
        BackendMissing: there is nothing, and `create` is false.
        BackendBusy: somebody has it open; the holder is named.
        BackendUnusable: something else is there, or the system does not let us.
    """
    try:
        if not is_place(path):
            _refuse_foreign(path)
            if not create:
                raise BackendMissing(f"there is no store at {path}")
            _create(path)
        return Claim(path)
    except OSError as error:
        raise BackendUnusable(f"{path} cannot be used: {error}") from error


def _refuse_foreign(path: Path) -> None:
    """Raise BackendUnusable unless `path` is missing or an empty folder."""
    if not path.exists():
        return
    if not path.is_dir():
        raise BackendUnusable(f"{path} is a file; a LevelDB store is a folder")
    names = sorted(entry.name for entry in path.iterdir())
    if DATA in names and LOCK not in names:
        raise BackendUnusable(
            f"{path} has lost its file {LOCK!r}; create an empty one if nobody has the store open"
        )
    if names:
        raise BackendUnusable(
            f"{path} is a folder of something else (it holds {names[0]!r}); name a new or an empty folder"
        )


def _create(path: Path) -> None:
    """Make the store so that it is there whole or not at all.

    A crash before the rename leaves a folder `.NAME.new-…`, which the next creation removes; after
    it, the whole store, whose name may still be lost until the parent folder is synced.
    """
    make_parents(path)
    with building(path) as folder:
        new = folder / "store"
        new.mkdir(mode=0o700)
        (new / LOCK).touch(mode=0o600)
        make_data(new / DATA)
        fsync_tree(new)
        try:
            new.rename(path)
        except OSError as error:
            # Not empty (any more): a store of ours means that somebody else created it just now.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not is_place(path):
                raise
        fsync_path(path.parent)


class Claim(Flock):
    """The right to use the store at `path`: the flock, and the entry in the process's registry."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Held until the registry knows of us, so that two threads cannot both get through.
        with REGISTRY.lock:
            if (path / DATA).exists():
                self._refuse_own()
            self._descriptor = _flock(path / LOCK, str(path))
            try:
                recover(path)
                self._identity: Identity = self._refuse_own()
            except BaseException:
                self.abandon()
                raise
            if REGISTRY.is_parents(self._identity):
                self.abandon()
                raise BackendUnusable(
                    f"{path} was open in the process that this one was forked from; "
                    f"start processes with multiprocessing's 'spawn' instead"
                )
            REGISTRY.enter(self._identity)

    def _refuse_own(self) -> Identity:
        """What the store's data is called in the registry, if this process does not have it open."""
        identity = identity_of((self.path / DATA).stat())
        if REGISTRY.is_open(identity):
            raise BackendBusy(str(self.path), f"pid {os.getpid()} (this process)")
        return identity

    def swap(self) -> None:
        """As the function of this name; the store stays this claim's all the time."""
        with REGISTRY.lock:
            swap(self.path)
            before, self._identity = self._identity, identity_of((self.path / DATA).stat())
            REGISTRY.enter(self._identity)
            REGISTRY.leave(before)

    def release(self) -> None:
        """Give the store up. The lock file stays: removing it would let two holders in."""
        with REGISTRY.lock:
            if self._descriptor is not None:
                REGISTRY.leave(self._identity)
                self.close()


def _flock(lock: Path, where: str) -> int:
    """A descriptor that holds the flock on `lock`, with our pid written into the file."""
    descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), lock.stat()):
            raise BackendBusy(where, "a process that is replacing it")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    except BlockingIOError as error:
        holder = os.pread(descriptor, _PID_BYTES_MAX, 0).strip()
        os.close(descriptor)
        known = f"pid {int(holder)}" if holder.isdigit() else "another process"
        raise BackendBusy(where, known) from error
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
