"""Making files and folders that survive loss of power, whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backends.errors import BackendUnusable

MARKER = "unfinished-store"
"""The empty file that `building` makes first in its folder: only what holds one is ever cleared away."""

_BUILD_TRIES = 100
_RANDOM_BYTES = 8
_RANDOM = re.compile(r"[0-9a-f]{16}")


def fsync_path(path: Path) -> None:
    """Flush one file, or the list of names in one folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fsync_opened(descriptor)
    finally:
        os.close(descriptor)


def fsync_opened(descriptor: int) -> None:
    """As `fsync_path`, of a file or folder that is open, wherever its name leads by now."""
    os.fsync(descriptor)


def fsync_tree(root: Path) -> None:
    """Flush everything under `root`, the innermost first."""
    for folder, _, names in os.walk(root, topdown=False):
        for name in names:
            fsync_path(Path(folder, name))
        fsync_path(Path(folder))


def make_parents(path: Path) -> None:
    """Create the missing folders above `path`, durably."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        fsync_path(folder.parent)


def real(path: str) -> Path:
    """`path` with symbolic links followed; it need not exist.

    Raises:
        BackendUnusable: it holds a NUL, is empty, too long, or runs through a loop of links.
    """
    if not path or "\0" in path:
        raise BackendUnusable(f"{path!r} is not a path")
    try:
        found = Path(os.path.realpath(path))
        found.exists()
        os.fsencode(found)
    except (OSError, UnicodeError) as error:
        raise BackendUnusable(f"{path!r} cannot be used as a path: {error}") from error
    return found


@contextmanager
def building(target: Path) -> Iterator[Path]:
    """A new folder beside `target` to build it in; gone afterwards.

    A crash leaves the folder behind and nothing else. Its builder holds a flock on it, so the next
    one to build `target` can tell a leftover from work in progress, and removes leftovers: folders
    named as ours are to the last digit, which are empty or hold our marker file.
    """
    prefix = f".{target.name[:100]}.new-"
    _sweep(target.parent, prefix)
    folder, descriptor = _locked_folder(target.parent, prefix)
    try:
        (folder / MARKER).touch(mode=0o600)
        yield folder
    finally:
        _remove(folder)
        os.close(descriptor)


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder and the descriptor that holds its flock."""
    for _ in range(_BUILD_TRIES):
        folder = parent / (prefix + secrets.token_hex(_RANDOM_BYTES))
        folder.mkdir(mode=0o700)
        descriptor = _lock_folder(folder)
        # Between mkdir and flock a sweeper may have taken the folder for a leftover.
        if descriptor is not None:
            return folder, descriptor
    raise BackendUnusable(f"no folder can be kept in {parent}: something removes it at once")


def _lock_folder(folder: Path) -> int | None:
    """A descriptor with the flock on `folder`; None where it is gone, held, or no folder of its own."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), folder.lstat()):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def _sweep(parent: Path, prefix: str) -> None:
    """Remove what builders that died left in `parent`, and nothing of anybody else's."""
    with contextlib.suppress(OSError):
        for folder in sorted(entry for entry in parent.iterdir() if _is_ours(entry.name, prefix)):
            descriptor = _lock_folder(folder)
            if descriptor is not None:
                if _is_marked(descriptor):
                    _remove(folder)
                else:
                    # Killed before it had a marker, it is empty; rmdir removes nothing else.
                    with contextlib.suppress(OSError):
                        folder.rmdir()
                os.close(descriptor)


def _is_ours(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and _RANDOM.fullmatch(name, len(prefix)) is not None


def _is_marked(descriptor: int) -> bool:
    """Whether the open folder holds our marker: an empty file, and no link to one."""
    try:
        found = os.stat(MARKER, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == 0


def _remove(folder: Path) -> None:
    """Remove `folder` with what is in it, the marker last: cut short, it still counts as a leftover.

    Symbolic links are removed, never followed.
    """
    with contextlib.suppress(OSError):
        for entry in sorted(folder.iterdir()):
            if entry.name == MARKER:
                continue
            if stat.S_ISDIR(entry.lstat().st_mode):
                shutil.rmtree(entry)
            else:
                entry.unlink()
        (folder / MARKER).unlink(missing_ok=True)
        folder.rmdir()
