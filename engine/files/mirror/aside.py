"""Keep edited pages in the folder `NAME.edited` beside the mirror, until their edits are in the store.

Each run that replaces edited pages creates a numbered folder in `NAME.edited`. This folder has the form of a
mirror: a manifest, and the edited pages at their paths. The manifest describes each page as it was written,
so that a later pull can record the edits (`engine.files.mirror.pull`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Final, NamedTuple

from backends.files import fsync_opened
from engine.base.errors import InvalidInputError, RefusedError
from engine.files.mirror import disk
from engine.files.mirror.manifest import MANIFEST, Manifest, decode, encode
from engine.files.mirror.place import MirrorPlace

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")


class Kept(NamedTuple):
    """A numbered folder of edited pages."""

    path: str
    """The absolute path, for messages."""
    number: str
    folder: int
    manifest: Manifest


def keep_aside(
    place: MirrorPlace, old: int, edited: Sequence[str], manifest: Manifest
) -> list[tuple[str, str]]:
    """Move edited pages from a replaced mirror to a new numbered folder.

    Returns:
        The pages, as (path of the page, absolute path of the edited version).

    Raises:
        RefusedError: The folder for edited pages is a link or a file.
    """
    if not edited:
        return []
    listed = encode(manifest._replace(files={path: manifest.files[path] for path in edited}))
    with suppress(FileExistsError):
        os.mkdir(place.edited, dir_fd=place.parent)
    with _opened(place) as outer:
        number = _new_folder(outer)
        with disk.open_folder(number, outer) as folder:
            disk.write(folder, MANIFEST, listed)
            # The manifest is on the disk before the first page, because a page without it cannot be applied.
            disk.sync_tree(folder)
            for path in edited:
                *parents, file = path.split("/")
                with (
                    disk.open_path(old, parents) as source,
                    disk.open_path(folder, parents, create=True) as target,
                ):
                    disk.move(source, file, target, file)
            disk.sync_tree(folder)
        fsync_opened(outer)
    return [(path, f"{place.path}.edited/{number}/{path}") for path in edited]


def _new_folder(outer: int) -> str:
    for number in count(1):
        with suppress(FileExistsError):
            os.mkdir(str(number), dir_fd=outer)
            return str(number)
    raise AssertionError


@contextmanager
def _opened(place: MirrorPlace) -> Iterator[int]:
    if not disk.is_folder(disk.lstat(place.parent, place.edited)):
        raise RefusedError(
            f"{place.path}.edited is not a folder, so that edited pages cannot be kept there",
            hint="move it to a different folder",
        )
    with disk.open_folder(place.edited, place.parent) as folder:
        yield folder


@contextmanager
def kept_pages(place: MirrorPlace, store_id: str) -> Iterator[list[Kept]]:
    """Open the numbered folders of this store's mirror, the oldest first. Other entries are ignored."""
    found: list[Kept] = []
    if disk.lstat(place.parent, place.edited) is None:
        yield found
        return
    with _opened(place) as outer:
        numbers = sorted((name for name in disk.names(outer) if _NUMBER.fullmatch(name)), key=int)
        folders: list[int] = []
        try:
            for number in numbers:
                if not disk.is_folder(disk.lstat(outer, number)):
                    continue
                folders.append(os.open(number, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=outer))
                with suppress(InvalidInputError):
                    manifest = decode(disk.read(folders[-1], MANIFEST) or b"")
                    if manifest.store_id == store_id:
                        found.append(Kept(f"{place.path}.edited/{number}", number, folders[-1], manifest))
            yield found
        finally:
            for folder in folders:
                os.close(folder)


def remove_kept(kept: Kept, applied: Mapping[str, str]) -> None:
    """Delete pages whose edits are in the store, and the manifest if no page is left.

    `applied` contains these pages: path → SHA-256. If such a page was edited again, it is kept.
    """
    for path, sha256 in applied.items():
        if disk.digest(kept.folder, path) == sha256:
            *parents, file = path.split("/")
            with disk.open_path(kept.folder, parents) as inner:
                os.unlink(file, dir_fd=inner)
    for empty in disk.folders(kept.folder):
        with disk.open_path(kept.folder, empty[:-1]) as outer, suppress(OSError):
            os.rmdir(empty[-1], dir_fd=outer)
    if disk.names(kept.folder) == [MANIFEST]:
        os.unlink(MANIFEST, dir_fd=kept.folder)


def remove_empty(place: MirrorPlace) -> None:
    """Remove the numbered folders that are empty, and the folder that contains them if it is empty."""
    if disk.lstat(place.parent, place.edited) is None:
        return
    with _opened(place) as outer:
        for number in filter(_NUMBER.fullmatch, disk.names(outer)):
            with suppress(OSError):
                os.rmdir(number, dir_fd=outer)
        is_empty = not disk.names(outer)
    if is_empty:
        os.rmdir(place.edited, dir_fd=place.parent)
