"""Ingest files: add, revise and tombstone atoms so that the store matches the files, then link the atoms.

    files ── find, read ──▶ pieces ── compare with the store ──▶ commands ──▶ events, a thousand per batch
                                                                  then the links, when all targets are known

If nothing changed, nothing is written. If the process is killed, the next run continues the work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from backends.base import Reader
from engine.base import limits, validation
from engine.base.direction import Direction
from engine.base.errors import InvalidInputError, RefusedError
from engine.commands import Add, Command
from engine.commands.file_texts import atoms_of
from engine.commands.moves import Moves
from engine.commands.new_ids import Planned
from engine.commands.reconcile import UpsertAtom, UpsertEdge, reconcile_edges
from engine.commands.renames import FormerSources
from engine.commands.sequence import STEP, place
from engine.commands.sources import SourcePlan, plan_new_sources, plan_source, retire_others
from engine.followers.tags import values
from engine.ledger.layout import EDGE_FROM
from engine.ledger.queries import edges_at
from engine.ledger.records import default_id, default_id_of, read_atom
from engine.query.conflicts import conflicts
from engine.store.bulk import COMMIT_CHUNK
from engine.store.dry_run import dry_run_store
from engine.store.store import Store
from engine.transfer.ingest.ahead import Read, reading
from engine.transfer.ingest.documents import (
    Document,
    JsonLine,
    PassedOver,
    Piece,
    Reference,
    Skipped,
    SourceFile,
    Unresolved,
)
from engine.transfer.ingest.exclude import EXCLUDED, is_below
from engine.transfer.ingest.folders import check_folders, folders_of
from engine.transfer.ingest.import_run import ImportRun
from engine.transfer.ingest.links import Atoms, Targets
from engine.transfer.ingest.read import screened_files
from engine.transfer.ingest.walk import Found, find_files, source_of
from proofs.events import EventKind
from proofs.leaves import EdgeType, State
from proofs.sets import Group

_LARGE_BYTES: Final = 1 << 20
_LINKS_BETWEEN: Final = 10_000
"""The number of texts with links between two reports of progress."""

ACTOR: Final = "ingest"
"""The actor of all events of an ingest."""


_TOGETHER: Final = 64
"""The number of documents that are compared with the store together.

Measured: taking a snapshot and looking up the ids for each document took 9 % of the writing process's time.
"""


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """The progress of an ingest in numbers: files read so far, all files, and pieces found so far."""

    files: int
    total: int
    pieces: int
    activity: str = ""
    """The current activity if it may take seconds, such as `reading notes/long.md`; otherwise empty."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The changes that an ingest made, or would make in a dry run. Unless noted, atoms are counted."""

    files: int
    pieces: int
    left_out: int
    """The number of comments, badges and bare link lists in the files that are in no piece."""
    added: int
    revised: int
    tombstoned: int
    revived: int
    retagged: int
    """The number of events that add or remove tags."""
    linked: int
    """The number of edges added."""
    unlinked: int
    """The number of edges removed."""
    unresolved_links: int
    unresolved: tuple[Unresolved, ...]
    """The links that lead neither to an atom nor to a file that was passed over."""
    erased: int
    """The number of texts that were not added because the same text was erased."""
    conflicts: int
    """The number of texts that changed in their files after a different actor had revised or hidden their
    atoms. Each of these texts becomes a new atom, with an edge `conflicts_with` to the atom that the actor
    changed."""
    open_conflicts: int
    """The number of all unsettled conflicts, including conflicts of files that no longer exist."""
    skipped: tuple[Skipped, ...]
    """The items that were not ingested."""
    warnings: tuple[Skipped, ...]
    """The items that were ingested incompletely or not as intended."""
    passed_over: tuple[PassedOver, ...]
    """The entries of the folders that were not read because of their names, or because they are excluded."""
    excluded: tuple[str, ...]
    """The sources whose files are excluded now, and which have live atoms. Pruning tombstones these atoms."""

    @property
    def changed(self) -> bool:
        """True if any event was appended, or would be in a dry run."""
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
    exclude: Iterable[Any] = (),
    gitignore: bool = True,
    only: Collection[Path] | None = None,
    moved: bool = False,
    prune: bool = False,
    sure: bool = False,
    force: bool = False,
    dry_run: bool = False,
    progress: Callable[[IngestProgress], None] = lambda _: None,
) -> IngestReport:
    """Update the store so that it matches the files under `paths` (see `engine.Engine.ingest`).

    All events have the actor `ingest`. A later run changes only atoms whose current version was written by
    this actor. If `only` is given, all files are found, but only the files whose real paths are in `only` are
    read.

    Raises:
        NotFoundError: a path does not exist; nothing was written.
        InvalidInputError: a name, tag, bucket or provenance breaks a rule; nothing was written.
        RefusedError: files were ingested from a different folder of the same name, and `moved` is not set; or
            `prune` is set without `sure`, and all files that were ingested from a folder are missing now:
            pruning would tombstone the atoms of all these files. Nothing was written.
    """
    screen = None if store.secret_filter is None else store.secret_filter.screen_for_reading()
    checked_tags = validation.tags(tags)
    template = Add(
        "",
        tags=checked_tags if screen is None else validation.tags(screen.value(checked_tags, "tags")),
        buckets=validation.labels(buckets, "buckets", limits.BUCKETS_PER_ATOM_MAX),
        provenance=validation.provenance(provenance),
        force=force,
    )
    for path in validation.several(paths, "paths"):
        if not isinstance(path, (str, Path)):
            raise InvalidInputError(f"a path must be text or a Path, not {type(path).__name__}")
    listed = find_files(paths, name=name, root=root, exclude=exclude, gitignore=gitignore)
    found = list(screened_files(screen, listed))
    store.follow(store.tags)
    places = folders_of(paths, name=name, root=root)
    with store.view(store.tags) as rows:
        check_folders(rows, places, [item.source for item in found], moved=moved)
    folders = [source_of(path, name=name, root=root) for path in map(Path, paths) if path.is_dir()]
    with dry_run_store(store, when=dry_run) as target:
        run = _IngestRun(target, template, found, places, only, progress)
        missing = run.missing_sources(folders if prune else [], sure=sure)
        run.look_for_renamed(folders)
        run.look_for_excluded([] if prune else folders)
        with reading(run.files, screen) as read:
            run.apply(run.contents(read))
        run.apply(run.moved())
        run.apply(run.prune(missing))
        target.follow(target.tags)
        run.apply(run.links())
        if target.secret_filter is not None:
            target.secret_filter.count(screen)
        with target.view() as rows:
            open_conflicts = len(conflicts(rows))
    return run.report(open_conflicts)


class _Links(NamedTuple):
    """The links of an atom. They are resolved when all files have been read."""

    source: str
    atom: bytes
    links: tuple[Reference, ...]
    is_new: bool
    """True if the atom was not recorded when its file was read."""


class _Waiting(NamedTuple):
    """A piece whose atom is determined after all files have been read."""

    source: str
    position: int
    piece: Piece


class _IngestRun(ImportRun):
    def __init__(
        self,
        store: Store,
        template: Add,
        found: Sequence[Found],
        folders: Mapping[str, str],
        only: Collection[Path] | None,
        progress: Callable[[IngestProgress], None],
    ) -> None:
        super().__init__(store, ACTOR)
        self._progress = progress
        self._done = 0
        """The number of files read so far."""
        self._folders = folders
        self._template = template
        files = [item for item in found if isinstance(item, SourceFile)]
        self.files = files if only is None else [file for file in files if file.path in only]
        self.reports = [item for item in found if isinstance(item, Skipped)]
        self.passed_over = tuple(item for item in found if isinstance(item, PassedOver))
        self._excluded = frozenset(item.source for item in self.passed_over if item.kind == EXCLUDED)
        self._excluded_live: tuple[str, ...] = ()
        self._own_sources = {file.source for file in files}
        self._recorded = set(values(store.backend, Group.SOURCE))
        """The sources of atoms that were recorded before this run."""
        self._had_edges = any(True for _ in store.backend.scan_prefix(EDGE_FROM))
        self._pieces = 0
        self._left_out = 0
        self._read: dict[str, list[tuple[bytes, str | None]]] = {}
        # The atom of each JSON line of this run → the number of the line, counted over all files. This takes
        # about 150 bytes for each line.
        self._lines: dict[bytes, int] = {}
        self._pending_links: list[_Links] = []
        self._unresolved: list[Unresolved] = []
        self._waiting: list[_Waiting] = []
        self.former = FormerSources(ACTOR)
        self._can_move = True
        """True if a file of this run may continue texts that were recorded before the run."""
        self.moves = Moves(ACTOR, self.id_key, self.former)

    def _say(self, activity: str = "") -> None:
        self._progress(IngestProgress(self._done, len(self.files), self._pieces, activity))

    def _saying(self, commands: Sequence[Command], what: str) -> Iterator[Command]:
        """Yield the commands, and report their number after every thousand of them."""
        for number, command in enumerate(commands):
            if number and not number % COMMIT_CHUNK:
                self._say(f"{what}: {number:,} of {len(commands):,}")
            yield command

    def contents(self, read: Read) -> Iterator[Command]:
        """Yield the commands for the contents of the files, file by file."""
        lines = 0
        waiting: list[Document] = []
        for done, file in enumerate(self.files, 1):
            whole, line = True, 0
            if file.format == "jsonl" or len(waiting) >= _TOGETHER:
                yield from self._documents(waiting)
                waiting = []
            if _is_large(file):
                self._say(f"reading {file.source}")
            for item in read(file):
                if isinstance(item, Skipped):
                    whole = whole and item.line is not None
                    self.reports.append(item)
                elif isinstance(item, Document):
                    self._pieces += len(item.pieces)
                    self._left_out += item.left_out
                    waiting.append(item)
                else:
                    line = item.line
                    if not line % COMMIT_CHUNK:
                        self._say(f"reading {file.source}: line {line:,}")
                    yield from self._line(item, file, lines)
            lines += line
            if whole and file.format == "jsonl":
                yield from self.prune([file.source], "no longer in its file")
            self._done = done
            self._say()
        yield from self._documents(waiting)

    def _atom(self, source: str, piece: Piece, sequence: int | None = None) -> Add:
        """Return the atom for a piece."""
        template = self._template
        return Add(
            piece.content,
            title=piece.title,
            tags=(*piece.tags, *template.tags),
            buckets=template.buckets,
            source=source,
            sequence=sequence,
            provenance=template.provenance,
            created=piece.created,
            occurrence=piece.occurrence,
            key=piece.id,
            force=template.force,
            meta=piece.meta,
            aliases=piece.aliases or None,
            folder=self._folders.get(source.partition("/")[0]),
        )

    def _documents(self, documents: Sequence[Document]) -> Iterator[Command]:
        """Yield the commands for documents, which are compared with one snapshot."""
        plans: list[SourcePlan] = []
        commands: list[Command] = []
        wanted = [self._atoms(document) for document in documents]
        with self.store.backend.snapshot() as rows:
            new = {} if self._can_move else self._new_sources(rows, wanted)
            for document, adds in zip(documents, wanted, strict=True):
                source = document.source
                plan = new.get(source) or plan_source(rows, ACTOR, self.id_key, source, adds, self.former)
                plans.append(plan)
                self._note(rows, document, plan)
                waiting = [
                    _Waiting(source, position, document.pieces[position]) for position, _, _ in plan.open
                ]
                if self.moves.is_full:
                    moves = Moves(ACTOR, self.id_key, FormerSources(ACTOR))
                    moves.collect(plan)
                    commands += self._settled(rows, moves, waiting)
                else:
                    self.moves.collect(plan)
                    self._waiting += waiting
        for document, plan in zip(documents, plans, strict=True):
            yield from self._saying(plan.commands, f"writing {document.source}")
        yield from commands

    def _atoms(self, document: Document) -> list[Add]:
        """Return the atoms for the pieces of a document, with the sort keys of new atoms."""
        keys = place([None] * len(document.pieces))
        return [
            self._atom(document.source, piece, key) for piece, key in zip(document.pieces, keys, strict=True)
        ]

    def _new_sources(self, rows: Reader, wanted: Sequence[Sequence[Add]]) -> dict[str | None, SourcePlan]:
        """Return plans for the sources that have no recorded atoms. Every source must be new."""
        adds = [one for one in wanted if one]
        plans = plan_new_sources(rows, ACTOR, self.id_key, adds)
        return {one[0].source: plan for one, plan in zip(adds, plans, strict=True) if plan is not None}

    def _note(self, rows: Reader, document: Document, plan: SourcePlan) -> None:
        """Remember the atoms of a document, for the links of this run."""
        atoms = self._read[document.source] = []
        for planned, piece in zip(plan.atoms, document.pieces, strict=True):
            atoms.append((b"" if planned is None else planned.atom, piece.title))
            if planned is not None:
                self._look_for_links(rows, document.source, piece, planned)

    def moved(self) -> Iterator[Command]:
        """Yield the commands for the pieces that do not continue a text of their own file.

        The commands for the contents of the files must have been carried out.
        """
        with self.store.backend.snapshot() as rows:
            commands = list(self._settled(rows, self.moves, self._waiting))
        yield from commands

    def _settled(self, rows: Reader, moves: Moves, waiting: Sequence[_Waiting]) -> Iterator[Command]:
        for one, (planned, commands) in zip(waiting, moves.settle(rows), strict=True):
            self._read[one.source][one.position] = planned.atom, one.piece.title
            self._look_for_links(rows, one.source, one.piece, planned)
            yield from commands
        yield from moves.retire()

    def _look_for_links(self, rows: Reader, source: str, piece: Piece, planned: Planned) -> None:
        """Store the links of a piece until all files have been read."""
        atom, is_new = planned
        if piece.links or (not is_new and _has_references(rows, atom)):
            self._pending_links.append(_Links(source, atom, piece.links, is_new))

    def _line(self, line: JsonLine, file: SourceFile, before: int) -> Iterator[Command]:
        """Yield the command for a JSON line; `before` is the number of lines in the files before this file.

        If an earlier line has the same source and id, the line is reported instead.
        """
        source, piece = line.source, line.piece
        if source != file.source and source in self._own_sources:
            reason = f"{source!r} is the source of another file; only that file can change its atoms"
            self.reports.append(Skipped(file.source, reason, line.line))
            return
        add = self._atom(source, piece, line.line * STEP if piece.sequence is None else piece.sequence)
        atom = default_id_of(self.id_key, add)
        first = self._lines.setdefault(atom, before + line.line) - before
        if first != line.line:
            where = f"at line {first}" if first > 0 else "in an earlier file"
            what = "the same text in this source" if piece.id is None else f"the id {piece.id!r}"
            reason = f"{what} was already used {where}"
            self.reports.append(Skipped(file.source, reason, line.line, kept=piece.id is None))
            return
        self._pieces += 1
        is_new = source not in self._recorded
        if piece.links or (self._had_edges and not is_new):
            self._pending_links.append(_Links(source, atom, piece.links, is_new))
        yield UpsertAtom(add)

    def missing_sources(self, folders: Sequence[str], *, sure: bool) -> list[str]:
        """Return the sources in `folders` whose files no longer exist.

        Raises:
            RefusedError: `sure` is False, and none of the files in a folder was ingested before, although
                other files were ingested under the folder's name.
        """
        present = self._present()
        missing: list[str] = []
        for folder in folders:
            with self.store.backend.snapshot() as rows:
                recorded = [source for source in self._recorded_in(folder) if _has_own_atoms(rows, source)]
            if recorded and present.isdisjoint(recorded) and not sure:
                raise RefusedError(
                    f"none of the {len(recorded)} files that were ingested from {folder}/ is there now; the "
                    "atoms of all these files would be tombstoned",
                    hint="is the folder complete? if its files were renamed or removed, add --yes",
                )
            missing += [source for source in recorded if source not in present]
        return missing

    def look_for_renamed(self, folders: Sequence[str]) -> None:
        """Let new files continue the atoms of sources in `folders` whose files no longer exist."""
        known = {source for folder in folders for source in self._recorded_in(folder)}
        gone = known - self._present()
        self.former = FormerSources(ACTOR, {source for source in gone if not self.is_excluded(source)})
        self._can_move = bool(self.former) or not self._recorded.isdisjoint(self._own_sources)
        self.moves = Moves(ACTOR, self.id_key, self.former)

    def look_for_excluded(self, folders: Sequence[str]) -> None:
        """Find the sources in `folders` that are excluded now and have live atoms from ingests."""
        if not self._excluded:
            return
        recorded = (source for folder in folders for source in self._recorded_in(folder))
        left_out = [source for source in recorded if self.is_excluded(source)]
        with self.store.backend.snapshot() as rows:
            self._excluded_live = tuple(source for source in left_out if _has_own_atoms(rows, source))

    def is_excluded(self, source: str) -> bool:
        """Return True if the file of a source, or a folder above it, is excluded."""
        return bool(self._excluded) and is_below(source, self._excluded)

    def _present(self) -> set[str]:
        """Return the sources of the files that exist, including files that were not read."""
        others = (item.source for item in self.passed_over if item.kind != EXCLUDED)
        return self._own_sources.union((item.source for item in self.reports), others)

    def _recorded_in(self, folder: str) -> list[str]:
        """Return the sources in a folder that were recorded before this run, in ascending order."""
        return sorted(source for source in self._recorded if source.startswith(f"{folder}/"))

    def prune(self, sources: Iterable[str], reason: str | None = None) -> Iterator[Command]:
        """Yield tombstones for the atoms of `sources`, except atoms that come from JSON lines of this run.

        By default, the reason says why the file of the source is not read.
        """
        for source in sources:
            why = "the file is excluded" if self.is_excluded(source) else "the file no longer exists"
            with self.store.backend.snapshot() as rows:
                commands = list(retire_others(rows, ACTOR, source, self._lines.keys(), reason or why))
            yield from commands

    def links(self) -> Iterator[Command]:
        """Yield the commands for links that start in the documents of this run and end in any document."""
        targets = Targets(
            [*values(self.store.backend, Group.SOURCE), *self._read],
            lambda source: self._read.get(source) or self._live_atoms(source),
        )
        # A link to a picture or another file that is not ingested is not broken.
        aside = Targets([item.source for item in self.passed_over], lambda _: [(b"", None)])
        with self.store.backend.snapshot() as rows:
            # Most lines of a JSON Lines file have no links, and most of these had none before.
            pending = [one for one in self._pending_links if one.links or _has_references(rows, one.atom)]
        for number, (source, atom, links, is_new) in enumerate(pending):
            if number and not number % _LINKS_BETWEEN:
                self._say(f"linking: {number:,} of {len(pending):,}")
            by_id = any(link.kind == "id" for link in links)
            resolved = self._lines_named(links, source) if by_id else targets.resolve_all(links, source)
            self._note_unresolved(aside, source, links, resolved)
            others = dict.fromkeys(found for found in resolved if found is not None and found != atom)
            if is_new:
                # This run added the atom, so it had no edges, and looking for them would take a scan.
                for other in others:
                    yield UpsertEdge(atom, EdgeType.REFERENCES, other)
                continue
            # A new snapshot for each atom: in a snapshot older than the new edges, LevelDB took 2.5 ms per
            # atom to step over them.
            with self.store.backend.snapshot() as rows:
                commands = list(reconcile_edges(rows, ACTOR, atom, EdgeType.REFERENCES, others))
            yield from commands

    def _lines_named(self, links: Sequence[Reference], source: str) -> list[bytes | None]:
        """Return the atoms of lines of a source, which are given by their ids; None for an unknown line."""
        atoms = [default_id(self.id_key, source, "", 0, link.target) for link in links]
        return [atom if atom in self._lines or self._is_live(atom) else None for atom in atoms]

    def _is_live(self, atom: bytes) -> bool:
        record = read_atom(self.store.backend, atom)
        return record is not None and record.state is State.LIVE

    def _note_unresolved(
        self, aside: Targets, source: str, links: Sequence[Reference], resolved: Sequence[bytes | None]
    ) -> None:
        """Count and store the links that do not lead to an atom or to a file that was passed over."""
        missing = [link for link, atom in zip(links, resolved, strict=True) if atom is None]
        for link in missing:
            if link.kind == "id" or aside.resolve(link, source) is None:
                self._unresolved.append(Unresolved(source, link.spelling))

    def _live_atoms(self, source: str) -> Atoms:
        """Return the live atoms of a source that was not read as a document in this run."""
        with self.store.backend.snapshot() as rows:
            records = [record for record in atoms_of(rows, source).values() if record.state is State.LIVE]
        records.sort(key=lambda record: (record.sequence or 0, record.id))
        return [(record.id, record.title) for record in records]

    def report(self, open_conflicts: int) -> IngestReport:
        """Return the report of the run."""
        count = self.counts
        for source, number in sorted(self.erased.items()):
            what = "1 erased text is" if number == 1 else f"{number:,} erased texts are"
            how = "it was not added" if number == 1 else "they were not added"
            reason = f"{what} still in the file; {how} (--force adds erased texts)"
            self.reports.append(Skipped(source, reason, kept=True, kind="erased text"))
        return IngestReport(
            files=len(self.files),
            pieces=self._pieces,
            left_out=self._left_out,
            added=count[EventKind.ATOM_ADDED],
            revised=count[EventKind.ATOM_REVISED],
            tombstoned=count[EventKind.ATOM_TOMBSTONED],
            revived=count[EventKind.ATOM_REVIVED],
            retagged=count[EventKind.TAGS_ADDED] + count[EventKind.TAGS_REMOVED],
            linked=count[EventKind.EDGE_ADDED],
            unlinked=count[EventKind.EDGE_REMOVED],
            unresolved_links=len(self._unresolved),
            unresolved=tuple(self._unresolved),
            erased=self.erased.total(),
            conflicts=self.conflicts,
            open_conflicts=open_conflicts,
            skipped=self.skipped,
            warnings=self.warnings,
            passed_over=self.passed_over,
            excluded=self._excluded_live,
        )


def _is_large(file: SourceFile) -> bool:
    """Return True if reading the file may take seconds."""
    try:
        return file.path.stat().st_size >= _LARGE_BYTES
    except OSError:
        return False  # reading the file will say why


def _has_references(rows: Reader, atom: bytes) -> bool:
    """Return True if `atom` has a live outgoing edge `references` that ingest created."""
    edges = edges_at(rows, atom, Direction.OUT, (bytes([EdgeType.REFERENCES]),))
    return any(edge.created_by == ACTOR for edge in edges)


def _has_own_atoms(rows: Reader, source: str) -> bool:
    """Return True if a source has a live atom whose current version an ingest wrote."""
    return next(retire_others(rows, ACTOR, source, frozenset()), None) is not None
