"""Remove the temporary folder beside a mirror: an unfinished new mirror, or the replaced old mirror.

An unfinished mirror contains a marker file, which is created first and removed last, before the exchange.
Such a folder contains only generated pages and is deleted. A folder without the marker is the old mirror and
contains a manifest. Its pages that match the manifest are deleted, edited pages are set aside
(`engine.files.mirror.aside`), and all other entries are moved into the current mirror.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from typing import Final

from backends.files import fsync_opened
from engine.base.errors import InvalidInputError, RefusedError
from engine.files.mirror import disk
from engine.files.mirror.aside import keep_aside
from engine.files.mirror.manifest import MANIFEST, Manifest, ManifestEntry, decode
from engine.files.mirror.names import PATH
from engine.files.mirror.place import MirrorPlace

MARKER: Final = ".engine-mirror-unfinished"

SetAside = tuple[tuple[str, str], ...]
"""Edited pages, as (path of the page, absolute path of the edited version)."""

NONE_APPLIED: Final[Mapping[str, str]] = {}


def recover(place: MirrorPlace, store_id: str) -> SetAside:
    """Complete or undo a run that was killed.

    Raises:
        RefusedError: the entry beside the mirror was not created by a run for this store.
    """
    set_aside: SetAside = ()
    for name in (place.old, place.new):
        status = disk.lstat(place.parent, name)
        if status is None:
            continue
        if not disk.is_folder(status):
            raise _not_ours(place, name)
        with disk.open_folder(name, place.parent) as folder:
            entries = disk.names(folder)
            if not entries or MARKER in entries:
                remove_unfinished(place, name, folder)
                continue
            manifest = _manifest(place, name, folder, store_id)
        if _is_free(place):
            os.rename(name, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
            fsync_opened(place.parent)
        else:
            set_aside += drain(place, name, manifest)
    return set_aside


def _is_free(place: MirrorPlace) -> bool:
    """Return True if there is nothing, or only an empty folder, at the place of the mirror."""
    if disk.lstat(place.parent, place.name) is None:
        return True
    with disk.open_folder(place.name, place.parent) as folder:
        return not disk.names(folder)


def _manifest(place: MirrorPlace, name: str, folder: int, store_id: str) -> Manifest:
    with suppress(InvalidInputError):
        manifest = decode(disk.read(folder, MANIFEST) or b"")
        if manifest.store_id == store_id:
            return manifest
    raise _not_ours(place, name)


def _not_ours(place: MirrorPlace, name: str) -> RefusedError:
    return RefusedError(
        f"{name}, beside {place.path}, does not belong to this store's mirror",
        hint="move it to a different folder",
    )


def remove_unfinished(place: MirrorPlace, name: str, folder: int) -> None:
    """Remove a folder that is being built: first the pages, then the manifest, last the marker.

    Raises:
        RefusedError: the folder contains other entries, which are kept.
    """
    paths = list(disk.folders(folder))
    for path in paths:
        with disk.open_path(folder, path) as inner:
            for entry in disk.names(inner):
                if PATH.fullmatch("/".join((*path, entry))):
                    os.unlink(entry, dir_fd=inner)
    for path in paths:
        with disk.open_path(folder, path[:-1]) as outer, suppress(OSError):
            os.rmdir(path[-1], dir_fd=outer)
    if set(disk.names(folder)) - {MARKER, MANIFEST}:
        raise _not_ours(place, name)
    for entry in (MANIFEST, MARKER):
        with suppress(FileNotFoundError):
            os.unlink(entry, dir_fd=folder)
    os.rmdir(name, dir_fd=place.parent)


def drain(
    place: MirrorPlace, name: str, manifest: Manifest, applied: Mapping[str, str] = NONE_APPLIED
) -> SetAside:
    """Move foreign and edited files out of the replaced mirror, and delete all other files.

    Args:
        place: The place of the mirror.
        name: The present name of the replaced mirror.
        manifest: The manifest of the replaced mirror.
        applied: The edited pages whose edits are in the store: path → SHA-256.
    """
    set_aside: list[tuple[str, str]] = []
    with disk.open_folder(name, place.parent) as old, disk.open_folder(place.name, place.parent) as new:
        # Foreign files are moved first, so that earlier edited versions keep their numbers.
        for path in foreign_entries(old, manifest.files, folders=True):
            moved = _move(old, path.removesuffix("/").split("/"), new)
            if path.removesuffix("/") in manifest.files:
                set_aside.append((path, f"{place.path}/{moved}"))
        edited = []
        for path, listed in sorted(manifest.files.items()):
            status = disk.lstat_at(old, path)
            if not disk.is_file(status):
                continue
            if _is_redundant(old, new, path, {listed.sha256, applied.get(path)}, status):
                *parents, file = path.split("/")
                with disk.open_path(old, parents) as inner:
                    os.unlink(file, dir_fd=inner)
            else:
                edited.append(path)
        set_aside += keep_aside(place, old, edited, manifest)
        for empty in disk.folders(old):
            with disk.open_path(old, empty[:-1]) as outer:
                os.rmdir(empty[-1], dir_fd=outer)
        disk.sync_tree(new)
        os.unlink(MANIFEST, dir_fd=old)
    os.rmdir(name, dir_fd=place.parent)
    fsync_opened(place.parent)
    return tuple(set_aside)


def _is_redundant(
    old: int, new: int, path: str, known: Container[str | None], status: os.stat_result | None
) -> bool:
    """Return True if no content is lost when the file is deleted from the old mirror.

    `known` contains the SHA-256 of the files whose content is in the store.
    """
    current = disk.lstat_at(new, path)
    if disk.same_file(status, current):
        return True
    digest = disk.digest(old, path)
    return digest in known or (current is not None and digest == disk.digest(new, path))


def foreign_entries(folder: int, files: Mapping[str, ManifestEntry], *, folders: bool = False) -> list[str]:
    """Return the paths of the entries in a mirror that are not pages of the mirror.

    The path of a folder ends in `/`, and the entries in such a folder are not returned. With `folders`,
    entries that have the path of a page but are not regular files are returned, too.
    """
    page_folders = {"/".join(path.split("/")[:depth]) for path in files for depth in (1, 2)}
    return list(_foreign(folder, (), files, page_folders, folders))


def _foreign(
    folder: int,
    parents: tuple[str, ...],
    files: Mapping[str, ManifestEntry],
    page_folders: set[str],
    folders: bool,
) -> Iterator[str]:
    for name in disk.names(folder):
        path = "/".join((*parents, name))
        status = disk.lstat(folder, name)
        if path in {MANIFEST, MARKER} or (path in files and (disk.is_file(status) or not folders)):
            continue
        if path in page_folders and disk.is_folder(status):
            with disk.open_folder(name, folder) as inner:
                yield from _foreign(inner, (*parents, name), files, page_folders, folders)
        else:
            yield path + "/" if disk.is_folder(status) else path


def _move(old: int, path: list[str], new: int) -> str:
    """Move a foreign entry to the same path in the new mirror, and return the new path.

    A folder is merged into an existing folder. Any other entry gets a new name in the same folder if its path
    is in use.
    """
    *parents, name = path
    with disk.open_path(old, parents) as source, disk.open_path(new, parents, create=True) as target:
        if disk.move(source, name, target, name):
            return "/".join(path)
        if disk.is_folder(disk.lstat(source, name)) and disk.is_folder(disk.lstat(target, name)):
            with disk.open_folder(name, source) as folder:
                for inner in disk.names(folder):
                    _move(old, [*path, inner], new)
            os.rmdir(name, dir_fd=source)
            return "/".join(path)
        return _move_aside(source, name, new, parents)


def _move_aside(source: int, name: str, new: int, parents: list[str]) -> str:
    """Move a file to `stem.edited-N.md` in the new mirror, with the first free number N."""
    stem, dot, suffix = name.rpartition(".") if "." in name[1:] else (name, "", "")
    number = 1
    with disk.open_path(new, parents, create=True) as target:
        while True:
            new_name = f"{stem}.edited-{number}{dot}{suffix}"
            if disk.move(source, name, target, new_name):
                return "/".join((*parents, new_name))
            number += 1
