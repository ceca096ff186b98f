"""Create files, folders and stores atomically: build them in a temporary folder, then rename them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from backends import locate, open_backend
from backends.base import Backend
from backends.files import drop_cached, fsync_path, fsync_tree, link_new, make_parents, resolve_path, staging
from backends.sqlite.sqlite_place import check_closed
from engine.base.errors import ConflictError, RefusedError, system_failure, translated
from engine.base.outside_files import PRIVATE, refuse_inside

if TYPE_CHECKING:
    from backends.sealed.seal import Seal


@contextmanager
def _temporary(place: Path, shown: object) -> Iterator[Path]:
    """Yield a temporary path in the folder of `place`; the block must finally rename the path to `place`."""
    try:
        make_parents(place)
        with staging(place) as folder:
            yield folder / "store"
            fsync_path(place.parent)
    except OSError as error:
        raise system_failure(error, f"{shown} cannot be written") from error


@contextmanager
def new_file(
    path: Path, *, replace: bool = False, check: Callable[[Path], None] | None = None
) -> Iterator[BinaryIO]:
    """Open a temporary file for writing; when the block ends, sync the file to disk and move it to `path`.

    No partial file ever appears at `path`. Missing parent folders are created. With `replace`, an existing
    regular file is replaced. `check` is called with the path of the temporary file, after the file was synced
    to disk and dropped from the system's cache. If `check` raises an exception, nothing appears at `path`.

    Raises:
        RefusedError: something exists at `path` that must not be replaced, or `path` is inside a store.
        EngineError: the operating system refuses to write.
    """
    with translated():
        place = resolve_path(str(path))
    refuse_inside(place, None, "name a file outside every store")
    _refuse_existing(path, replace=replace)
    with _temporary(place, path) as new:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            yield file
        fsync_path(new)
        if check is not None:
            drop_cached(new)
            check(new)
        _refuse_existing(path, replace=replace)
        if replace:
            new.replace(place)
        elif not link_new(new, place):
            raise RefusedError(f"{place} was created by another process meanwhile", hint="name a new file")


def _refuse_existing(path: Path, *, replace: bool) -> None:
    """Raise RefusedError if `path` must not be overwritten. A symbolic link must never be overwritten."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise RefusedError(f"{path} exists and is not a regular file", hint="name a new file")
    if path.exists() and not replace:
        raise RefusedError(f"{path} exists already", hint="name a new file, or remove the existing file")


@contextmanager
def new_store(url: str, key: Seal | None = None) -> Iterator[Backend]:
    """Open an empty backend that is moved to `place` when the block ends; until then, nothing exists there.

    With `key`, the store is sealed under this key.

    Raises:
        ConflictError: another process created something at `place` meanwhile; it is left unchanged.
        EngineError: the operating system refuses to write.
    """
    with translated():
        scheme, path = locate(url)
        place = resolve_path(path)
    with _temporary(place, place) as new:
        with translated(), open_backend(f"{scheme}:{new}", key=key) as backend:
            yield backend
        if not _move_store(new, place):
            raise ConflictError(
                f"{place} was created by another process meanwhile",
                hint="run the command again",
            )


def _move_store(new: Path, place: Path) -> bool:
    """Move a store to `place` and return True; return False if something exists there."""
    if new.is_file():
        with translated():
            check_closed(new, place)
        fsync_path(new)
        return link_new(new, place)
    fsync_tree(new)
    if _is_occupied(place):
        return False
    new.rename(place)  # os.rename replaces an empty folder, and fails if anything else exists
    return True


def _is_occupied(place: Path) -> bool:
    return place.exists() and (not place.is_dir() or any(place.iterdir()))


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty temporary folder that is synced to disk and moved to `path` when the block ends.

    Raises:
        RefusedError: something other than an empty folder exists at `path`, or `path` is inside a store.
        EngineError: the operating system refuses to write.
    """
    with translated():
        place = resolve_path(str(path))
    refuse_inside(place, None, "name a folder outside every store")
    if path.is_symlink() or _is_occupied(path):
        raise RefusedError(f"{path} exists already", hint="name a new or an empty folder")
    with _temporary(place, path) as new:
        new.mkdir()
        yield new
        fsync_tree(new)
        new.rename(place)  # os.rename replaces an empty folder, and fails if anything else exists
