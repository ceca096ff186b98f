"""Bring a mirror up to date: build a new mirror in the same parent folder, then exchange both atomically.

If the process is killed, either the old mirror or the new mirror is complete, and the next run removes the
other folder. After a run, the pages have the same bytes as if the run had written to an empty folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Self

from backends.files import fsync_opened
from engine.base.errors import ConflictError, RefusedError
from engine.base.validation import choice, show_id
from engine.files.mirror import mirror_disk
from engine.files.mirror.mirror_pages import Page, Pages
from engine.files.mirror.mirror_place import (
    MANIFEST,
    Existing,
    Manifest,
    ManifestEntry,
    MirrorPlace,
    changed_pages,
    encode_manifest,
    existing,
    place_at,
)
from engine.files.mirror.mirror_report import MirrorReport
from engine.files.mirror.old_mirror import (
    MARKER,
    NONE_APPLIED,
    SetAside,
    drain,
    foreign_entries,
    recover,
    remove_unfinished,
)
from engine.files.mirror.page_style import StyleName
from engine.store.replay import Progress, no_progress
from engine.store.store import Store

_MODE = 0o777


def mirror(
    store: Store,
    folder: str | os.PathLike[str],
    *,
    style: StyleName | str | None = None,
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> MirrorReport:
    """Write the mirror of the store's current head to `folder` (see `engine.Engine.mirror`)."""
    requested = None if style is None else choice(StyleName, style, "style")
    store_id = show_id(store.identity.store_id)
    with place_at(folder, lock=True) as place:
        with existing(place, store_id):  # refuse a bad place before any change
            recovered = () if dry_run else recover(place, store_id)
        report = sync(store, place, requested, dry_run=dry_run, progress=progress)
    return replace(report, set_aside=(*recovered, *report.set_aside))


def sync(
    store: Store,
    place: MirrorPlace,
    style: StyleName | None = None,
    *,
    applied: Mapping[str, str] = NONE_APPLIED,
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> MirrorReport:
    """Write the mirror of the store's current head to a locked place, from which leftovers were removed.

    Args:
        store: The store.
        place: The place of the mirror.
        style: The style; None for the style of the existing mirror, or plain.
        applied: The edited pages whose edits are in the store: path → SHA-256. They are not kept.
        dry_run: Only count the changes.
        progress: Called with (atoms written, all atoms).
    """
    store_id = show_id(store.identity.store_id)
    with existing(place, store_id) as old, store.view(*store.followers) as rows:
        old_manifest = old.manifest if old else None
        style_name = style or (old_manifest.style if old_manifest else StyleName.PLAIN)
        with Build(place, old, applied, dry_run=dry_run) as build:
            pages = Pages(rows, style_name, progress)
            for page in pages:
                build.add(page)
            roots = store.roots(rows)
            manifest = Manifest(
                store_id, roots.size, roots.as_checkpoint().root, style_name, pages.style.renamed, build.files
            )
            set_aside = build.finish(manifest)
    with existing(place, store_id) as now:
        foreign = foreign_entries(now.folder, manifest.files) if now else []
    return MirrorReport(
        folder=place.path,
        style=style_name,
        size=manifest.size,
        root=manifest.root,
        atoms=pages.atoms,
        pages=len(manifest.files),
        changed=build.changed,
        written=build.written,
        removed=len(set(old_manifest.files) - set(manifest.files)) if old_manifest else 0,
        foreign=tuple(foreign),
        set_aside=set_aside,
    )


class Build:
    """The new mirror, built in a temporary folder that is created when the first changed page is added."""

    def __init__(
        self, place: MirrorPlace, old: Existing | None, applied: Mapping[str, str], *, dry_run: bool
    ) -> None:
        self.files: dict[str, ManifestEntry] = {}
        self.written = 0
        self.changed = False
        self._dry_run = dry_run
        self._place = place
        self._old = old
        self._applied = applied
        self._unchanged: list[str] = []
        self._new: int | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        # After an error, the unfinished folder is removed here if possible, otherwise by the next run.
        place = self._place
        if self._new is not None and not self.changed:
            with suppress(OSError, RefusedError):
                if mirror_disk.same_file(os.fstat(self._new), mirror_disk.lstat(place.parent, place.new)):
                    remove_unfinished(place, place.new, self._new)
        self._stack.close()

    def add(self, page: Page) -> None:
        """Add a page; if the old mirror has the same page, the file of the old page is reused."""
        digest = hashlib.sha256(page.data).hexdigest()
        if page.path in self.files:
            raise ConflictError(f"two pages would be named {page.path}")
        self.files[page.path] = ManifestEntry(digest, page.atoms)
        old = self._old
        was = old.manifest.files.get(page.path) if old and old.manifest else None
        if old and was and was.sha256 == digest == mirror_disk.digest(old.folder, page.path):
            self._unchanged.append(page.path)
        else:
            self.written += 1
            if not self._dry_run:
                mirror_disk.write(self._folder(), page.path, page.data)

    def finish(self, manifest: Manifest) -> SetAside:
        """Replace the old mirror with the new one unless they are equal; return the edited pages."""
        data = encode_manifest(manifest)
        old, place = self._old, self._place
        if not self.written and old and data == old.raw:
            return ()
        if self._dry_run:
            self.changed = True
            return self._edited()
        new = self._folder()
        for path in self._unchanged:
            self._reuse(path)
        mirror_disk.write(new, MANIFEST, data)
        os.unlink(MARKER, dir_fd=new)
        mirror_disk.sync_tree(new)
        swapped = _swap(place, old)
        self.changed = True
        fsync_opened(place.parent)
        if swapped is None or old is None or old.manifest is None:
            return ()
        return drain(place, swapped, old.manifest, self._applied)

    def _edited(self) -> SetAside:
        """Return the edited pages, which a run without `dry_run` would keep under a new name."""
        old = self._old
        if old is None or old.manifest is None:
            return ()
        return tuple((path, "") for path, digest in changed_pages(old.folder, old.manifest) if digest)

    def _folder(self) -> int:
        if self._new is None:
            place = self._place
            mode = _MODE if self._old is None else os.fstat(self._old.folder).st_mode & _MODE
            os.mkdir(place.new, _MODE, dir_fd=place.parent)
            self._new = self._stack.enter_context(mirror_disk.open_folder(place.new, place.parent))
            if self._old is not None:
                os.fchmod(self._new, mode)
            mirror_disk.write(self._new, MARKER, b"")
        return self._new

    def _reuse(self, path: str) -> None:
        old = self._old
        if old is None or mirror_disk.link(old.folder, self._folder(), path):
            return
        data = mirror_disk.read(old.folder, path)
        status = mirror_disk.lstat_at(old.folder, path)
        if data is None or status is None or hashlib.sha256(data).hexdigest() != self.files[path].sha256:
            raise ConflictError(
                f"{path} was changed while the mirror was written", hint="run the command again"
            )
        mirror_disk.write(self._folder(), path, data)
        with mirror_disk.parent_of(self._folder(), path) as (inner, name):
            os.utime(name, ns=(status.st_atime_ns, status.st_mtime_ns), dir_fd=inner, follow_symlinks=False)


def _swap(place: MirrorPlace, old: Existing | None) -> str | None:
    """Put the new mirror in place.

    Returns:
        The new name of the old mirror, or None if there was no old mirror.

    Raises:
        RefusedError: the folder at the place was replaced meanwhile.
    """
    status = mirror_disk.lstat(place.parent, place.name)
    if old is None:
        if not mirror_disk.move(place.parent, place.new, place.parent, place.name):
            raise _replaced(place)
        return None
    if not mirror_disk.same_file(status, os.fstat(old.folder)):
        raise _replaced(place)
    if old.manifest is None:
        # os.rename replaces an empty folder only.
        os.rename(place.new, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
        return None
    if mirror_disk.exchange(place.parent, place.new, place.name):
        if not mirror_disk.same_file(mirror_disk.lstat(place.parent, place.new), os.fstat(old.folder)):
            mirror_disk.exchange(place.parent, place.new, place.name)
            raise _replaced(place)
        return place.new
    # If the process is killed between the two renames, the next run restores the old mirror's name.
    os.rename(place.name, place.old, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    try:
        os.rename(place.new, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    except OSError:
        os.rename(place.old, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
        raise
    return place.old


def _replaced(place: MirrorPlace) -> RefusedError:
    return RefusedError(
        f"{place.path} was replaced while the mirror was written", hint="run the command again"
    )
