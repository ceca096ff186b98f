"""Compare the files of a mirror with its manifest, and the manifest with the store at the same head."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from backends.base import Reader
from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.validation import show_id
from engine.files.mirror import mirror_disk
from engine.files.mirror.mirror_pages import Pages, erased_since, store_at
from engine.files.mirror.mirror_place import (
    MANIFEST,
    Manifest,
    ManifestEntry,
    changed_pages,
    decode_manifest,
    encode_manifest,
    place_at,
)
from engine.files.mirror.mirror_report import MirrorCheck, MirrorFinding, Verdict
from engine.files.mirror.old_mirror import foreign_entries
from engine.files.mirror.page_style import StyleName
from engine.ledger.journal import read_log
from engine.store.replay import Progress, no_progress
from engine.store.store import Store


def check(store: Store, folder: str | os.PathLike[str], progress: Progress = no_progress) -> MirrorCheck:
    """Compare a mirror with the store (see `engine.Engine.check_mirror`)."""
    with place_at(folder, lock=True) as place:
        if not mirror_disk.is_folder(mirror_disk.lstat(place.parent, place.name)):
            raise NotFoundError(f"there is no folder {place.path}")
        leftovers = [
            MirrorFinding(
                Verdict.UNFINISHED, name, "a run was interrupted; the next `engine mirror` finishes it"
            )
            for name in (place.new,)
            if mirror_disk.lstat(place.parent, name) is not None
        ]
        with mirror_disk.open_folder(place.name, place.parent) as mirror:
            raw = mirror_disk.read(mirror, MANIFEST)
            if raw is None:
                raise NotFoundError(f"{place.path} is not a mirror: it has no {MANIFEST}")
            try:
                manifest = decode_manifest(raw)
            except InvalidInputError as error:
                forged = MirrorFinding(Verdict.FORGED, MANIFEST, str(error))
                return MirrorCheck(place.path, StyleName.PLAIN, 0, "", 0, 0, (*leftovers, forged))
            with store.backend.snapshot() as rows:
                behind = read_log(rows).size - manifest.size
                findings = [*leftovers, *_check_against_store(store, rows, manifest, raw, progress)]
            findings += _check_files(mirror, manifest)
    return MirrorCheck(
        folder=place.path,
        style=manifest.style,
        size=manifest.size,
        root=manifest.root,
        behind=max(behind, 0),
        pages=len(manifest.files),
        findings=tuple(findings),
    )


def _check_against_store(
    store: Store, rows: Reader, manifest: Manifest, raw: bytes, progress: Progress
) -> Iterator[MirrorFinding]:
    """Yield the differences between the manifest and the store at the head of the mirror."""
    if manifest.store_id != show_id(store.identity.store_id):
        yield MirrorFinding(
            Verdict.FORGED, MANIFEST, f"the mirror is of a different store, {manifest.store_id}"
        )
        return
    size = read_log(rows).size
    if manifest.size > size:
        yield MirrorFinding(
            Verdict.FORGED,
            MANIFEST,
            f"the mirror covers {manifest.size} events; the store has only {size}",
        )
        return
    if manifest.size < size:
        number = size - manifest.size
        behind = "1 event behind" if number == 1 else f"{number:,} events behind"
        erased = erased_since(rows, manifest.size, size)
        if erased is not None:
            yield MirrorFinding(
                Verdict.STALE, "", f"{behind}; not checked further, because event {erased} erased content"
            )
            return
        yield MirrorFinding(Verdict.STALE, "", behind)
    with store_at(store, rows, manifest.size) as (then, at):
        pages = Pages(at, manifest.style, progress)
        files = {
            page.path: ManifestEntry(hashlib.sha256(page.data).hexdigest(), page.atoms, page.refers)
            for page in pages
        }
        roots = then.roots(at)
    expected = Manifest(
        manifest.store_id,
        manifest.size,
        roots.as_checkpoint().root,
        manifest.style,
        pages.style.renamed,
        files,
    )
    if encode_manifest(expected) == raw:
        return
    if expected.root != manifest.root:
        yield MirrorFinding(Verdict.FORGED, MANIFEST, f"the root was {expected.root}, not {manifest.root}")
    wrong = [path for path in {**files, **manifest.files} if files.get(path) != manifest.files.get(path)]
    for path in sorted(wrong):
        yield MirrorFinding(Verdict.FORGED, path, _difference(path in files, path in manifest.files))
    if expected.root == manifest.root and not wrong:
        yield MirrorFinding(Verdict.FORGED, MANIFEST, "the store generates a different manifest")


def _difference(in_store: bool, in_manifest: bool) -> str:
    if not in_store:
        return "the manifest lists the page, but the store has no such page"
    if not in_manifest:
        return "the manifest does not list the page, although the store has it"
    return "the manifest and the store disagree about the page"


def _check_files(folder: int, manifest: Manifest) -> Iterator[MirrorFinding]:
    """Yield the differences between the files in the folder and the manifest."""
    for path, change in changed_pages(folder, manifest):
        if change is None:
            exists = mirror_disk.lstat_at(folder, path) is not None
            yield MirrorFinding(
                Verdict.EDITED if exists else Verdict.MISSING,
                path,
                "the page was replaced by something that is not a file" if exists else "the page is missing",
            )
        else:
            yield MirrorFinding(Verdict.EDITED, path, "the page was changed after it was written")
    for path in foreign_entries(folder, manifest.files):
        yield MirrorFinding(Verdict.FOREIGN, path, "not a file of the mirror; it is left unchanged")
