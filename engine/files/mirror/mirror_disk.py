"""File operations relative to open folders. Paths are resolved name by name, never through symbolic links.

Even if other processes rename or replace entries meanwhile, nothing outside the open folder is touched.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from io import BufferedReader
from typing import Any, Final

from backends.files import fsync_opened

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})

_NO_REPLACE: Final = 1
SYNCED_MAX: Final = 20
"""The number of files up to which each file is synced. Syncing 6,000 small pages one by one took 35 s on a
busy disk; syncing the whole file system waits for the files of other programs, too."""
_UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP})


@contextmanager
def open_folder(name: str, parent: int | None = None) -> Iterator[int]:
    """Open the folder `name` in the open folder `parent`; raise OSError for a link or a non-folder."""
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_path(folder: int, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """Open the folder at the path `names` below an open folder; with `create`, create missing folders."""
    current = os.dup(folder)
    try:
        for name in names:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=current)
            following = os.open(name, _FOLDER, dir_fd=current)
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)


@contextmanager
def parent_of(folder: int, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """Open the folder of the entry at a path below an open folder; yield it with the name of the entry."""
    *parents, name = path.split("/")
    with open_path(folder, parents, create=create) as parent:
        yield parent, name


def names(folder: int) -> list[str]:
    """Return the sorted names of the entries in an open folder."""
    return sorted(os.listdir(folder))


def lstat(folder: int, name: str) -> os.stat_result | None:
    """Return the status of an entry without following a link, or None if the entry does not exist."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def lstat_at(folder: int, path: str) -> os.stat_result | None:
    """Return the status of the entry at a path, or None if the entry or a parent folder does not exist."""
    try:
        with parent_of(folder, path) as (parent, name):
            return lstat(parent, name)
    except OSError as error:
        if error.errno in _MISSING:
            return None
        raise


def is_file(status: os.stat_result | None) -> bool:
    """Return True if this is the status of a regular file."""
    return status is not None and stat.S_ISREG(status.st_mode)


def is_folder(status: os.stat_result | None) -> bool:
    """Return True if this is the status of a folder; return False for a link to a folder."""
    return status is not None and stat.S_ISDIR(status.st_mode)


def same_file(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    """Return True if both entries exist and are the same file or folder."""
    return one is not None and other is not None and os.path.samestat(one, other)


def read(folder: int, path: str) -> bytes | None:
    """Return the bytes of a regular file, or None if there is no regular file at `path`."""
    with _file(folder, path) as file:
        return None if file is None else file.read()


def digest(folder: int, path: str) -> str | None:
    """Return the SHA-256 of a regular file, or None if there is no regular file at `path`."""
    with _file(folder, path) as file:
        return None if file is None else hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _file(folder: int, path: str) -> Iterator[BufferedReader | None]:
    try:
        with parent_of(folder, path) as (parent, name):
            descriptor = os.open(name, _READ, dir_fd=parent)
    except OSError as error:
        # ENXIO: the entry is a socket.
        if error.errno not in {*_MISSING, errno.ENXIO}:
            raise
        yield None
        return
    try:
        is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        yield os.fdopen(descriptor, "rb", closefd=False) if is_regular else None
    finally:
        os.close(descriptor)


def remove(folder: int, path: str) -> None:
    """Delete the file at a path below an open folder."""
    with parent_of(folder, path) as (parent, name):
        os.unlink(name, dir_fd=parent)


def remove_empty_parents(folder: int, path: str) -> None:
    """Remove the folders that contain the path below an open folder, as far as they are empty."""
    parents = path.split("/")[:-1]
    with suppress(OSError):
        while parents:
            with open_path(folder, parents[:-1]) as outer:
                os.rmdir(parents.pop(), dir_fd=outer)


def remove_empty_folders(folder: int) -> None:
    """Remove all folders below an open folder that contain no files."""
    for path in folders(folder):
        with open_path(folder, path[:-1]) as outer, suppress(OSError):
            os.rmdir(path[-1], dir_fd=outer)


def write(folder: int, path: str, data: bytes) -> None:
    """Create a new file, and the folders of its path that are missing.

    It survives a loss of power only after a call of `sync`.
    """
    with parent_of(folder, path, create=True) as (parent, name):
        descriptor = os.open(name, _MAKE, 0o666, dir_fd=parent)
    try:
        remaining = memoryview(data)
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]
    finally:
        os.close(descriptor)


def replace(source: int, target: int, path: str) -> None:
    """Move a file to the same path in another folder tree, where it replaces the file that is there."""
    with parent_of(source, path) as (old, name), parent_of(target, path, create=True) as (new, _):
        os.rename(name, name, src_dir_fd=old, dst_dir_fd=new)


def move(source: int, name: str, target: int, new: str) -> bool:
    """Move an entry to the name `new` in another folder; if `new` exists, move nothing and return False."""
    call = _system("renameat2")  # Linux 3.15, glibc 2.28
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
        if call(source, os.fsencode(name), target, os.fsencode(new), _NO_REPLACE) == 0:
            return True
        number = ctypes.get_errno()
        if number == errno.EEXIST:
            return False
        if number not in _UNSUPPORTED:
            raise OSError(number, os.strerror(number), name)
    if lstat(target, new) is not None:
        return False
    os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
    return True


@cache
def _system(name: str) -> Any:
    """Return a C library function that is missing in the `os` module; None if the C library lacks it, too."""
    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)
    except (AttributeError, OSError, TypeError):
        return None


def folders(folder: int) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all folders below an open folder, as tuples of names; inner folders come first."""
    for name in names(folder):
        if is_folder(lstat(folder, name)):
            with open_folder(name, folder) as inner:
                for path in folders(inner):
                    yield (name, *path)
            yield (name,)


def sync(folder: int, paths: Sequence[str], *, folders: bool = True) -> None:
    """Sync the files at these paths below an open folder and, with `folders`, their folders to disk.

    Paths that do not exist are passed over.
    """
    call = _system("syncfs") if len(paths) > SYNCED_MAX else None
    if call is not None:
        call.argtypes = (ctypes.c_int,)
        if call(folder):
            raise OSError(ctypes.get_errno(), "syncfs failed")
        return
    parents: set[tuple[str, ...]] = set()
    for path in paths:
        with _file(folder, path) as file:
            if file is not None:
                fsync_opened(file.fileno())
        parts = path.split("/") if folders else []
        parents |= {tuple(parts[:depth]) for depth in range(len(parts))}
    for parent in parents:
        with suppress(FileNotFoundError), open_path(folder, parent) as inner:
            fsync_opened(inner)
