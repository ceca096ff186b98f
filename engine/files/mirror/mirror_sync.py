"""Bring a mirror up to date: write the new and changed pages beside it, then move them into it one by one.

If the process is killed before all of these pages are written, the mirror is unchanged. If it is killed
later, each page is complete, in its old or its new form, and the next run moves the rest. After a run, the
pages have the same bytes as if the run had written to an empty folder.
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
    foreign_entries,
    move_pages,
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
            set_aside = build.finish(encode_manifest(manifest))
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
    """The new and changed pages of a mirror, in a temporary folder that the first of them creates."""

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
        self._staged: list[str] = []
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
        """Add a page. It is written if the old mirror has a different one, or its file was changed."""
        digest = hashlib.sha256(page.data).hexdigest()
        if page.path in self.files:
            raise ConflictError(f"two pages would be named {page.path}")
        self.files[page.path] = ManifestEntry(digest, page.atoms, page.refers)
        old = self._old
        was = old.manifest.files.get(page.path) if old and old.manifest else None
        if not (old and was and was.sha256 == digest == mirror_disk.digest(old.folder, page.path)):
            self.write(page)

    def write(self, page: Page) -> None:
        """Write a page to the temporary folder, unless this is a dry run."""
        self.written += 1
        if not self._dry_run:
            mirror_disk.write(self._folder(), page.path, page.data)
            self._staged.append(page.path)

    def finish(self, data: bytes) -> SetAside:
        """Bring the mirror up to date, unless nothing changed; return the pages that people edited.

        Args:
            data: The new manifest.
        """
        old, place = self._old, self._place
        if not self.written and old and data == old.raw:
            return ()
        if self._dry_run:
            self.changed = True
            return self._edited()
        new = self._folder()
        mirror_disk.write(new, MANIFEST, data)
        # If the folders are lost with the power, the pages are written again. They are synced in the mirror.
        mirror_disk.sync(new, [MANIFEST, *self._staged], folders=False)
        status = mirror_disk.lstat(place.parent, place.name)
        if old is not None and not mirror_disk.same_file(status, os.fstat(old.folder)):
            raise _replaced(place)
        # From here on, the next run finishes what this one began.
        os.unlink(MARKER, dir_fd=new)
        self.changed = True
        if old is not None and old.manifest is not None:
            return move_pages(place, new, old.folder, old.manifest, self.files, self._applied)
        if old is not None:
            # os.rename replaces an empty folder only.
            os.rename(place.new, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
        elif not mirror_disk.move(place.parent, place.new, place.parent, place.name):
            raise _replaced(place)
        fsync_opened(place.parent)
        return ()

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


def _replaced(place: MirrorPlace) -> RefusedError:
    return RefusedError(
        f"{place.path} was replaced while the mirror was written", hint="run the command again"
    )
