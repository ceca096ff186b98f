"""Record in the store what people edited in the pages of a mirror, then bring the mirror up to date.

    edited pages ── compare with the pages as they were written ──▶ edits ── commit, one by one ──▶ store
                                                                                       then the mirror

The edited pages are in the mirror, or were set aside by earlier runs (`old_mirror`). An
edited page is deleted or replaced only after all of its edits are durable. If a run is killed, the next run
applies the same edits again; edits that are already in the store change nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from backends.base import Reader
from engine.base.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
)
from engine.base.validation import show_id
from engine.commands.edits import TakeEdit
from engine.files.mirror import mirror_disk
from engine.files.mirror.mirror_pages import Page, Pages, erased_since, store_at
from engine.files.mirror.mirror_place import (
    MANIFEST,
    Manifest,
    MirrorPlace,
    changed_pages,
    existing,
    place_at,
)
from engine.files.mirror.mirror_report import Outcome, PulledEdit, PullReport, RefusedEdit
from engine.files.mirror.mirror_sync import sync
from engine.files.mirror.old_mirror import edited_folders, recover, remove_applied, remove_empty
from engine.files.mirror.page_edits import Change, Edit, PageEdits, read_edits
from engine.files.mirror.page_style import StyleName
from engine.store.dry_run import dry_run_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store

PIPELINE: Final = "mirror"
"""The name that the events of a pull record for what made them."""

PAGE_BYTES_MAX: Final = 64 << 20
"""The maximum size of an edited page. The pages that the engine writes are smaller."""


@dataclass(slots=True)
class _Copy:
    """A folder with edited pages: the mirror, or a folder of pages that were set aside."""

    path: str
    folder: int
    manifest: Manifest
    is_aside: bool
    pages: dict[str, _Edited] = field(default_factory=dict)
    """The edited pages by their paths."""


@dataclass(slots=True)
class _Edited:
    """An edited page, and the changes that were found on it."""

    sha256: str = ""
    """The hash of the bytes that were compared."""
    found: PageEdits | None = None


def pull(
    store: Store,
    folder: str | os.PathLike[str],
    *,
    actor: str,
    dry_run: bool = False,
    progress: Progress = no_progress,
) -> PullReport:
    """Apply the edits from the mirror in `folder` (see `engine.Engine.mirror_pull`)."""
    with place_at(folder, lock=True) as place:
        return pull_at(store, place, actor, progress, dry_run=dry_run, create=False)


def pull_at(
    store: Store, place: MirrorPlace, actor: str, progress: Progress, *, dry_run: bool, create: bool
) -> PullReport:
    """Apply the edits from the mirror at a locked place. With `create`, write a missing mirror.

    Raises:
        NotFoundError: The mirror is missing, and `create` is False.
        RefusedError: See `existing` and `recover`.
    """
    store_id = show_id(store.identity.store_id)
    with existing(place, store_id):
        if not dry_run:
            recover(place, store_id)
    with existing(place, store_id) as old:
        is_mirror = old is not None and old.manifest is not None
    if is_mirror:
        return _pull(store, place, actor, progress, dry_run=dry_run)
    if not create:
        raise NotFoundError(f"{place.path} is not a mirror: it has no {MANIFEST}")
    return PullReport(place.path, (), (), sync(store, place, progress=progress))


def is_edited(folder: str | os.PathLike[str]) -> bool:
    """Return True if a page of the mirror in `folder` was edited or removed. The store is not needed.

    The result is False if there is no mirror.

    Raises:
        RefusedError: The folder contains files but is not a mirror.
    """
    with place_at(folder, lock=False) as place, existing(place, None) as manifest:
        if manifest is None or manifest.manifest is None:
            return False
        return any(True for _ in changed_pages(manifest.folder, manifest.manifest))


def _pull(store: Store, place: MirrorPlace, actor: str, progress: Progress, *, dry_run: bool) -> PullReport:
    store_id = show_id(store.identity.store_id)
    with existing(place, store_id) as old, edited_folders(place, store_id) as old_edits:
        if old is None or old.manifest is None:
            raise NotFoundError(f"{place.path} was removed while it was read")
        copies = [_Copy(*one, is_aside=True) for one in old_edits]
        copies.append(_Copy(place.path, old.folder, old.manifest, is_aside=False))
        for copy in copies:
            _find_edited(copy)
        _compare_all(store, copies)
        with dry_run_store(store, when=dry_run) as target:
            edits = tuple(edit for copy in copies for edit in _commit(target, copy, actor))
        if dry_run:
            return PullReport(place.path, edits, tuple(_refused_edits(copies, {})), None)
    applied = {copy.path: _applied(copy) for copy in copies}
    report = sync(store, place, applied=applied[place.path], progress=progress)
    with edited_folders(place, store_id) as present:
        for one in present:
            remove_applied(one, applied.get(one.path, {}))
    remove_empty(place)
    return PullReport(place.path, edits, tuple(_refused_edits(copies, dict(report.set_aside))), report)


def _find_edited(copy: _Copy) -> None:
    for path, _ in changed_pages(copy.folder, copy.manifest):
        status = mirror_disk.lstat_at(copy.folder, path)
        if status is None and copy.is_aside:
            continue
        page = copy.pages[path] = _Edited()
        if status is None:
            page.found = _refused("the page was removed or renamed; it is written again")
        elif not mirror_disk.is_file(status):
            page.found = _refused("the page was replaced by something that is not a file")
        elif status.st_size > PAGE_BYTES_MAX:
            page.found = _refused(f"the page has more than {PAGE_BYTES_MAX:,} bytes")


def _refused(reason: str) -> PageEdits:
    return PageEdits(refused=[Change("", reason)])


def _compare_all(store: Store, copies: Sequence[_Copy]) -> None:
    """Compare the edited pages with the pages as they were written.

    Most pages are still the same in the present state of the store. The earlier state, which takes longer to
    compute, is needed only for the other pages.
    """
    with store.view(*store.followers) as rows:
        for style in StyleName:
            _compare(rows, style, [copy for copy in copies if copy.manifest.style is style])
        for copy in copies:
            if not _open(copy):
                continue
            size, head = copy.manifest.size, store.roots(rows).size
            reason = "the manifest does not agree with the store"
            erased = erased_since(rows, size, head)
            if size > head:
                reason = f"the page shows {size:,} events, but the store has only {head:,}"
            elif erased is not None:
                reason = f"the page was written before event {erased}, which erased content"
            else:
                with store_at(store, rows, size) as (_, then):
                    _compare(then, copy.manifest.style, [copy])
            for path in _open(copy):
                copy.pages[path].found = _refused(reason)


def _open(copy: _Copy) -> list[str]:
    """Return the paths of the pages that were not compared yet."""
    return [path for path, page in copy.pages.items() if page.found is None]


def _compare(rows: Reader, style: StyleName, copies: Sequence[_Copy]) -> None:
    """Compare the edited pages whose original versions are the same in this state of the store."""
    wanted = {path for copy in copies for path in _open(copy)}
    if not wanted:
        return
    for page in Pages(rows, style).only(wanted):
        digest = hashlib.sha256(page.data).hexdigest()
        for copy in copies:
            edited = copy.pages.get(page.path)
            if edited and edited.found is None and copy.manifest.files[page.path].sha256 == digest:
                _read(copy, page, edited)


def _read(copy: _Copy, page: Page, edited: _Edited) -> None:
    data = mirror_disk.read(copy.folder, page.path)
    if data is None:
        edited.found = _refused("the page was removed while it was compared")
        return
    edited.sha256 = hashlib.sha256(data).hexdigest()
    edited.found = read_edits(page, data)


def _commit(store: Store, copy: _Copy, actor: str) -> Iterator[PulledEdit]:
    """Apply the edits one by one, so that a refused edit does not prevent other edits."""
    for path, page in copy.pages.items():
        for edit in page.found.edits if page.found else ():
            try:
                yield _take(store, path, edit, copy.manifest.size, actor)
            except (InvalidInputError, NotFoundError, ConflictError, RefusedError) as error:
                if page.found:
                    page.found.refused.append(Change(edit.atom, str(error)))


def _take(store: Store, path: str, edit: Edit, size: int, actor: str) -> PulledEdit:
    command = TakeEdit(edit.atom, edit.before, edit.after, size)
    (receipt,) = store.commit([command], actor, pipeline=PIPELINE)
    is_conflict = receipt.id != edit.atom
    done = Outcome.REVISED if receipt.changed else Outcome.SAME
    outcome, other = (Outcome.CONFLICT, receipt.id) if is_conflict else (done, None)
    return PulledEdit(path, edit.atom, outcome, other, edit.before, edit.after)


def _applied(copy: _Copy) -> dict[str, str]:
    """Return the pages whose changes are all in the store: path → SHA-256."""
    return {path: page.sha256 for path, page in copy.pages.items() if page.found and not page.found.refused}


def _refused_edits(copies: Sequence[_Copy], set_aside: dict[str, str]) -> Iterator[RefusedEdit]:
    for copy in copies:
        for path, page in copy.pages.items():
            copied_to = f"{copy.path}/{path}" if copy.is_aside else set_aside.get(path, "")
            for change in page.found.refused if page.found else ():
                yield RefusedEdit(path, change.atom, change.reason, copied_to)
