"""Files and folders reached from open folders, one name at a time, never through a symbolic link.

Whatever is renamed or put in the way meanwhile, nothing outside the folder that was opened is touched.
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
_NOT_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})

_NO_REPLACE: Final = 1
_EXCHANGE: Final = 2
_UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP})


@contextmanager
def opened(name: str, parent: int | None = None) -> Iterator[int]:
    """A folder, by its name in an open one; OSError where it is none, or a link."""
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def reached(folder: int, names: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """The folder that `names` lead to from an open one."""
    here = os.dup(folder)
    try:
        for name in names:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=here)
            there = os.open(name, _FOLDER, dir_fd=here)
            os.close(here)
            here = there
        yield here
    finally:
        os.close(here)


def names(folder: int) -> list[str]:
    """What stands in an open folder, sorted."""
    return sorted(os.listdir(folder))


def found(folder: int, name: str) -> os.stat_result | None:
    """What stands at a name, a link itself; None: nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def found_at(folder: int, path: str) -> os.stat_result | None:
    """As `found`, at a path of several names; None also where one on the way is no folder."""
    *way, name = path.split("/")
    try:
        with reached(folder, way) as parent:
            return found(parent, name)
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
        raise


def is_file(status: os.stat_result | None) -> bool:
    """Whether a regular file stands there."""
    return status is not None and stat.S_ISREG(status.st_mode)


def is_folder(status: os.stat_result | None) -> bool:
    """Whether a folder stands there, and no link to one."""
    return status is not None and stat.S_ISDIR(status.st_mode)


def same(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    """Whether both are there and the same thing."""
    return one is not None and other is not None and os.path.samestat(one, other)


def read(folder: int, path: str) -> bytes | None:
    """The bytes of a regular file; None where none stands."""
    with _file(folder, path) as file:
        return None if file is None else file.read()


def digest(folder: int, path: str) -> str | None:
    """The SHA-256 of a regular file; None where none stands."""
    with _file(folder, path) as file:
        return None if file is None else hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _file(folder: int, path: str) -> Iterator[BufferedReader | None]:
    *way, name = path.split("/")
    try:
        with reached(folder, way) as parent:
            descriptor = os.open(name, _READ, dir_fd=parent)
    except OSError as error:
        # ENXIO is a socket.
        if error.errno not in {*_NOT_THERE, errno.ENXIO}:
            raise
        yield None
        return
    try:
        is_regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        yield os.fdopen(descriptor, "rb", closefd=False) if is_regular else None
    finally:
        os.close(descriptor)


def write(folder: int, name: str, data: bytes) -> None:
    """Make a file that is not there yet; it survives a loss of power once `settle` was called."""
    descriptor = os.open(name, _MAKE, 0o666, dir_fd=folder)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)


def link(old: int, new: int, path: str) -> bool:
    """Link a file of one tree into another one; False where that is not possible."""
    *way, name = path.split("/")
    with reached(old, way) as source, reached(new, way, create=True) as target:
        try:
            os.link(name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        except OSError as error:
            if error.errno in {errno.EPERM, errno.EMLINK, errno.EXDEV, *_UNSUPPORTED}:
                return False
            raise
    return True


def exchange(folder: int, one: str, other: str) -> bool:
    """Exchange two names in one step; False where the system cannot."""
    return _renameat2(folder, one, folder, other, _EXCHANGE)


def move(source: int, name: str, target: int, new: str) -> bool:
    """Move what stands at `name` elsewhere; False, and nothing is moved, where something stands there."""
    try:
        if _renameat2(source, name, target, new, _NO_REPLACE):
            return True
    except FileExistsError:
        return False
    if found(target, new) is not None:
        return False
    os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
    return True


def _renameat2(source: int, name: str, target: int, new: str, flags: int) -> bool:
    call = _system("renameat2")  # Linux 3.15, glibc 2.28
    if call is None:
        return False
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if call(source, os.fsencode(name), target, os.fsencode(new), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), name)


@cache
def _system(name: str) -> Any:
    """A function of the C library that Python has no name for; None where there is none."""
    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)
    except (AttributeError, OSError, TypeError):
        return None


def folders(folder: int) -> Iterator[tuple[str, ...]]:
    """All folders in an open one, as names to reach them, each after those in it."""
    for name in names(folder):
        if is_folder(found(folder, name)):
            with opened(name, folder) as inner:
                for way in folders(inner):
                    yield (name, *way)
            yield (name,)


def settle(folder: int) -> None:
    """Make all files and folders in a folder survive a loss of power."""
    call = _system("syncfs")
    if call is not None:
        # One flush for all: with one for each file, 6,000 small pages took 35 s on a busy disk.
        call.argtypes = (ctypes.c_int,)
        if call(folder):
            raise OSError(ctypes.get_errno(), "syncfs failed")
        return
    for way in (*folders(folder), ()):
        with reached(folder, way) as inner:
            for name in names(inner):
                if is_file(found(inner, name)):
                    descriptor = os.open(name, _READ, dir_fd=inner)
                    try:
                        fsync_opened(descriptor)
                    finally:
                        os.close(descriptor)
            fsync_opened(inner)
