"""Move new pages into a mirror, keep the edited pages that they replace, and finish a run that was killed.

The folder beside a mirror contains the pages that a run writes, and the new manifest. While it is
unfinished, it contains a marker file, which is created first and removed last; the next run deletes such a
folder. A folder without the marker is complete, and the next run moves its pages into the mirror, the
manifest last.

A page that a person edited is moved to the folder `NAME.edited` beside the mirror before it is replaced or
deleted. Any other entry at the path of a page gets a new name in the same folder.

The edited pages are kept there until their edits are in the store. Each run that replaces edited pages
creates a numbered folder. This folder has the form of a mirror: a manifest, and the edited pages at their
paths. The manifest describes each page as it was written, so that a later pull can record the edits
(`mirror_pull`).
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
from engine.files.mirror import mirror_disk
from engine.files.mirror.mirror_place import (
    MANIFEST,
    Manifest,
    ManifestEntry,
    MirrorPlace,
    decode_manifest,
    encode_manifest,
)
from engine.files.mirror.mirror_text import PATH

MARKER: Final = ".engine-mirror-unfinished"

SetAside = tuple[tuple[str, str], ...]
"""Edited pages, as (path of the page, absolute path of the edited version)."""

NONE_APPLIED: Final[Mapping[str, str]] = {}

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")


def recover(place: MirrorPlace, store_id: str) -> SetAside:
    """Complete or undo a run that was killed.

    Raises:
        RefusedError: the entry beside the mirror was not created by a run for this store.
    """
    status = mirror_disk.lstat(place.parent, place.new)
    if status is None:
        return ()
    if not mirror_disk.is_folder(status):
        raise _not_ours(place, place.new)
    with mirror_disk.open_folder(place.new, place.parent) as new:
        entries = mirror_disk.names(new)
        if not entries or MARKER in entries:
            remove_unfinished(place, place.new, new)
        elif MANIFEST not in entries:
            _remove_emptied(place, new)
        else:
            return _moved(place, new, store_id)
    return ()


def _moved(place: MirrorPlace, new: int, store_id: str) -> SetAside:
    """Move the pages of a complete temporary folder to their place."""
    now = _manifest(new, store_id)
    if now is None:
        raise _not_ours(place, place.new)
    if _is_free(place):
        os.rename(place.new, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
        fsync_opened(place.parent)
        return ()
    with mirror_disk.open_folder(place.name, place.parent) as old:
        was = _manifest(old, store_id)
        if was is None:
            raise _not_ours(place, place.name)
        return move_pages(place, new, old, was, now.files)


def _is_free(place: MirrorPlace) -> bool:
    """Return True if there is nothing, or only an empty folder, at the place of the mirror."""
    if mirror_disk.lstat(place.parent, place.name) is None:
        return True
    with mirror_disk.open_folder(place.name, place.parent) as folder:
        return not mirror_disk.names(folder)


def _manifest(folder: int, store_id: str) -> Manifest | None:
    """Return the manifest in an open folder, or None if the folder has no manifest of this store."""
    with suppress(InvalidInputError):
        manifest = decode_manifest(mirror_disk.read(folder, MANIFEST) or b"")
        if manifest.store_id == store_id:
            return manifest
    return None


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
    for path in mirror_disk.folders(folder):
        with mirror_disk.open_path(folder, path) as inner:
            for entry in mirror_disk.names(inner):
                if PATH.fullmatch("/".join((*path, entry))):
                    os.unlink(entry, dir_fd=inner)
    mirror_disk.remove_empty_folders(folder)
    if set(mirror_disk.names(folder)) - {MARKER, MANIFEST}:
        raise _not_ours(place, name)
    for entry in (MANIFEST, MARKER):
        with suppress(FileNotFoundError):
            os.unlink(entry, dir_fd=folder)
    os.rmdir(name, dir_fd=place.parent)


def move_pages(
    place: MirrorPlace,
    new: int,
    old: int,
    was: Manifest,
    files: Mapping[str, ManifestEntry],
    applied: Mapping[str, str] = NONE_APPLIED,
) -> SetAside:
    """Move the pages and the manifest of a complete new folder into the mirror, and delete obsolete pages.

    Args:
        place: The place of the mirror.
        new: The folder with the new pages and the new manifest.
        old: The folder of the mirror.
        was: The manifest of the mirror. Pages that do not change may be missing in it and in `files`.
        files: The pages of the new manifest.
        applied: The edited pages whose edits are in the store: path → SHA-256.

    Returns:
        The pages that were kept under a new name.
    """
    arriving = [path for path in files if mirror_disk.lstat_at(new, path) is not None]
    leaving = [path for path in was.files if path not in files]
    set_aside = [moved for path in arriving for moved in _make_way(place, old, path, was)]
    edited = []
    for path in sorted((*arriving, *leaving)):
        digest = mirror_disk.digest(old, path)
        known = {listed[path].sha256 for listed in (was.files, files) if path in listed}
        if digest is not None and digest not in known | {applied.get(path)}:
            edited.append(path)
    set_aside += keep_aside(place, old, edited, was)
    for path in leaving:
        if mirror_disk.is_file(mirror_disk.lstat_at(old, path)):
            mirror_disk.remove(old, path)
    for path in arriving:
        mirror_disk.replace(new, old, path)
    for path in leaving:
        mirror_disk.remove_empty_parents(old, path)
    # A page older than the manifest would look as if a person had undone the change.
    mirror_disk.sync(old, (*arriving, *leaving))
    mirror_disk.replace(new, old, MANIFEST)
    fsync_opened(old)
    _remove_emptied(place, new)
    return tuple(set_aside)


def _make_way(place: MirrorPlace, folder: int, path: str, was: Manifest) -> Iterator[tuple[str, str]]:
    """Rename what is not ours at the path of a page or of one of its folders; yield both paths."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        part = "/".join(parts[:depth])
        status = mirror_disk.lstat_at(folder, part)
        is_ours = mirror_disk.is_folder(status)
        if depth == len(parts):
            is_ours = mirror_disk.is_file(status) and path in was.files
        if status is not None and not is_ours:
            with mirror_disk.parent_of(folder, part) as (inner, name):
                moved = _rename(inner, name)
            yield part, "/".join((place.path, *parts[: depth - 1], moved))


def _remove_emptied(place: MirrorPlace, new: int) -> None:
    """Remove the temporary folder, from which all pages were moved."""
    mirror_disk.remove_empty_folders(new)
    if mirror_disk.names(new):
        raise _not_ours(place, place.new)
    os.rmdir(place.new, dir_fd=place.parent)


def _rename(folder: int, name: str) -> str:
    """Rename an entry to `stem.edited-N.md` with the first free number N, and return the new name."""
    stem, dot, suffix = name.rpartition(".") if "." in name[1:] else (name, "", "")
    names = (f"{stem}.edited-{number}{dot}{suffix}" for number in count(1))
    return next(one for one in names if mirror_disk.move(folder, name, folder, one))


def foreign_entries(folder: int, files: Mapping[str, ManifestEntry]) -> list[str]:
    """Return the paths of the entries in a mirror that are not pages of the mirror.

    The path of a folder ends in `/`, and the entries in such a folder are not returned.
    """
    page_folders = {"/".join(path.split("/")[:depth]) for path in files for depth in (1, 2)}
    return list(_foreign(folder, (), files, page_folders))


def _foreign(
    folder: int,
    parents: tuple[str, ...],
    files: Mapping[str, ManifestEntry],
    page_folders: set[str],
) -> Iterator[str]:
    for name in mirror_disk.names(folder):
        path = "/".join((*parents, name))
        status = mirror_disk.lstat(folder, name)
        if path in {MANIFEST, MARKER} or path in files:
            continue
        if path in page_folders and mirror_disk.is_folder(status):
            with mirror_disk.open_folder(name, folder) as inner:
                yield from _foreign(inner, (*parents, name), files, page_folders)
        else:
            yield path + "/" if mirror_disk.is_folder(status) else path


class EditedFolder(NamedTuple):
    """A numbered folder of edited pages."""

    path: str
    """The absolute path, for messages."""
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
    listed = encode_manifest(manifest._replace(files={path: manifest.files[path] for path in edited}))
    with suppress(FileExistsError):
        os.mkdir(place.edited, dir_fd=place.parent)
    with _opened(place) as outer:
        number = _new_folder(outer)
        with mirror_disk.open_folder(number, outer) as folder:
            mirror_disk.write(folder, MANIFEST, listed)
            # The manifest is on the disk before the first page, because a page without it cannot be applied.
            mirror_disk.sync(folder, [MANIFEST])
            fsync_opened(outer)
            fsync_opened(place.parent)
            for path in edited:
                with (
                    mirror_disk.parent_of(old, path) as (source, file),
                    mirror_disk.parent_of(folder, path, create=True) as (target, _),
                ):
                    mirror_disk.move(source, file, target, file)
            mirror_disk.sync(folder, edited)
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
    if not mirror_disk.is_folder(mirror_disk.lstat(place.parent, place.edited)):
        raise RefusedError(
            f"{place.path}.edited is not a folder, so that edited pages cannot be kept there",
            hint="move it to a different folder",
        )
    with mirror_disk.open_folder(place.edited, place.parent) as folder:
        yield folder


@contextmanager
def edited_folders(place: MirrorPlace, store_id: str) -> Iterator[list[EditedFolder]]:
    """Open the numbered folders of this store's mirror, the oldest first. Other entries are ignored."""
    edits: list[EditedFolder] = []
    if mirror_disk.lstat(place.parent, place.edited) is None:
        yield edits
        return
    with _opened(place) as outer:
        numbers = sorted((name for name in mirror_disk.names(outer) if _NUMBER.fullmatch(name)), key=int)
        folders: list[int] = []
        try:
            for number in numbers:
                if not mirror_disk.is_folder(mirror_disk.lstat(outer, number)):
                    continue
                folders.append(os.open(number, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=outer))
                manifest = _manifest(folders[-1], store_id)
                if manifest is not None:
                    edits.append(EditedFolder(f"{place.path}.edited/{number}", folders[-1], manifest))
            yield edits
        finally:
            for folder in folders:
                os.close(folder)


def remove_applied(kept: EditedFolder, applied: Mapping[str, str]) -> None:
    """Delete pages whose edits are in the store, and the manifest if no page is left.

    `applied` contains these pages: path → SHA-256. If such a page was edited again, it is kept.
    """
    for path, sha256 in applied.items():
        if mirror_disk.digest(kept.folder, path) == sha256:
            mirror_disk.remove(kept.folder, path)
    mirror_disk.remove_empty_folders(kept.folder)
    if mirror_disk.names(kept.folder) == [MANIFEST]:
        os.unlink(MANIFEST, dir_fd=kept.folder)


def remove_empty(place: MirrorPlace) -> None:
    """Remove the numbered folders that are empty, and the folder that contains them if it is empty."""
    if mirror_disk.lstat(place.parent, place.edited) is None:
        return
    with _opened(place) as outer:
        for number in filter(_NUMBER.fullmatch, mirror_disk.names(outer)):
            with suppress(OSError):
                os.rmdir(number, dir_fd=outer)
        is_empty = not mirror_disk.names(outer)
    if is_empty:
        os.rmdir(place.edited, dir_fd=place.parent)
