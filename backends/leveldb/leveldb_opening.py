"""The use of plyvel: its options, the opening of a database, and the translation of LevelDB's exceptions.

A database is opened with second names that preserve its logs.

While LevelDB opens a folder, it writes the rows of the logs to a table and writes a new list of tables. It
then replaces the file `CURRENT`, which names the list, and deletes the logs and the older list. It does not
sync the replacement. On a file system where changes of names reach the disk in any order, a power failure may
undo the replacement but not the deletions. Then `CURRENT` names the older list. If the logs are missing,
LevelDB opens the folder without their rows; if the list is missing, LevelDB does not open it. So each log and
each list gets a second name beside the folder. This name is removed only after the new `CURRENT` is synced.

LevelDB reports an errno only as text in a message.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from backends.errors import (
    BackendBusy,
    BackendCorrupt,
    BackendError,
    BackendInDoubt,
    BackendUnusable,
    environment_error,
    errno_in,
    in_doubt,
    installing,
    system_error,
)
from backends.files import fsync_path

_PREFIX = ".kept-"
_UNFINISHED = ".kept-unfinished"
_WITHOUT_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""The errors of a system call if the file system cannot give a file a second name."""


OPTIONS: dict[str, Any] = {
    "paranoid_checks": True,
    "compression": None,
    # Opening after a crash replays up to this size (measured: 12 MiB in 0.14 s); memory can hold two. With
    # 16 MiB, compactions of 300,000 adds took 1.5 times as much CPU time (measured).
    "write_buffer_size": 32 << 20,
    # The larger a table of the first level is, the more keys it spans, and the more old rows its compaction
    # rewrites: with 4 MiB, 300,000 adds took 1.05 times as much CPU time (measured).
    "max_file_size": 2 << 20,
    "lru_cache_size": 32 << 20,
    # LevelDB maps open tables into memory. With this value, it maps at most 256 tables, about 512 MiB. After
    # 300 questions on 1,000,000 texts, a process held 305 MB instead of 607; a question took 11 % more CPU
    # time (measured with the same number of bytes).
    "max_open_files": 266,
    "bloom_filter_bits": 10,
}


TEMPORARY: dict[str, Any] = {"max_open_files": 42}
"""The options that differ for a temporary store. Such a store is filled, and then read once in order."""

NOT_SHARED: Final = "close the store there, or use a sqlite: store, which several processes can open"
"""The hint for a store that is in use and that only one process can open."""

_DAMAGE = ("Corruption", "NotFound", "Invalid argument")
"""The kinds of failures of LevelDB that are not caused by the operating system."""


def plyvel_module() -> ModuleType:
    """Import plyvel on first use and return it.

    Raises:
        BackendUnusable: plyvel is not installed.
    """
    try:
        import plyvel
    except ImportError as error:
        raise BackendUnusable(
            f"LevelDB stores need the package plyvel: {installing('leveldb')}; without it, use sqlite:PATH"
        ) from error
    return plyvel  # type: ignore[no-any-return]


def make_data(data: Path, path: Path) -> None:
    """Create an empty LevelDB at `data`, for the new store at `path`, and close it."""
    plyvel = plyvel_module()
    try:
        plyvel.DB(str(data), create_if_missing=True, error_if_exists=True, **OPTIONS).close()
    except plyvel.Error as error:
        raise convert_error(f"{path} cannot be created", str(path), error) from error


def open_data(data: Path, *, temporary: bool = False) -> Any:
    """Open the LevelDB at `data` and convert the exceptions of plyvel (see LevelDBBackend)."""
    plyvel = plyvel_module()
    options = OPTIONS | TEMPORARY if temporary else OPTIONS
    try:
        with nullcontext() if temporary else kept_logs(data):
            return plyvel.DB(str(data), create_if_missing=False, **options)
    except plyvel.Error as error:
        raise convert_error(f"{data} cannot be opened", str(data), error) from error
    except OSError as error:
        raise system_error(f"{data} cannot be opened", error) from error


def open_copy(copy: Path, *, strict: bool) -> Any:
    """Open a copy of a LevelDB that may be damaged; without `strict`, LevelDB skips what it cannot read.

    Raises:
        plyvel.Error: LevelDB does not open the copy.
    """
    options = OPTIONS | {"paranoid_checks": strict}
    return plyvel_module().DB(str(copy), create_if_missing=False, **options)


@contextmanager
def kept_logs(data: Path) -> Iterator[None]:
    """Preserve the logs and the lists of tables at `data` until the `with` block has opened the database.

    If the block raises an exception or the process dies, the preserved files stay, and `put_back` restores
    them later.

    Raises:
        OSError: the system refuses a change of names.
    """
    logs = [log for log in data.glob("*.log") if log.stat().st_size]
    # A list is kept even if all logs are empty: without the list that `CURRENT` names, a store does not open.
    for file in (*logs, *data.glob("MANIFEST-*")):
        _keep(file, data.with_name(_PREFIX + file.name))
    fsync_path(data.parent)
    yield
    fsync_path(data)
    for file in _kept(data):
        file.unlink()


def put_back(data: Path) -> None:
    """After an interrupted opening, restore the files that are missing in `data`."""
    if not _kept(data):
        return
    for name, file in lost_logs(data).items():
        file.rename(data / name)
    fsync_path(data)
    for file in _kept(data):
        file.unlink()


def lost_logs(data: Path) -> dict[str, Path]:
    """Return the preserved files that are missing in `data`, by their names in `data`."""
    names = {file.name.removeprefix(_PREFIX): file for file in _kept(data) if file.name != _UNFINISHED}
    return {name: file for name, file in names.items() if not (data / name).exists()}


def _kept(data: Path) -> list[Path]:
    return sorted(data.parent.glob(f"{_PREFIX}*"))


def _keep(file: Path, target: Path) -> None:
    """Give a file a second name; if the file system has no second names, make a synced copy."""
    try:
        os.link(file, target)
    except OSError as error:
        if error.errno not in _WITHOUT_LINKS:
            raise
        import shutil

        unfinished = target.with_name(_UNFINISHED)
        shutil.copyfile(file, unfinished)
        fsync_path(unfinished)
        unfinished.rename(target)


def convert_error(what: str, where: str, error: Exception) -> BackendError:
    """Return the backend exception for an exception of plyvel.

    Args:
        what: What failed and where, as the beginning of a sentence: `/notes cannot be opened`.
        where: The name of the store in messages.
        error: The exception. Its message begins with the kind of the failure.
    """
    kind, _, detail = _text(error).partition(": ")
    if kind == "IO error" and detail.startswith("lock "):
        return BackendBusy(where, "a program that opened the LevelDB directly", hint=NOT_SHARED)
    told = _without_folder(detail)
    if kind in _DAMAGE:
        return BackendCorrupt(f"{where} is damaged: {told}")
    # Reading beyond the end of a mapped table gives the errno EINVAL.
    if detail.endswith("Invalid argument"):
        return BackendCorrupt(f"{where} is damaged: a file is shorter than it was: {told.partition(':')[0]}")
    if "No such file" in detail:
        return BackendCorrupt(f"{where} is damaged because a file is missing: {told}")
    return environment_error(what, errno_in(detail), told)


def convert_doubt(what: str, error: BaseException) -> BackendInDoubt:
    """Return the exception for a write or a rewrite that failed after it was sent; see `convert_error`."""
    text = _text(error)
    number = getattr(error, "errno", None) or errno_in(text)
    return in_doubt(what, number, _without_folder(text.partition(": ")[2] or text))


def _text(error: BaseException) -> str:
    """Return the message of an exception. plyvel passes bytes to its exceptions."""
    first = error.args[0] if error.args else repr(error)
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(error)


def _without_folder(detail: str) -> str:
    """Return a message of LevelDB with the name of a file instead of its path."""
    path, colon, rest = detail.partition(": ")
    return path.rpartition("/")[2] + colon + rest
