"""Putting what was made beside a place into it, whole: a file, or a store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from backends import locate, open_backend
from backends.base import Backend
from backends.files import fsync_path, fsync_tree, make_parents, resolve_path, staging
from engine.base.error_translation import translated
from engine.base.errors import ConflictError, EngineError, RefusedError
from engine.trust.notes.files import PRIVATE, refuse_inside


@contextmanager
def _built(place: Path, shown: object) -> Iterator[Path]:
    """Where to build what goes to `place`, beside it; the block ends by giving it its name."""
    try:
        make_parents(place)
        with staging(place) as folder:
            yield folder / "store"
            fsync_path(place.parent)
    except OSError as error:
        raise EngineError(f"{shown} cannot be written: {error.strerror or error}") from error


@contextmanager
def written(path: Path, *, replace: bool = False) -> Iterator[BinaryIO]:
    """A file to write that gets its name when the block ends, on the disk; nothing else ever shows there.

    Missing folders are made. With `replace`, it takes the place of a regular file.

    Raises:
        RefusedError: something is there, or the place is inside a store.
        EngineError: the system does not let us write.
    """
    with translated():
        place = resolve_path(str(path))
    refuse_inside(place, None, "name a file outside every store")
    _refuse_other(path, replace=replace)
    with _built(place, path) as new:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            yield file
        fsync_path(new)
        _refuse_other(path, replace=replace)
        if replace:
            new.replace(place)
        elif not _link(new, place):
            raise RefusedError(f"{place} has come to be there meanwhile", hint="name a new file")


def _refuse_other(path: Path, *, replace: bool) -> None:
    """Refuse what must not be written over: links always, whatever they lead to."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise RefusedError(f"{path} is there and no regular file", hint="name a new file")
    if path.exists() and not replace:
        raise RefusedError(f"{path} is there already", hint="name a new file, or remove that one")


def _link(new: Path, place: Path) -> bool:
    """Give `new` its name; unlike a rename, never in the place of what came there meanwhile."""
    try:
        os.link(new, place)
    except FileExistsError:
        return False
    return True


@contextmanager
def new_store(url: str) -> Iterator[Backend]:
    """An empty backend that gets its place when the block ends; until then, nothing is there.

    Raises:
        ConflictError: something came to be there meanwhile; it stays as it is.
        EngineError: the system does not let us write.
    """
    with translated():
        scheme, path = locate(url)
        place = resolve_path(path)
    with _built(place, place) as new:
        with translated(), open_backend(f"{scheme}:{new}") as backend:
            yield backend
        if not _settled(new, place):
            raise ConflictError(f"{place} has come to be there meanwhile", hint="run it again to add to it")


def _settled(new: Path, place: Path) -> bool:
    """Give a store its name; False where something came there meanwhile."""
    if new.is_file():
        fsync_path(new)
        return _link(new, place)
    fsync_tree(new)
    if _is_taken(place):
        return False
    new.rename(place)  # in the place of an empty folder, or fails
    return True


def _is_taken(place: Path) -> bool:
    return place.exists() and (not place.is_dir() or any(place.iterdir()))


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill that gets its name when the block ends, on the disk.

    Raises:
        RefusedError: something is there that is no empty folder, or the place is inside a store.
        EngineError: the system does not let us write.
    """
    with translated():
        place = resolve_path(str(path))
    refuse_inside(place, None, "name a folder outside every store")
    if path.is_symlink() or _is_taken(path):
        raise RefusedError(f"{path} is there already", hint="name a new folder, or an empty one")
    with _built(place, path) as new:
        new.mkdir()
        yield new
        fsync_tree(new)
        new.rename(place)  # in the place of an empty folder, or fails
