"""Finding out whether this process can write a store."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_BESIDE_SQLITE = ("-wal", "-shm", "-lock")


def why_unwritable(scheme: str, place: Path) -> int:
    """Return the errno that says why this process cannot write the store at `place`, or 0 if it can.

    The result is 0, too, if there is no store at `place`.

    Args:
        scheme: `leveldb` or `sqlite`.
        place: A result of `backends.files.resolve_path`.
    """
    if scheme == "leveldb":
        from backends.leveldb_place import LOCK, is_leveldb_store

        exists, needed = is_leveldb_store(place), [place / LOCK, *data_folders(place)]
    else:
        from backends.sqlite_place import is_sqlite

        exists, needed = is_sqlite(place), _sqlite_files(place)
    if not exists or all(os.access(path, os.W_OK) for path in needed):
        return 0
    return errno.EROFS if os.statvfs(place).f_flag & os.ST_RDONLY else errno.EACCES


def data_folders(place: Path) -> list[Path]:
    """Return the folders with LevelDB's files in a LevelDB store. The folder to use comes first."""
    from backends.leveldb_place import DATA, NEW

    return [folder for folder in (place / DATA, place / NEW) if folder.is_dir()]


def _sqlite_files(place: Path) -> list[Path]:
    """Return the paths that must be writable: existing files, and the folder if a file must be created."""
    beside = [Path(f"{place}{end}") for end in _BESIDE_SQLITE]
    existing = [path for path in beside if path.exists()]
    return [place, *existing, *([] if len(existing) == len(beside) else [place.parent])]
