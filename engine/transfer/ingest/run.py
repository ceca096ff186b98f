"""Ingest: files in, atoms and edges out, and nothing at all where nothing changed.

    files ── find, read ──▶ pieces ── plan against the store ──▶ commands ──▶ events, a thousand to a batch
                                                                  then the links, once every target is known

Killed anywhere, it is continued by running it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from backends.base import Reader
from engine.base import limits, validation
from engine.base.errors import InvalidInputError, RefusedError
from engine.base.model import Direction
from engine.commands import Add, Command
from engine.commands.reconcile import (
    UpsertAtom,
    atoms_of,
    reconcile_edges,
    reconcile_source,
    retire_others,
    wanted_id,
)
from engine.commands.sequence import STEP
from engine.followers.tags import values
from engine.ledger.queries import edges_at
from engine.store.dry_run import dry_run_store
from engine.store.store import Store
from engine.transfer.ingest.documents import Document, Found, Piece, Reference, Skipped, Sourced
from engine.transfer.ingest.links import Atoms, Targets
from engine.transfer.ingest.read import read_file, screened_files
from engine.transfer.ingest.walk import find_files, source_of
from engine.transfer.ingest.work import Work
from proofs.events import EventKind
from proofs.leaves import EdgeType, State
from proofs.sets import Group

if TYPE_CHECKING:
    from engine.secrets.filter import Screen

ACTOR: Final = "ingest"
"""Who all events of an ingest are by."""


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
        atoms = self.added or self.revised or self.tombstoned or self.revived or self.retagged
        return bool(atoms or self.linked or self.unlinked)


def ingest(
    store: Store,
    paths: Sequence[str | Path],
    *,
    name: str | None = None,
    root: str | Path | None = None,
    tags: Sequence[str] = (),
    buckets: Sequence[str] = ("inbox",),
    provenance: str = "internal",
    prune: bool = False,
    sure: bool = False,
    force: bool = False,
    dry_run: bool = False,
    progress: Callable[[IngestProgress], None] = lambda _: None,
) -> IngestReport:
    """Make the store hold what the files under `paths` say now (see `engine.Engine.ingest`).

    All events are by the actor `ingest`, by which a later run knows what is its own to change.

    Raises:
        NotFoundError: a path is not there; nothing was written.
        InvalidInputError: a name, tag, bucket or provenance breaks a rule; nothing was written.
        RefusedError: with `prune` and not `sure`, none of a folder's files is known, and all that are
            known under its name would go: another folder of that name, perhaps; nothing was written.
    """
    screen, kept = (
        None if store.secret_filter is None else store.secret_filter.screen_for_reading(),
        validation.tags(tags),
    )
    model = Add(
        "",
        tags=kept if screen is None else validation.tags(screen.value(kept, "tags")),
        buckets=validation.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX),
        provenance=validation.provenance(provenance),
        force=force,
    )
    for path in validation.several(paths, "paths"):
        if not isinstance(path, (str, Path)):
            raise InvalidInputError(f"a path must be text or a Path, not {type(path).__name__}")
    found = list(screened_files(screen, find_files(paths, name=name, root=root)))
    store.follow(store.tags)
    folders = [path for path in map(Path, paths) if path.is_dir()] if prune else []
    with dry_run_store(store, when=dry_run) as target:
        run = _Run(target, model, screen, found)
        gone = run.gone([source_of(folder, name=name, root=root) for folder in folders], sure=sure)
        run.carry_out(run.contents(progress))
        run.carry_out(run.prune(gone))
        target.follow(target.tags)
        run.carry_out(run.links())
        if target.secret_filter is not None:
            target.secret_filter.count(screen)
    return run.report()


class _Run(Work):
    def __init__(
        self, store: Store, model: Add, screen: Screen | None, found: Sequence[Found | Skipped]
    ) -> None:
        super().__init__(store, ACTOR)
        self._model = model
        self._screen = screen
        self._files = [item for item in found if isinstance(item, Found)]
        self.reports = [item for item in found if isinstance(item, Skipped)]
        self._own_sources = {file.source for file in self._files}
        self._pieces = 0
        self._read: dict[str, Atoms] = {}
        # The JSON lines of this run: the atom of each, and its number among them all (some 150 bytes a line).
        self._lines: dict[bytes, int] = {}
        self._linking: list[tuple[str, bytes, tuple[Reference, ...]]] = []
        self._unresolved = 0

    def contents(self, progress: Callable[[IngestProgress], None]) -> Iterator[Command]:
        """The commands for what is in the files, file by file."""
        lines = 0
        for done, file in enumerate(self._files, 1):
            whole, line = True, 0
            for item in read_file(file, screen=self._screen):
                if isinstance(item, Skipped):
                    whole = whole and item.line is not None
                    self.reports.append(item)
                elif isinstance(item, Document):
                    yield from self._document(item)
                else:
                    line = item.line
                    yield from self._line(item, file, lines)
            lines += line
            if whole and file.format == "jsonl":
                yield from self.prune([file.source], "no longer in its file")
            progress(IngestProgress(done, len(self._files), self._pieces))

    def _wanted(self, source: str, piece: Piece, sequence: int | None = None) -> Add:
        """The atom that a piece is to be."""
        return replace(
            self._model,
            content=piece.content,
            title=piece.title,
            tags=(*piece.tags, *self._model.tags),
            source=source,
            sequence=sequence,
            created=piece.created,
            occurrence=piece.occurrence,
            key=piece.id,
        )

    def _document(self, document: Document) -> Iterator[Command]:
        source, pieces = document.source, document.pieces
        self._pieces += len(pieces)
        wanted = [self._wanted(source, piece) for piece in pieces]
        atoms = [wanted_id(self.id_key, one) for one in wanted]
        self._read[source] = [(atom, piece.title) for atom, piece in zip(atoms, pieces, strict=True)]
        with self.store.backend.snapshot() as rows:
            commands = list(reconcile_source(rows, ACTOR, source, atoms, wanted))
            for atom, piece in zip(atoms, pieces, strict=True):
                if piece.links or _has_references(rows, atom):
                    self._linking.append((source, atom, piece.links))
        yield from commands

    def _line(self, line: Sourced, file: Found, before: int) -> Iterator[Command]:
        """The command for a JSON line, after `before` lines of other files; a source and id count once."""
        source, piece = line.source, line.piece
        if source != file.source and source in self._own_sources:
            reason = f"{source!r} is the source of another file: its atoms are what that file says"
            self.reports.append(Skipped(file.source, reason, line.line))
            return
        wanted = self._wanted(source, piece, line.line * STEP if piece.sequence is None else piece.sequence)
        first = self._lines.setdefault(wanted_id(self.id_key, wanted), before + line.line) - before
        if first != line.line:
            where = f"at line {first}" if first > 0 else "in an earlier file"
            what = "the same text of this source" if piece.id is None else f"the id {piece.id!r}"
            reason = f"{what} was already used {where}"
            self.reports.append(Skipped(file.source, reason, line.line, kept=piece.id is None))
            return
        self._pieces += 1
        yield UpsertAtom(wanted)

    def gone(self, folders: Sequence[str], *, sure: bool) -> list[str]:
        """The sources that begin as these folders' do and whose files are no longer there.

        Raises:
            RefusedError: none of a folder's files is known, but others under its name are.
        """
        kept = self._own_sources | {item.source for item in self.reports}
        missing: list[str] = []
        for folder in folders:
            with self.store.backend.snapshot() as rows:
                known = [source for source in _sources_under(rows, f"{folder}/") if _has_ours(rows, source)]
            if known and kept.isdisjoint(known) and not sure:
                raise RefusedError(
                    f"none of the files now in {folder}/ is known, and the atoms of all {len(known)} known "
                    "ones would be tombstoned",
                    hint="if another folder of that name was ingested before, give this one a name (--name); "
                    "if the files were renamed or removed, say so (--yes)",
                )
            missing += [source for source in known if source not in kept]
        return missing

    def prune(self, sources: Iterable[str], reason: str = "its file is gone") -> Iterator[Command]:
        """Tombstones for the atoms of `sources`, but for those that lines of this run yield."""
        for source in sources:
            with self.store.backend.snapshot() as rows:
                commands = list(retire_others(rows, ACTOR, source, self._lines.keys(), reason))
            yield from commands

    def links(self) -> Iterator[Command]:
        """The commands for the links between all that was read and all that is in the store."""
        targets = Targets(
            [*values(self.store.backend, Group.SOURCE), *self._read],
            lambda source: self._read.get(source) or self._live_atoms(source),
        )
        for source, atom, links in self._linking:
            meant = [targets.resolve(link, source) for link in links]
            self._unresolved += meant.count(None)
            others = dict.fromkeys(found for found in meant if found is not None and found != atom)
            # A snapshot each: through one that was older than the new edges, LevelDB took 2.5 ms to step
            # over them all, for every atom.
            with self.store.backend.snapshot() as rows:
                commands = list(reconcile_edges(rows, ACTOR, atom, EdgeType.REFERENCES, others))
            yield from commands

    def _live_atoms(self, source: str) -> Atoms:
        """The live atoms of a source that was not read as a document, as they are after this run."""
        with self.store.backend.snapshot() as rows:
            records = [record for record in atoms_of(rows, source).values() if record.state is State.LIVE]
        records.sort(key=lambda record: (record.sequence or 0, record.id))
        return [(record.id, record.title) for record in records]

    def report(self) -> IngestReport:
        """The counts so far."""
        count = self.counts
        for source, number in sorted(self.erased.items()):
            what = "a piece was" if number == 1 else f"{number} pieces were"
            self.reports.append(Skipped(source, f"{what} erased from the memory: --force takes it in"))
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
            skipped=self.skipped,
            warnings=self.warnings,
        )


def _has_references(rows: Reader, atom: bytes) -> bool:
    """Whether a live edge `references` that ingest made leads out of `atom`."""
    edges = edges_at(rows, atom, Direction.OUT, (bytes([EdgeType.REFERENCES]),))
    return any(edge.created_by == ACTOR for edge in edges)


def _has_ours(rows: Reader, source: str) -> bool:
    """Whether a source has a live atom that ingest said last."""
    return next(retire_others(rows, ACTOR, source, frozenset()), None) is not None


def _sources_under(rows: Reader, prefix: str) -> Iterator[str]:
    return takewhile(lambda source: source.startswith(prefix), values(rows, Group.SOURCE, prefix))
