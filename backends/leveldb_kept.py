"""Second names for the logs of a LevelDB while LevelDB opens it.

While LevelDB opens a folder, it writes the rows of the logs to a table, gives a new list of tables the name
`CURRENT`, and deletes the logs. It does not sync the new name. On a file system where changes of names reach
the disk in any order, a power failure may undo the new name and not the deletion. Then `CURRENT` names the
older list, the logs are missing, and LevelDB opens the folder without their rows. So each log gets a second
name beside the folder, and keeps it until the new name `CURRENT` is synced.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backends.files import fsync_path

_PREFIX = ".kept-"
_UNFINISHED = ".kept-unfinished"
_WITHOUT_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""The errors of file systems that cannot give a file a second name."""


@contextmanager
def kept_logs(data: Path) -> Iterator[None]:
    """Keep the logs of the LevelDB at `data`, and its lists of tables, until the block has opened it.

    If the block raises an exception or the process dies, `put_back` undoes this. If no log has rows, nothing
    is written.

    Raises:
        OSError: the system refuses a change of names.
    """
    logs = [log for log in data.glob("*.log") if log.stat().st_size]
    if not logs:
        yield
        return
    for file in (*logs, *data.glob("MANIFEST-*")):
        _keep(file, data.with_name(_PREFIX + file.name))
    fsync_path(data.parent)
    yield
    fsync_path(data)
    for file in _kept(data):
        file.unlink()


def put_back(data: Path) -> None:
    """After an interrupted opening, give the kept files back to the LevelDB at `data`."""
    if not _kept(data):
        return
    for name, file in lost_logs(data).items():
        file.rename(data / name)
    fsync_path(data)
    for file in _kept(data):
        file.unlink()


def lost_logs(data: Path) -> dict[str, Path]:
    """Return the files that are kept beside `data` and missing in it, by their names in `data`."""
    names = {file.name.removeprefix(_PREFIX): file for file in _kept(data) if file.name != _UNFINISHED}
    return {name: file for name, file in names.items() if not (data / name).exists()}


def _kept(data: Path) -> list[Path]:
    return sorted(data.parent.glob(f"{_PREFIX}*"))


def _keep(file: Path, target: Path) -> None:
    """Give a file a second name, or make a synced copy where the file system has no second names."""
    try:
        os.link(file, target)
    except OSError as error:
        if error.errno not in _WITHOUT_LINKS:
            raise
        unfinished = target.with_name(_UNFINISHED)
        shutil.copyfile(file, unfinished)
        fsync_path(unfinished)
        unfinished.rename(target)
