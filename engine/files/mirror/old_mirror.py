"""Remove the temporary folder beside a mirror: an unfinished new mirror, or the replaced old mirror.

An unfinished mirror contains a marker file, which is created first and removed last, before the exchange.
Such a folder contains only generated pages and is deleted. A folder without the marker is the old mirror and
contains a manifest. Its pages that match the manifest are deleted, edited pages are moved to the folder
`NAME.edited` beside the mirror, and all other entries are moved into the current mirror.

The edited pages are kept there until their edits are in the store. Each run that replaces edited pages
creates a numbered folder. This folder has the form of a mirror: a manifest, and the edited pages at their
paths. The manifest describes each page as it was written, so that a later pull can record the edits
(`mirror_pull`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
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
    set_aside: SetAside = ()
    for name in (place.old, place.new):
        status = mirror_disk.lstat(place.parent, name)
        if status is None:
            continue
        if not mirror_disk.is_folder(status):
            raise _not_ours(place, name)
        with mirror_disk.open_folder(name, place.parent) as folder:
            entries = mirror_disk.names(folder)
            if not entries or MARKER in entries:
                remove_unfinished(place, name, folder)
                continue
            manifest = _manifest(folder, store_id)
            if manifest is None:
                raise _not_ours(place, name)
        if _is_free(place):
            os.rename(name, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
            fsync_opened(place.parent)
        else:
            set_aside += drain(place, name, manifest)
    return set_aside


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
    with (
        mirror_disk.open_folder(name, place.parent) as old,
        mirror_disk.open_folder(place.name, place.parent) as new,
    ):
        # Foreign files are moved first, so that earlier edited versions keep their numbers.
        for path in foreign_entries(old, manifest.files, folders=True):
            moved = _move(old, path.removesuffix("/").split("/"), new)
            if path.removesuffix("/") in manifest.files:
                set_aside.append((path, f"{place.path}/{moved}"))
        edited = []
        for path, listed in sorted(manifest.files.items()):
            status = mirror_disk.lstat_at(old, path)
            if not mirror_disk.is_file(status):
                continue
            if _is_redundant(old, new, path, {listed.sha256, applied.get(path)}, status):
                mirror_disk.remove(old, path)
            else:
                edited.append(path)
        set_aside += keep_aside(place, old, edited, manifest)
        for empty in mirror_disk.folders(old):
            with mirror_disk.open_path(old, empty[:-1]) as outer:
                os.rmdir(empty[-1], dir_fd=outer)
        mirror_disk.sync_tree(new)
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
    current = mirror_disk.lstat_at(new, path)
    if mirror_disk.same_file(status, current):
        return True
    digest = mirror_disk.digest(old, path)
    return digest in known or (current is not None and digest == mirror_disk.digest(new, path))


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
    for name in mirror_disk.names(folder):
        path = "/".join((*parents, name))
        status = mirror_disk.lstat(folder, name)
        if path in {MANIFEST, MARKER} or (path in files and (mirror_disk.is_file(status) or not folders)):
            continue
        if path in page_folders and mirror_disk.is_folder(status):
            with mirror_disk.open_folder(name, folder) as inner:
                yield from _foreign(inner, (*parents, name), files, page_folders, folders)
        else:
            yield path + "/" if mirror_disk.is_folder(status) else path


def _move(old: int, path: list[str], new: int) -> str:
    """Move a foreign entry to the same path in the new mirror, and return the new path.

    A folder is merged into an existing folder. Any other entry gets a new name in the same folder if its path
    is in use.
    """
    *parents, name = path
    with (
        mirror_disk.open_path(old, parents) as source,
        mirror_disk.open_path(new, parents, create=True) as target,
    ):
        if mirror_disk.move(source, name, target, name):
            return "/".join(path)
        if mirror_disk.is_folder(mirror_disk.lstat(source, name)) and mirror_disk.is_folder(
            mirror_disk.lstat(target, name)
        ):
            with mirror_disk.open_folder(name, source) as folder:
                for inner in mirror_disk.names(folder):
                    _move(old, [*path, inner], new)
            os.rmdir(name, dir_fd=source)
            return "/".join(path)
        return _move_aside(source, name, new, parents)


def _move_aside(source: int, name: str, new: int, parents: list[str]) -> str:
    """Move a file to `stem.edited-N.md` in the new mirror, with the first free number N."""
    stem, dot, suffix = name.rpartition(".") if "." in name[1:] else (name, "", "")
    with mirror_disk.open_path(new, parents, create=True) as target:
        names = (f"{stem}.edited-{number}{dot}{suffix}" for number in count(1))
        free = next(one for one in names if mirror_disk.move(source, name, target, one))
    return "/".join((*parents, free))


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
            mirror_disk.sync_tree(folder)
            for path in edited:
                with (
                    mirror_disk.parent_of(old, path) as (source, file),
                    mirror_disk.parent_of(folder, path, create=True) as (target, _),
                ):
                    mirror_disk.move(source, file, target, file)
            mirror_disk.sync_tree(folder)
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
