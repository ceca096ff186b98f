"""The ways of reading a damaged LevelDB store.

LevelDB changes a folder when it opens the folder. It may even write into a file that is not in its list of
files. So LevelDB is given copies of the files, and never links to them.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from backends.base import Row
from backends.errors import BackendUnusable
from backends.leveldb_files import log_rows, table_rows
from backends.leveldb_kept import lost_logs
from backends.leveldb_place import DATA, NEW, open_copy, plyvel_module
from backends.salvage import Way

_TABLES = (".ldb", ".sst")
_LOG = ".log"
_IGNORED = ("LOCK", "LOG", "LOG.old")
_CURRENT = "CURRENT"


def leveldb_ways(place: Path, scratch: Path) -> Iterator[Way]:
    """Yield the ways of reading the LevelDB store in the folder `place`; `scratch` is a folder for copies."""
    data = _data_folder(place)
    if not any(file.name == _CURRENT or file.suffix in (*_TABLES, _LOG) for file in data.iterdir()):
        raise BackendUnusable(f"{place} is a folder without files of LevelDB, so it is not a store")
    way = Way("LevelDB on a copy of the files", own=True, rows=iter(()))
    way.rows = _own_rows(data, scratch / "copy", way.problems)
    yield way
    way = Way("every table and log, without LevelDB", own=False, rows=iter(()))
    way.rows = _file_rows(data, way.problems)
    yield way


def _data_folder(place: Path) -> Path:
    """Return the folder with LevelDB's files.

    An interrupted rewrite may have left them in a second folder.
    """
    return next((folder for folder in (place / DATA, place / NEW) if folder.is_dir()), place)


def _own_rows(data: Path, copy: Path, problems: list[str]) -> Iterator[Row]:
    """Yield the rows that LevelDB finds in a copy. A refused copy is opened again with fewer checks."""
    try:
        plyvel = plyvel_module()
    except BackendUnusable:
        problems.append("LevelDB was not used, because the package plyvel is not installed")
        return
    database = _opened(plyvel, data, copy, problems)
    if database is None:
        return
    with contextlib.closing(database):
        for verified in (True, False):
            try:
                with contextlib.closing(database.iterator(verify_checksums=verified)) as rows:
                    yield from rows
            except plyvel.Error as error:
                problems.append(f"LevelDB cannot read every row: {_told(error, copy)}")
            else:
                return


def _opened(plyvel: Any, data: Path, copy: Path, problems: list[str]) -> Any:
    """Return the open copy, or None.

    The first attempt checks strictly; the last attempts use other lists of files.
    """
    lists = sorted((path.name for path in data.glob("MANIFEST-*")), reverse=True)
    attempts: list[tuple[bool, str | None]] = [
        (True, None),
        (False, None),
        *((False, name) for name in lists),
    ]
    for strict, name in attempts:
        _copy(data, copy)
        if name is not None:
            (copy / _CURRENT).write_text(f"{name}\n", encoding="ascii")
        try:
            return open_copy(copy, strict=strict)
        except plyvel.Error as error:
            how = "" if strict else " without strict checks" if name is None else f" with the list {name}"
            problems.append(f"LevelDB does not open the files{how}: {_told(error, copy)}")
    return None


def _copy(data: Path, copy: Path) -> None:
    if copy.exists():
        shutil.rmtree(copy)
    copy.mkdir()
    for name, file in _files(data).items():
        if file.is_file() and name not in _IGNORED:
            shutil.copyfile(file, copy / name)


def _files(data: Path) -> dict[str, Path]:
    """Return the files of the database by name, including files that an interrupted opening preserved."""
    return {path.name: path for path in data.iterdir()} | lost_logs(data)


def _told(error: Exception, copy: Path) -> str:
    """Return LevelDB's message, without the path of the copy."""
    told = str(error)
    if told.startswith(("b'", 'b"')):
        told = told[2:-1]
    return told.replace(f"{copy}/", "")


def _file_rows(data: Path, problems: list[str]) -> Iterator[Row]:
    """Yield the rows of all files, newest file first."""
    readers: dict[str, Callable[[bytes], Iterator[Row]]] = {
        _LOG: log_rows,
        **dict.fromkeys(_TABLES, table_rows),
    }
    for name, file in sorted(_files(data).items(), reverse=True):
        if file.suffix not in readers:
            continue
        try:
            content = file.read_bytes()
        except OSError as error:
            problems.append(f"{name} cannot be read: {error.strerror}")
            continue
        yield from readers[file.suffix](content)
