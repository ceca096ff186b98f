"""The sources of an ingest: the folder that each belongs to, and the sources that were recorded before.

Two folders of the same name must not replace each other's notes. The first component of a source is the name
of a folder, and the path of this folder is recorded in each atom. If the recorded path and the present path
differ, the sources belong to another folder, or the folder was moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from blake3 import blake3

from backends.base import Reader
from engine.base import validation
from engine.base.errors import InvalidInputError, RefusedError
from engine.base.limits import FOLDER_BYTES_MAX
from engine.commands.file_texts import atoms_of
from engine.commands.reconcile import is_from_elsewhere
from engine.commands.sources import retire_others
from engine.files.ingest.documents import PassedOver, Skipped, SourceFile
from engine.files.ingest.exclude import EXCLUDED, is_below
from engine.files.ingest.folder_walk import Found, source_of
from engine.followers.tags import values
from engine.ledger.queries import bodies_of
from engine.store.store import Store
from proofs.leaves import Group, State


def folders_of(paths: Iterable[str | Path], *, name: str | None, root: str | Path | None) -> dict[str, str]:
    """Return a mapping from the first component of each source to the path of the folder.

    Raises:
        InvalidInputError: two folders have the same name.
    """
    folders_of_source: dict[str, str] = {}
    for path in map(Path, paths):
        first = source_of(path, name=name, root=root).partition("/")[0]
        folder = Path(root) if root is not None else path if path.is_dir() else path.absolute().parent
        recorded = recorded_form(os.path.realpath(folder))
        if folders_of_source.setdefault(first, recorded) != recorded:
            raise InvalidInputError(
                f"two folders are named {first}: {folders_of_source[first]} and {recorded}",
                hint="ingest them one after the other, one of them with --name",
            )
    return folders_of_source


def recorded_form(path: str) -> str:
    """Return the recorded form of a path: the path, or its hash if the path is not one line of text."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    try:
        return validation.line(text, "folder", FOLDER_BYTES_MAX)
    except InvalidInputError:
        return f"blake3:{blake3(os.fsencode(path)).hexdigest()}"


def check_folders(rows: Reader, folders: Mapping[str, str], present: Iterable[str], *, moved: bool) -> None:
    """Check that recorded sources come from the folders of this run.

    Args:
        rows: The rows of the store, with the follower `tags` at the head.
        folders: The first component of each source → the path of the folder in this run.
        present: The sources of the files in this run.
        moved: Accept a different recorded path.

    Raises:
        RefusedError: recorded sources with one of these first components came from a different folder.
    """
    for name, folder in folders.items():
        prefix = f"{name}/"
        here = [source for source in present if source.startswith(prefix)]
        recorded = next(_recorded(rows, [*here, *_others(rows, prefix, here)]), None)
        if recorded not in {None, folder} and not moved:
            raise RefusedError(
                f"the sources {name}/... were ingested from a different folder, {recorded}",
                hint="if this is another folder, name it with --name; if the folder was moved, use --moved",
            )


def _others(rows: Reader, prefix: str, here: Iterable[str]) -> Iterator[str]:
    seen = set(here)
    for source in values(rows, Group.SOURCE, prefix):
        if not source.startswith(prefix):
            return
        if source not in seen:
            yield source


def _recorded(rows: Reader, sources: Iterable[str]) -> Iterator[str]:
    """Yield, for each source, the recorded folder of one live atom, if that atom has a folder.

    Atoms that another device wrote do not count, because the folder has another path there.
    """
    for source in sources:
        for record in atoms_of(rows, source).values():
            if record.state is State.LIVE and not is_from_elsewhere(rows, record):
                if (folder := bodies_of(rows, [record])[0].folder) is not None:
                    yield folder
                break


def told_apart(store: Store, actor: str, entries: Sequence[Found]) -> Iterator[Found]:
    """Yield the entries, with reports in place of a file that stands for two recorded files on this disk.

    A disk that ignores case shows only one of two files whose names differ in case only. If both were
    ingested elsewhere, the file has the text of one of them, so that reading it would hide the text of the
    other. The follower `tags` of the store is at the head.
    """
    present = {item.source for item in entries if isinstance(item, SourceFile)}
    spellings: dict[str, list[str]] = {}
    for source in values(store.backend, Group.SOURCE):
        spellings.setdefault(source.casefold(), []).append(source)
    for item in entries:
        others = spellings.get(item.source.casefold(), []) if isinstance(item, SourceFile) else []
        hidden = []
        if isinstance(item, SourceFile) and len(others) > 1 and item.source in others:
            with store.backend.snapshot() as rows:
                hidden = [
                    other
                    for other in others
                    if other not in present
                    and _is_shown_as(item, other)
                    and all(_has_own_atoms(rows, one, actor) for one in (item.source, other))
                ]
        if not hidden:
            yield item
        for source in [item.source, *hidden] if hidden else []:
            reason = (
                "this disk does not tell its name from another one by their case, and has only one of both"
            )
            yield Skipped(source, reason, kind="names that differ in case")


def _is_shown_as(item: SourceFile, source: str) -> bool:
    """Return True if the disk finds the same file under the name of another source of the same folder."""
    names = source.split("/")[1:]
    path = item.path.parents[len(names) - 1].joinpath(*names)
    return path.exists() and path.samefile(item.path)


class RunSources:
    """The sources that an ingest reads, that it passes over, and that were recorded before it.

    Args:
        store: The store; its follower `tags` is at the head.
        actor: The actor of ingests.
        entries: What was found in the folders of this ingest.
    """

    def __init__(self, store: Store, actor: str, entries: Sequence[Found]) -> None:
        self._store = store
        self._actor = actor
        self.own = {item.source for item in entries if isinstance(item, SourceFile)}
        """The sources of the files that exist, even if they are not read this time."""
        self.passed_over = tuple(item for item in entries if isinstance(item, PassedOver))
        self._skipped = {item.source for item in entries if isinstance(item, Skipped)}
        self._excluded = frozenset(item.source for item in self.passed_over if item.kind == EXCLUDED)
        self.recorded = set(values(store.backend, Group.SOURCE))
        """The sources of atoms that were recorded before this run."""

    def missing(self, folders: Sequence[str], *, sure: bool) -> list[str]:
        """Return the sources in `folders` whose files no longer exist.

        Raises:
            RefusedError: `sure` is False, and none of the files in a folder was ingested before, although
                other files were ingested under the folder's name.
        """
        present = self._present()
        missing: list[str] = []
        for folder in folders:
            with self._store.backend.snapshot() as rows:
                recorded = [
                    source for source in self.recorded_in(folder) if _has_own_atoms(rows, source, self._actor)
                ]
            if recorded and present.isdisjoint(recorded) and not sure:
                raise RefusedError(
                    f"none of the {len(recorded)} files that were ingested from {folder}/ is there now; the "
                    "atoms of all these files would be tombstoned",
                    hint="is the folder complete? if its files were renamed or removed, add --yes",
                )
            missing += [source for source in recorded if source not in present]
        return missing

    def renamed(self, folders: Sequence[str]) -> set[str]:
        """Return the sources in `folders` whose files no longer exist and are not excluded.

        New files may continue their atoms.
        """
        sources = {source for folder in folders for source in self.recorded_in(folder)}
        return {source for source in sources - self._present() if not self.is_excluded(source)}

    def excluded_with_atoms(self, folders: Sequence[str]) -> tuple[str, ...]:
        """Return the sources in `folders` that are excluded now and have live atoms from ingests."""
        if not self._excluded:
            return ()
        recorded = (source for folder in folders for source in self.recorded_in(folder))
        left_out = [source for source in recorded if self.is_excluded(source)]
        with self._store.backend.snapshot() as rows:
            return tuple(source for source in left_out if _has_own_atoms(rows, source, self._actor))

    def is_excluded(self, source: str) -> bool:
        """Return True if the file of a source, or a folder above it, is excluded."""
        return bool(self._excluded) and is_below(source, self._excluded)

    def _present(self) -> set[str]:
        """Return the sources of the files that exist, including files that were not read."""
        others = (item.source for item in self.passed_over if item.kind != EXCLUDED)
        return self.own.union(self._skipped, others)

    def recorded_in(self, folder: str) -> list[str]:
        """Return the sources in a folder that were recorded before this run, in ascending order."""
        return sorted(source for source in self.recorded if source.startswith(f"{folder}/"))


def _has_own_atoms(rows: Reader, source: str, actor: str) -> bool:
    """Return True if a source has a live atom whose current version `actor` wrote."""
    return next(retire_others(rows, actor, source, frozenset()), None) is not None
