"""The location of a store, and files and folders that are either complete or absent after a power failure."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from backends.errors import BackendUnusable, system_error
from backends.locks import Flock

MARKER = "unfinished-store"
"""The name of the empty file that `staging` creates first in its folder.

Only folders that contain this file, and empty folders, are removed as leftovers.
"""

_SCRATCH = "memroot-scratch-"
"""The beginning of the names of temporary folders."""

_BUILD_TRIES = 100
_RANDOM_BYTES = 8
_RANDOM = re.compile(r"[0-9a-f]{16}")


class Location(NamedTuple):
    """A parsed URL."""

    scheme: str
    """One of `backends.SCHEMES`; or `sqlite+` or `postgresql+`, followed by the name of a memory."""
    path: str
    """The path in the URL, or the address of the database, unchanged. It is empty for `memory:`."""

    @property
    def kind(self) -> str:
        """The scheme without the name of a memory, one of SCHEMES."""
        return self.scheme.partition("+")[0]

    @property
    def file(self) -> Path | None:
        """The resolved path of the store's folder or file, or None for a store that is not in a file.

        Raises:
            BackendUnusable: the path cannot be resolved.
        """
        return resolve_path(self.path) if self.kind in ("leveldb", "sqlite") else None

    @property
    def shared(self) -> bool:
        """True if the store is in a file or database that also holds others, so it cannot be moved alone."""
        return self.memory is not None or self.kind == "postgresql"

    @property
    def memory(self) -> str | None:
        """The name of the memory in a file or database, or None for a store without a name."""
        return self.scheme.partition("+")[2] or None


def fsync_path(path: Path) -> None:
    """Flush the file at `path`, or the directory entries of the folder at `path`, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fsync_opened(descriptor)
    finally:
        os.close(descriptor)


def fsync_opened(descriptor: int) -> None:
    """Flush an open file or folder to the disk, even if its name has changed."""
    os.fsync(descriptor)


def drop_cached(path: Path) -> None:
    """Ask the system to drop a synced file from its cache, so that the next read comes from the disk.

    Not every system can do this.
    """
    if hasattr(os, "posix_fadvise"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def fsync_tree(root: Path) -> None:
    """Flush `root` and all files and folders in it to the disk, the innermost first."""
    for folder, _, names in os.walk(root, topdown=False):
        for name in names:
            fsync_path(Path(folder, name))
        fsync_path(Path(folder))


def make_parents(path: Path) -> None:
    """Create the missing parent folders of `path`, durably."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        fsync_path(folder.parent)


def link_new(new: Path, place: Path) -> bool:
    """Create the hard link `place` to `new` and return True, or return False if `place` exists.

    A link is used because a rename would replace an existing file.
    """
    try:
        os.link(new, place)
    except FileExistsError:
        return False
    return True


def why_unwritable(place: Path, needed: Sequence[Path]) -> int:
    """Return the errno that says why this process cannot write a store, or 0 if it can.

    Args:
        place: The path of the store.
        needed: The paths that a writer of the store must be able to change; empty if there is no store.
    """
    if all(os.access(path, os.W_OK) for path in needed):
        return 0
    return errno.EROFS if os.statvfs(place).f_flag & os.ST_RDONLY else errno.EACCES


def resolve_path(path: str) -> Path:
    """Return `path` with symbolic links resolved. The path need not exist.

    Raises:
        BackendUnusable: `path` contains a NUL, is empty or too long, or leads through a loop of links.
    """
    if not path or "\0" in path:
        raise BackendUnusable(f"{path!r} is not a valid path")
    try:
        resolved = Path(os.path.realpath(path))
        resolved.exists()
        os.fsencode(resolved)
    except UnicodeError as error:
        raise BackendUnusable(f"{path!r} cannot be used as a path: {error}") from error
    except OSError as error:
        raise system_error(f"{path!r} cannot be used as a path", error) from error
    return resolved


@contextmanager
def staging(target: Path) -> Iterator[Path]:
    """Yield a new folder next to `target`, in which the caller builds `target`; then remove the folder.

    A crash leaves only this folder behind. Each call first removes such leftovers. A leftover is an unlocked
    folder whose name matches exactly. It is empty, or contains the marker file. While the folder exists, this
    process holds a flock on it, so that other processes can distinguish it from a leftover.
    """
    with _own_folder(target.parent, f".{target.name[:100]}.new-") as folder:
        yield folder


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a new folder in the folder of temporary files, and remove it afterwards, as `staging` does."""
    import tempfile

    with _own_folder(Path(tempfile.gettempdir()), _SCRATCH) as folder:
        yield folder


def remove_scratch() -> None:
    """Remove the temporary folders of this user's killed processes. Those of living processes stay.

    With 10,000 names in the folder of temporary files, this takes about 10 ms (measured).
    """
    # `tempfile` takes longer to import, and writes a file in order to find the folder.
    _sweep(Path(os.environ.get("TMPDIR") or "/tmp"), _SCRATCH)  # noqa: S108  only listed


@contextmanager
def _own_folder(parent: Path, prefix: str) -> Iterator[Path]:
    _sweep(parent, prefix)
    folder, lock = _locked_folder(parent, prefix)
    try:
        (folder / MARKER).touch(mode=0o600)
        yield folder
    finally:
        _remove(folder)
        lock.close()


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, Flock]:
    """Create a folder; return its path and a flock on it."""
    import secrets  # takes 2 ms; stores are opened far more often than made

    for _ in range(_BUILD_TRIES):
        folder = parent / (prefix + secrets.token_hex(_RANDOM_BYTES))
        folder.mkdir(mode=0o700)
        lock = _lock_folder(folder)
        # Another process may have removed the folder as a leftover between mkdir and flock.
        if lock is not None:
            return folder, lock
    raise BackendUnusable(f"cannot create a folder in {parent}: another program keeps removing it")


def _lock_folder(folder: Path) -> Flock | None:
    """Return a flock on `folder`, or None if `folder` is missing, locked or not a folder."""
    lock = Flock(folder, os.O_DIRECTORY)
    with contextlib.suppress(OSError):
        if lock.take(fcntl.LOCK_EX | fcntl.LOCK_NB):
            return lock
    lock.abandon()
    return None


def _sweep(parent: Path, prefix: str) -> None:
    """Remove the folders that killed processes of this user have left in `parent`, and nothing else.

    Where everybody may write, as in /tmp, only the owner of a folder can put something else in its place.
    """
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(parent) if _is_ours(name, prefix)]  # noqa: PTH208  much faster
        for folder in sorted(parent / name for name in names):
            lock = _lock_folder(folder)
            if lock is not None:
                if os.fstat(lock.descriptor).st_uid != os.geteuid():
                    pass
                elif _is_marked(lock.descriptor):
                    _remove(folder)
                else:
                    # A process killed before creating the marker leaves an empty folder, which rmdir removes.
                    with contextlib.suppress(OSError):
                        folder.rmdir()
                lock.close()


def _is_ours(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and _RANDOM.fullmatch(name, len(prefix)) is not None


def _is_marked(descriptor: int) -> bool:
    """Return True if the open folder contains the marker file: an empty regular file, not a link."""
    try:
        status = os.stat(MARKER, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == 0


def _remove(folder: Path) -> None:
    """Remove `folder` and its contents, the marker last.

    If the removal is interrupted, the folder is therefore still recognised as a leftover. Symbolic links are
    removed, never followed.
    """
    with contextlib.suppress(OSError):
        for entry in sorted(folder.iterdir()):
            if entry.name == MARKER:
                continue
            if stat.S_ISDIR(entry.lstat().st_mode):
                import shutil

                shutil.rmtree(entry)
            else:
                entry.unlink()
        (folder / MARKER).unlink(missing_ok=True)
        folder.rmdir()
