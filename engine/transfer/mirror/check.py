"""Whether a mirror is what its manifest says, and that what the store gives for the same head."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from backends.base import Reader
from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.validation import show_id
from engine.ledger.journal import read_header, read_log
from engine.store.past import past_store
from engine.store.replay import Progress, no_progress
from engine.store.store import Store
from engine.transfer.mirror import disk
from engine.transfer.mirror.leftover import found_foreign
from engine.transfer.mirror.manifest import MANIFEST, Listed, Manifest, decode, encode
from engine.transfer.mirror.pages import Pages
from engine.transfer.mirror.place import place_at
from engine.transfer.mirror.report import Finding, MirrorCheck, Verdict
from engine.transfer.mirror.style import StyleName
from proofs.events import ERASING_KINDS


def check(store: Store, folder: str | os.PathLike[str], progress: Progress = no_progress) -> MirrorCheck:
    """Compare a mirror with the store (see `engine.Engine.check_mirror`)."""
    with place_at(folder, lock=True) as place:
        if not disk.is_folder(disk.found(place.parent, place.name)):
            raise NotFoundError(f"there is no folder {place.path}")
        left = [
            Finding(Verdict.UNFINISHED, name, "a run was cut off: the next `engine mirror` finishes it")
            for name in (place.new, place.old)
            if disk.found(place.parent, name) is not None
        ]
        with disk.opened(place.name, place.parent) as opened:
            raw = disk.read(opened, MANIFEST)
            if raw is None:
                raise NotFoundError(f"there is no mirror in {place.path}: it has no {MANIFEST}")
            try:
                manifest = decode(raw)
            except InvalidInputError as error:
                forged = Finding(Verdict.FORGED, MANIFEST, str(error))
                return MirrorCheck(place.path, StyleName.PLAIN, 0, "", 0, 0, (*left, forged))
            with store.backend.snapshot() as rows:
                behind = read_log(rows).size - manifest.size
                found = [*left, *_against_store(store, rows, manifest, raw, progress)]
            found += _against_files(opened, manifest)
    return MirrorCheck(
        folder=place.path,
        style=manifest.style,
        size=manifest.size,
        root=manifest.root,
        behind=max(behind, 0),
        pages=len(manifest.files),
        findings=tuple(found),
    )


def _against_store(
    store: Store, rows: Reader, manifest: Manifest, raw: bytes, progress: Progress
) -> Iterator[Finding]:
    """What the manifest says that the store does not."""
    if manifest.store_id != show_id(store.identity.store_id):
        yield Finding(Verdict.FORGED, MANIFEST, f"it is of another store, {manifest.store_id}")
        return
    size = read_log(rows).size
    if manifest.size > size:
        yield Finding(Verdict.FORGED, MANIFEST, f"it is of {manifest.size} events, and the store has {size}")
        return
    if manifest.size < size:
        number = size - manifest.size
        behind = "1 event behind" if number == 1 else f"{number:,} events behind"
        erased = _erased_since(rows, manifest.size, size)
        if erased is not None:
            yield Finding(Verdict.STALE, "", f"{behind}; not checked further: event {erased} erased content")
            return
        yield Finding(Verdict.STALE, "", behind)
    with _at(store, rows, manifest.size) as (then, at):
        pages = Pages(at, manifest.style, progress)
        files = {page.path: Listed(hashlib.sha256(page.data).hexdigest(), page.atoms) for page in pages}
        roots = then.roots(at)
    expected = Manifest(
        manifest.store_id,
        manifest.size,
        roots.as_checkpoint().root,
        manifest.style,
        pages.style.renamed,
        files,
    )
    if encode(expected) == raw:
        return
    if expected.root != manifest.root:
        yield Finding(Verdict.FORGED, MANIFEST, f"the root was {expected.root}, not {manifest.root}")
    wrong = [path for path in {**files, **manifest.files} if files.get(path) != manifest.files.get(path)]
    for path in sorted(wrong):
        listed = "is listed" if path not in files else "is not listed" if path not in manifest.files else ""
        detail = f"{listed}, unlike what the store gives" if listed else "the store gives another page"
        yield Finding(Verdict.FORGED, path, detail)
    if expected.root == manifest.root and not wrong:
        yield Finding(Verdict.FORGED, MANIFEST, "it is not written as the store gives it")


@contextmanager
def _at(store: Store, rows: Reader, size: int) -> Iterator[tuple[Store, Reader]]:
    """The store when it had `size` events, and a snapshot of it with all followers at that head."""
    if read_log(rows).size == size:
        with store.view(*store.followers) as now:
            if read_log(now).size == size:
                yield store, now
                return
    with past_store(rows, size) as past, past.view(*past.followers) as then:
        yield past, then


def _erased_since(rows: Reader, start: int, stop: int) -> int | None:
    """The first event from `start` that destroyed content; what was before it cannot be made again."""
    return next((seq for seq in range(start, stop) if read_header(rows, seq)[0].kind in ERASING_KINDS), None)


def _against_files(folder: int, manifest: Manifest) -> Iterator[Finding]:
    """What stands in the folder that the manifest does not list so."""
    for path, listed in sorted(manifest.files.items()):
        found = disk.digest(folder, path)
        if found is None:
            there = disk.found_at(folder, path) is not None
            yield Finding(
                Verdict.EDITED if there else Verdict.MISSING,
                path,
                "something that is no file stands there" if there else "the page is not there",
            )
        elif found != listed.sha256:
            yield Finding(Verdict.EDITED, path, "the page is not as it was written")
    for path in found_foreign(folder, manifest.files):
        yield Finding(Verdict.FOREIGN, path, "none of the mirror's; it is left alone")
