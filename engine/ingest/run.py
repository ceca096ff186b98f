"""Ingest: files in, atoms and edges out, and nothing at all where nothing changed.

    files ── find, read ──▶ pieces ── plan against the store ──▶ commands ──▶ events, a thousand to a batch
                                                                  then the links, once every target is known

Killed anywhere, it is continued by running it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.base import Reader
from engine import border, limits
from engine.commands import Command
from engine.errors import RefusedError
from engine.events import EventKind
from engine.followers.tags import Group, values
from engine.ingest.documents import Document, Found, Piece, Skipped, Sourced
from engine.ingest.links import Atoms, Targets
from engine.ingest.plan import (
    ACTOR,
    Settings,
    atoms_of,
    piece_id,
    plan_document,
    plan_gone,
    plan_links,
    plan_piece,
)
from engine.ingest.read import read_file
from engine.ingest.sequence import STEP
from engine.ingest.walk import find_files, source_of
from engine.model import State

if TYPE_CHECKING:
    from engine.engine import Engine


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """How far an ingest is: files read of all files, and pieces found in them."""

    files: int
    total: int
    pieces: int


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did, or with `dry_run` what it would do: atoms, unless something else is said."""

    files: int
    pieces: int
    added: int
    revised: int
    tombstoned: int
    revived: int
    retagged: int
    """Events that put tags on atoms or take them off."""
    linked: int
    unlinked: int
    """Edges."""
    unresolved_links: int
    skipped: tuple[Skipped, ...]
    """What did not go in."""
    warnings: tuple[Skipped, ...]
    """What went in otherwise than it was meant."""

    @property
    def changed(self) -> bool:
        """Whether anything was, or would be, appended."""
        return any(
            (
                self.added,
                self.revised,
                self.tombstoned,
                self.revived,
                self.retagged,
                self.linked,
                self.unlinked,
            )
        )


def ingest(
    engine: Engine,
    paths: Sequence[str | Path],
    *,
    name: str | None = None,
    root: str | Path | None = None,
    tags: Sequence[str] = (),
    buckets: Sequence[str] = ("inbox",),
    provenance: str = "internal",
    prune: bool = False,
    dry_run: bool = False,
    progress: Callable[[IngestProgress], None] = lambda _: None,
) -> IngestReport:
    """Have the store hold what the files under `paths` say now.

    Args:
        engine: The memory.
        paths: Folders and files (`engine.ingest.walk`).
        name: The first part of every source instead of the folder's name.
        root: A folder that holds all `paths`: sources are the paths from it.
        tags: Put on every atom besides the file's own.
        buckets: For atoms that are new.
        provenance: For atoms that are new.
        prune: Also tombstone atoms of files that are gone from the folders.
        dry_run: Only count what would be done.
        progress: Told after each file.

    Raises:
        NotFoundError: a path is not there; nothing was written.
        InvalidInputError: a name, tag, bucket or provenance breaks a rule; nothing was written.
        RefusedError: with `prune`, a folder none of whose files is known would end those of another
            folder that has its name; nothing was written.
    """
    settings = Settings(
        id_key=engine.store.identity.id_key,
        tags=border.tags(tags),
        buckets=border.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX),
        provenance=border.provenance(provenance),
    )
    found = list(find_files(paths, name=name, root=root))
    engine.store.follow(engine.store.tags)
    run = _Run(engine, settings, found, dry_run=dry_run)
    folders = [path for path in map(Path, paths) if path.is_dir()] if prune else []
    gone = run.gone([source_of(folder, name=name, root=root) for folder in folders])
    run.carry_out(run.contents(progress))
    run.carry_out(run.prune(gone))
    engine.store.follow(engine.store.tags)
    run.carry_out(run.links())
    return run.report()


class _Run:
    def __init__(
        self, engine: Engine, settings: Settings, found: Iterable[Found | Skipped], *, dry_run: bool
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._dry_run = dry_run
        self._files = [item for item in found if isinstance(item, Found)]
        self._skipped = [item for item in found if isinstance(item, Skipped)]
        self._pieces = 0
        self._counts: Counter[EventKind] = Counter()
        self._read: dict[str, Atoms] = {}
        self._linking: list[tuple[str, bytes, Piece]] = []
        self._unresolved = 0

    def carry_out(self, commands: Iterator[Command]) -> None:
        """Apply the commands and count the events; with `dry_run` count what they would be."""
        if self._dry_run:
            self._counts.update(kind for command in commands if (kind := _KINDS.get(type(command).__name__)))
            return
        for receipt in self._engine.apply_many(commands, actor=ACTOR):
            self._counts.update(event.kind for event in receipt.events)

    def contents(self, progress: Callable[[IngestProgress], None]) -> Iterator[Command]:
        """The commands for what is in the files, file by file."""
        for done, file in enumerate(self._files, 1):
            own_lines: set[bytes] = set()
            for item in read_file(file):
                if isinstance(item, Skipped):
                    self._skipped.append(item)
                elif isinstance(item, Document):
                    yield from self._document(item)
                else:
                    yield from self._line(item, file, own_lines)
            if own_lines:
                with self._engine.store.backend.snapshot() as rows:
                    recorded = atoms_of(rows, file.source)
                    yield from plan_gone(rows, recorded, own_lines, "no longer in its file")
            progress(IngestProgress(done, len(self._files), self._pieces))

    def _document(self, document: Document) -> Iterator[Command]:
        self._pieces += len(document.pieces)
        ids = [piece_id(self._settings, document.source, piece) for piece in document.pieces]
        self._read[document.source] = [
            (atom, piece.title) for atom, piece in zip(ids, document.pieces, strict=True)
        ]
        for atom, piece in zip(ids, document.pieces, strict=True):
            self._linking.append((document.source, atom, piece))
        with self._engine.store.backend.snapshot() as rows:
            commands = list(plan_document(rows, document.source, document.pieces, self._settings))
        yield from commands

    def _line(self, line: Sourced, file: Found, own_lines: set[bytes]) -> Iterator[Command]:
        self._pieces += 1
        atom = piece_id(self._settings, line.source, line.piece)
        if line.source == file.source:
            own_lines.add(atom)
        sequence = line.line * STEP if line.piece.sequence is None else line.piece.sequence
        with self._engine.store.backend.snapshot() as rows:
            commands = list(plan_piece(rows, line.source, line.piece, atom, sequence, self._settings))
        yield from commands

    def gone(self, folders: Sequence[str]) -> list[str]:
        """The sources that begin as these folders' do and whose files are no longer there.

        Raises:
            RefusedError: none of a folder's files is known, but others under its name are.
        """
        kept = {item.source for item in self._files} | {item.source for item in self._skipped}
        missing: list[str] = []
        for folder in folders:
            with self._engine.store.backend.snapshot() as rows:
                known = list(_sources_under(rows, f"{folder}/"))
            if known and kept.isdisjoint(known):
                raise RefusedError(
                    f"no file of {folder}/ was ingested before, but {len(known)} others of that name were: "
                    "they would all be tombstoned",
                    hint="give the folder a name of its own with `name` (--name)",
                )
            missing += [source for source in known if source not in kept]
        return missing

    def prune(self, sources: Iterable[str]) -> Iterator[Command]:
        """Tombstones for the atoms of `sources`."""
        for source in sources:
            with self._engine.store.backend.snapshot() as rows:
                commands = list(plan_gone(rows, atoms_of(rows, source), set(), "its file is gone"))
            yield from commands

    def links(self) -> Iterator[Command]:
        """The commands for the links between all that was read and all that is in the store."""
        backend = self._engine.store.backend
        targets = Targets(
            [*values(backend, Group.SOURCE), *self._read],
            lambda source: self._read.get(source) or _live_atoms(backend, source),
        )
        for source, atom, piece in self._linking:
            meant = [targets.resolve(link, source) for link in piece.links]
            self._unresolved += meant.count(None)
            others = dict.fromkeys(found for found in meant if found is not None and found != atom)
            # A snapshot each: through one that was older than the new edges, LevelDB took 2.5 ms to step
            # over them all, for every atom.
            with backend.snapshot() as rows:
                commands = list(plan_links(rows, atom, list(others)))
            yield from commands

    def report(self) -> IngestReport:
        """The counts so far."""
        count = self._counts
        return IngestReport(
            files=len(self._files),
            pieces=self._pieces,
            added=count[EventKind.ATOM_ADDED],
            revised=count[EventKind.ATOM_REVISED],
            tombstoned=count[EventKind.ATOM_TOMBSTONED],
            revived=count[EventKind.ATOM_REVIVED],
            retagged=count[EventKind.TAGS_ADDED] + count[EventKind.TAGS_REMOVED],
            linked=count[EventKind.EDGE_ADDED],
            unlinked=count[EventKind.EDGE_REMOVED],
            unresolved_links=self._unresolved,
            skipped=tuple(item for item in self._skipped if not item.kept),
            warnings=tuple(item for item in self._skipped if item.kept),
        )


_KINDS = {
    "Add": EventKind.ATOM_ADDED,
    "Revise": EventKind.ATOM_REVISED,
    "Tombstone": EventKind.ATOM_TOMBSTONED,
    "Revive": EventKind.ATOM_REVIVED,
    "Tag": EventKind.TAGS_ADDED,
    "Untag": EventKind.TAGS_REMOVED,
    "Link": EventKind.EDGE_ADDED,
    "Unlink": EventKind.EDGE_REMOVED,
}


def _live_atoms(rows: Reader, source: str) -> Atoms:
    recorded = sorted(atoms_of(rows, source).values(), key=lambda record: (record.sequence or 0, record.id))
    return [(record.id, record.title) for record in recorded if record.state is State.LIVE]


def _sources_under(rows: Reader, prefix: str) -> Iterator[str]:
    for source in values(rows, Group.SOURCE, prefix):
        if not source.startswith(prefix):
            return
        yield source
