"""Second names that preserve the logs of a database while LevelDB opens the database.

While LevelDB opens a folder, it writes the rows of the logs to a table and writes a new list of tables. It
then replaces the file `CURRENT`, which names the list, and deletes the logs. It does not sync the
replacement. On a file system where changes of names reach the disk in any order, a power failure may undo the
replacement but not the deletion. Then `CURRENT` names the older list, the logs are missing, and LevelDB opens
the folder without their rows. So each log gets a second name beside the folder. This name is removed only
after the new `CURRENT` is synced.
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
"""The errors of a system call if the file system cannot give a file a second name."""


@contextmanager
def kept_logs(data: Path) -> Iterator[None]:
    """Preserve the logs and the lists of tables at `data` until the `with` block has opened the database.

    If the block raises an exception or the process dies, the preserved files stay, and `put_back` restores
    them later. If all logs are empty, nothing is written.

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
        unfinished = target.with_name(_UNFINISHED)
        shutil.copyfile(file, unfinished)
        fsync_path(unfinished)
        unfinished.rename(target)
