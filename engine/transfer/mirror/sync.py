"""Bringing a mirror up to date: built beside the old one, then put in its place at once.

Killed anywhere, the old mirror or the new one stands whole, and the next run removes what is left beside it.
What stands in the folder after a run is what a run into an empty folder would give, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack, suppress
from typing import Self

from backends.files import fsync_opened
from engine.base.errors import ConflictError, RefusedError
from engine.base.validation import choice, show_id
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from engine.transfer.mirror import disk
from engine.transfer.mirror.leftover import MARKER, Aside, clear, drain, found_foreign, recover
from engine.transfer.mirror.manifest import MANIFEST, Listed, Manifest, encode
from engine.transfer.mirror.pages import Page, Pages
from engine.transfer.mirror.place import Existing, Place, existing, place_at
from engine.transfer.mirror.report import MirrorReport
from engine.transfer.mirror.style import StyleName

_MODE = 0o777


def mirror(
    store: Store,
    folder: str | os.PathLike[str],
    *,
    style: StyleName | str | None = None,
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> MirrorReport:
    """Write what the store says now to `folder` (see `engine.Engine.mirror`)."""
    wanted = None if style is None else choice(StyleName, style, "style")
    store_id = show_id(store.identity.store_id)
    with place_at(folder, lock=True) as place:
        with existing(place, store_id):  # refused before what a killed run left is touched
            before = () if dry_run else recover(place, store_id)
        with existing(place, store_id) as old, store.view(*store.followers) as rows:
            known = old.manifest if old else None
            chosen = wanted or (known.style if known else StyleName.PLAIN)
            with Build(place, old, dry_run=dry_run) as build:
                pages = Pages(rows, chosen, progress)
                for page in pages:
                    build.add(page)
                roots = store.roots(rows)
                manifest = Manifest(
                    store_id, roots.size, roots.as_checkpoint().root, chosen, pages.style.renamed, build.files
                )
                aside = build.finish(manifest)
        with existing(place, store_id) as now:
            foreign = found_foreign(now.folder, manifest.files) if now else []
    return MirrorReport(
        folder=place.path,
        style=chosen,
        size=manifest.size,
        root=manifest.root,
        atoms=pages.atoms,
        pages=len(manifest.files),
        changed=build.changed,
        written=build.written,
        removed=len(set(known.files) - set(manifest.files)) if known else 0,
        foreign=tuple(foreign),
        set_aside=(*before, *aside),
    )


class Build:
    """The next mirror, in the folder beside; that is made when the first page is not as it was."""

    def __init__(self, place: Place, old: Existing | None, *, dry_run: bool) -> None:
        self.files: dict[str, Listed] = {}
        self.written = 0
        self.changed = False
        self._dry_run = dry_run
        self._place = place
        self._old = old
        self._kept: list[str] = []
        self._new: int | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        # After an error as after a kill: what is left beside is removed by the next run, or now.
        place = self._place
        if self._new is not None and not self.changed:
            with suppress(OSError, RefusedError):
                if disk.same(os.fstat(self._new), disk.found(place.parent, place.new)):
                    clear(place, place.new, self._new)
        self._stack.close()

    def add(self, page: Page) -> None:
        """Take a page, from the old mirror where it stands there as it is to be."""
        digest = hashlib.sha256(page.data).hexdigest()
        if page.path in self.files:
            raise ConflictError(f"two pages would be named {page.path}")
        self.files[page.path] = Listed(digest, page.atoms)
        old = self._old
        was = old.manifest.files.get(page.path) if old and old.manifest else None
        if old and was and was.sha256 == digest == disk.digest(old.folder, page.path):
            self._kept.append(page.path)
        else:
            self.written += 1
            if not self._dry_run:
                self._write(page.path, page.data)

    def finish(self, manifest: Manifest) -> Aside:
        """Put the new mirror in place, unless the old one is the same."""
        data = encode(manifest)
        old, place = self._old, self._place
        if not self.written and old and data == old.raw:
            return ()
        if self._dry_run:
            self.changed = True
            return self._edited()
        new = self._folder()
        for path in self._kept:
            self._take_over(path)
        disk.write(new, MANIFEST, data)
        os.unlink(MARKER, dir_fd=new)
        disk.settle(new)
        swapped = _swap(place, old)
        self.changed = True
        fsync_opened(place.parent)
        if swapped is None or old is None or old.manifest is None:
            return ()
        return drain(place, swapped, old.manifest)

    def _edited(self) -> Aside:
        """The pages that somebody edited, which a run would set aside."""
        old = self._old
        if old is None or old.manifest is None:
            return ()
        there = ((path, listed, disk.digest(old.folder, path)) for path, listed in old.manifest.files.items())
        return tuple((path, "") for path, listed, now in sorted(there) if now not in {None, listed.sha256})

    def _folder(self) -> int:
        if self._new is None:
            place = self._place
            mode = _MODE if self._old is None else os.fstat(self._old.folder).st_mode & _MODE
            os.mkdir(place.new, _MODE, dir_fd=place.parent)
            self._new = self._stack.enter_context(disk.opened(place.new, place.parent))
            if self._old is not None:
                os.fchmod(self._new, mode)
            disk.write(self._new, MARKER, b"")
        return self._new

    def _write(self, path: str, data: bytes) -> None:
        *way, name = path.split("/")
        with disk.reached(self._folder(), way, create=True) as inner:
            disk.write(inner, name, data)

    def _take_over(self, path: str) -> None:
        old = self._old
        if old is None or disk.link(old.folder, self._folder(), path):
            return
        data = disk.read(old.folder, path)
        status = disk.found_at(old.folder, path)
        if data is None or status is None or hashlib.sha256(data).hexdigest() != self.files[path].sha256:
            raise ConflictError(f"{path} was changed while the mirror was made", hint="run it again")
        self._write(path, data)
        *way, name = path.split("/")
        with disk.reached(self._folder(), way) as inner:
            os.utime(name, ns=(status.st_atime_ns, status.st_mtime_ns), dir_fd=inner, follow_symlinks=False)


def _swap(place: Place, old: Existing | None) -> str | None:
    """Put what was built in place; the name at which the one before stands now, None: there was none.

    Raises:
        RefusedError: what stands in the place is not what was there before.
    """
    status = disk.found(place.parent, place.name)
    if old is None:
        if not disk.move(place.parent, place.new, place.parent, place.name):
            raise _disturbed(place)
        return None
    if not disk.same(status, os.fstat(old.folder)):
        raise _disturbed(place)
    if old.manifest is None:
        # Takes the place of an empty folder only.
        os.rename(place.new, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
        return None
    if disk.exchange(place.parent, place.new, place.name):
        if not disk.same(disk.found(place.parent, place.new), os.fstat(old.folder)):
            disk.exchange(place.parent, place.new, place.name)
            raise _disturbed(place)
        return place.new
    # Killed between the two, the next run gives the old one its name back.
    os.rename(place.name, place.old, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    try:
        os.rename(place.new, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    except OSError:
        os.rename(place.old, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
        raise
    return place.old


def _disturbed(place: Place) -> RefusedError:
    return RefusedError(f"{place.path} was replaced while the mirror was made", hint="run it again")
