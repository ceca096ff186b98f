"""The folder beside a mirror: half built, or swapped out. What is ours in it goes, what is not is kept.

A folder that is being built holds a marker, made first and removed last before it is swapped in; only pages
of ours are in it. One without a marker holds a manifest: its pages are removed where they are as listed, and
everything else moves into the mirror: a page that somebody edited under a name of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from backends.files import fsync_opened
from engine.base.errors import InvalidInputError, RefusedError
from engine.transfer.mirror import disk
from engine.transfer.mirror.manifest import MANIFEST, Listed, Manifest, decode
from engine.transfer.mirror.names import PATH
from engine.transfer.mirror.place import Place

MARKER: Final = ".engine-mirror-unfinished"

Aside = tuple[tuple[str, str], ...]
"""Pages that somebody edited: (the page, where that version stands now)."""


def recover(place: Place, store_id: str) -> Aside:
    """Finish or take back what a run left that was killed.

    Raises:
        RefusedError: what stands beside the mirror is none of ours.
    """
    aside: Aside = ()
    for name in (place.old, place.new):
        status = disk.found(place.parent, name)
        if status is None:
            continue
        if not disk.is_folder(status):
            raise _in_the_way(place, name)
        with disk.opened(name, place.parent) as folder:
            entries = disk.names(folder)
            if not entries or MARKER in entries:
                clear(place, name, folder)
                continue
            manifest = _manifest(place, name, folder, store_id)
        if _is_free(place):
            os.rename(name, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
            fsync_opened(place.parent)
        else:
            aside += drain(place, name, manifest)
    return aside


def _is_free(place: Place) -> bool:
    """Whether nothing, or an empty folder, stands where the mirror is to be."""
    if disk.found(place.parent, place.name) is None:
        return True
    with disk.opened(place.name, place.parent) as folder:
        return not disk.names(folder)


def _manifest(place: Place, name: str, folder: int, store_id: str) -> Manifest:
    with suppress(InvalidInputError):
        manifest = decode(disk.read(folder, MANIFEST) or b"")
        if manifest.store_id == store_id:
            return manifest
    raise _in_the_way(place, name)


def _in_the_way(place: Place, name: str) -> RefusedError:
    return RefusedError(
        f"{name}, beside {place.path}, is no leftover of this store's mirror", hint="move it away"
    )


def clear(place: Place, name: str, folder: int) -> None:
    """Remove a folder that is being built: pages, manifest, and the marker last.

    Raises:
        RefusedError: something else is in it, which stays.
    """
    ways = list(disk.folders(folder))
    for way in ways:
        with disk.reached(folder, way) as inner:
            for entry in disk.names(inner):
                if PATH.fullmatch("/".join((*way, entry))):
                    os.unlink(entry, dir_fd=inner)
    for way in ways:
        with disk.reached(folder, way[:-1]) as outer, suppress(OSError):
            os.rmdir(way[-1], dir_fd=outer)
    if set(disk.names(folder)) - {MARKER, MANIFEST}:
        raise _in_the_way(place, name)
    for entry in (MANIFEST, MARKER):
        with suppress(FileNotFoundError):
            os.unlink(entry, dir_fd=folder)
    os.rmdir(name, dir_fd=place.parent)


def drain(place: Place, name: str, manifest: Manifest) -> Aside:
    """Empty a swapped-out mirror into the one that is in place, and remove it."""
    aside: list[tuple[str, str]] = []
    with disk.opened(name, place.parent) as old, disk.opened(place.name, place.parent) as new:
        # First what is not ours: an earlier version that was set aside keeps its number.
        for path in found_foreign(old, manifest.files, folders=True):
            now = _move(old, path.removesuffix("/").split("/"), new)
            if path.removesuffix("/") in manifest.files:
                aside.append((path, now))
        for path, listed in sorted(manifest.files.items()):
            status = disk.found_at(old, path)
            if not disk.is_file(status):
                continue
            way = path.split("/")
            file = way.pop()
            with disk.reached(old, way) as inner:
                if _is_known(old, new, path, listed, status):
                    os.unlink(file, dir_fd=inner)
                else:
                    aside.append((path, _move_aside(inner, file, new, way)))
        for empty in disk.folders(old):
            with disk.reached(old, empty[:-1]) as outer:
                os.rmdir(empty[-1], dir_fd=outer)
        disk.settle(new)
        os.unlink(MANIFEST, dir_fd=old)
    os.rmdir(name, dir_fd=place.parent)
    fsync_opened(place.parent)
    return tuple(aside)


def _is_known(old: int, new: int, path: str, listed: Listed, status: os.stat_result | None) -> bool:
    """Whether nothing is lost with this name of the file."""
    there = disk.found_at(new, path)
    if disk.same(status, there):
        return True
    now = disk.digest(old, path)
    return now == listed.sha256 or (there is not None and now == disk.digest(new, path))


def found_foreign(folder: int, files: Mapping[str, Listed], *, folders: bool = False) -> list[str]:
    """What stands in a mirror and is none of its pages; a folder ends in `/`, what is in it is not named.

    With `folders`, also what is no file where a page should stand.
    """
    ours = {"/".join(path.split("/")[:depth]) for path in files for depth in (1, 2)}
    return list(_foreign(folder, (), files, ours, folders))


def _foreign(
    folder: int, way: tuple[str, ...], files: Mapping[str, Listed], ours: set[str], folders: bool
) -> Iterator[str]:
    for name in disk.names(folder):
        path = "/".join((*way, name))
        status = disk.found(folder, name)
        if path in {MANIFEST, MARKER} or (path in files and (disk.is_file(status) or not folders)):
            continue
        if path in ours and disk.is_folder(status):
            with disk.opened(name, folder) as inner:
                yield from _foreign(inner, (*way, name), files, ours, folders)
        else:
            yield path + "/" if disk.is_folder(status) else path


def _move(old: int, path: list[str], new: int) -> str:
    """Move something foreign to the same place in the new mirror; returns where it stands then.

    Where a folder stands already, into that; where anything else does, beside it.
    """
    *way, name = path
    with disk.reached(old, way) as source, disk.reached(new, way, create=True) as target:
        if disk.move(source, name, target, name):
            return "/".join(path)
        if disk.is_folder(disk.found(source, name)) and disk.is_folder(disk.found(target, name)):
            with disk.opened(name, source) as folder:
                for inner in disk.names(folder):
                    _move(old, [*path, inner], new)
            os.rmdir(name, dir_fd=source)
            return "/".join(path)
        return _move_aside(source, name, new, way)


def _move_aside(source: int, name: str, new: int, way: list[str]) -> str:
    """Move a file to `stem.edited-N.md` in the new mirror, N the first that is free."""
    stem, dot, suffix = name.rpartition(".") if "." in name[1:] else (name, "", "")
    number = 1
    with disk.reached(new, way, create=True) as target:
        while True:
            aside = f"{stem}.edited-{number}{dot}{suffix}"
            if disk.move(source, name, target, aside):
                return "/".join((*way, aside))
            number += 1
