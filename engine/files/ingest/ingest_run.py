"""Ingest files: add, revise and tombstone atoms so that the store matches the files, then link the atoms.

    files ── find, read ──▶ pieces ── compare with the store ──▶ commands ──▶ events, a thousand per batch
                                                                  then the links, when all targets are known

If nothing changed, nothing is written. If the process is killed, the next run continues the work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from backends.base import Reader
from engine.base import limits, validation
from engine.base.errors import InvalidInputError
from engine.commands import Add, Command
from engine.commands.conflicts import conflicts
from engine.commands.moves import Moves
from engine.commands.new_ids import Planned
from engine.commands.reconcile import JOINED, UpsertAtom
from engine.commands.renames import FormerSources
from engine.commands.sequence import STEP, place
from engine.commands.sources import SourcePlan, plan_new_sources, plan_source, retire_others
from engine.files.ingest.documents import (
    Document,
    JsonLine,
    Piece,
    Skipped,
    SourceFile,
)
from engine.files.ingest.file_reading import screened_files
from engine.files.ingest.folder_walk import Found, find_files, source_of
from engine.files.ingest.import_run import ImportRun, IngestProgress, IngestReport
from engine.files.ingest.ingest_links import RunLinks
from engine.files.ingest.ingest_sources import RunSources, check_folders, folders_of, told_apart
from engine.files.ingest.parallel_reading import Read, reading
from engine.ledger.records import default_id_of
from engine.store.bulk import COMMIT_CHUNK
from engine.store.dry_run import dry_run_store
from engine.store.store import Store
from proofs.events import EventKind

_LARGE_BYTES: Final = 1 << 20

ACTOR: Final = "ingest"
"""The actor of all events of an ingest."""


_TOGETHER: Final = 64
"""The number of documents that are compared with the store together.

Measured: taking a snapshot and looking up the ids for each document took 9 % of the writing process's time.
"""


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
    store.follow(store.tags)
    files = list(told_apart(store, ACTOR, list(screened_files(screen, listed))))
    places = folders_of(paths, name=name, root=root)
    with store.view(store.tags) as rows:
        check_folders(rows, places, [item.source for item in files], moved=moved)
    folders = [source_of(path, name=name, root=root) for path in map(Path, paths) if path.is_dir()]
    with dry_run_store(store, when=dry_run) as target:
        run = _IngestRun(target, template, files, places, only, progress)
        missing = run.sources.missing(folders if prune else [], sure=sure)
        run.look_for_renamed(folders)
        run.look_for_excluded([] if prune else folders)
        with reading(run.files, screen) as read:
            run.apply(run.contents(read))
        run.apply(run.moved())
        run.apply(run.given_on(), JOINED)
        run.apply(run.retired())
        run.apply(run.prune(missing))
        target.follow(target.tags)
        run.apply(run.links())
        if target.secret_filter is not None:
            target.secret_filter.count(screen)
        with target.view() as rows:
            open_conflicts = len(conflicts(rows))
    return run.report(open_conflicts)


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
        self.sources = RunSources(store, ACTOR, found)
        self._excluded_live: tuple[str, ...] = ()
        self._pieces = 0
        # The atom of each JSON line of this run → the number of the line, counted over all files. This takes
        # about 150 bytes for each line.
        self._lines: dict[bytes, int] = {}
        self._links = RunLinks(store, ACTOR, self._lines.keys(), self.sources.passed_over)
        self._waiting: list[_Waiting] = []
        self.former = FormerSources(ACTOR)
        self._can_move = True
        """True if a file of this run may continue texts that were recorded before the run."""
        self.moves = Moves(ACTOR, self.id_key, self.former)
        self._settled_moves: list[Moves] = []
        """The moves that were settled file by file, because `moves` is full."""

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
                    self._settled_moves.append(moves)
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
        atoms = self._links.read[document.source] = []
        for planned, piece in zip(plan.atoms, document.pieces, strict=True):
            atoms.append((b"" if planned is None else planned.atom, piece.title))
            if planned is not None:
                self._links.add(rows, document.source, piece, planned)

    def moved(self) -> Iterator[Command]:
        """Yield the commands for the pieces that do not continue a text of their own file.

        The commands for the contents of the files must have been carried out.
        """
        with self.store.backend.snapshot() as rows:
            commands = list(self._settled(rows, self.moves, self._waiting))
        yield from commands

    def given_on(self) -> Iterator[Command]:
        """Yield the commands that give on what people put on texts that are now parts of other texts."""
        for moves in (*self._settled_moves, self.moves):
            with self.store.backend.snapshot() as rows:
                commands = list(moves.given_on(rows))
            yield from commands

    def _settled(self, rows: Reader, moves: Moves, waiting: Sequence[_Waiting]) -> Iterator[Command]:
        for one, (planned, commands) in zip(waiting, moves.settle(rows), strict=True):
            self._links.read[one.source][one.position] = planned.atom, one.piece.title
            self._links.add(rows, one.source, one.piece, planned)
            yield from commands

    def retired(self) -> Iterator[Command]:
        """Yield the commands that hide the atoms whose texts are no longer in a file that was read."""
        return chain.from_iterable(moves.retire() for moves in (*self._settled_moves, self.moves))

    def _line(self, line: JsonLine, file: SourceFile, before: int) -> Iterator[Command]:
        """Yield the command for a JSON line; `before` is the number of lines in the files before this file.

        If an earlier line has the same source and id, the line is reported instead.
        """
        source, piece = line.source, line.piece
        if source != file.source and source in self.sources.own:
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
        self._links.add_line(source, piece, Planned(atom, source not in self.sources.recorded))
        yield UpsertAtom(add)

    def look_for_renamed(self, folders: Sequence[str]) -> None:
        """Let new files continue the atoms of sources in `folders` whose files no longer exist."""
        self.former = FormerSources(ACTOR, self.sources.renamed(folders))
        self._can_move = bool(self.former) or not self.sources.recorded.isdisjoint(self.sources.own)
        self.moves = Moves(ACTOR, self.id_key, self.former)

    def look_for_excluded(self, folders: Sequence[str]) -> None:
        """Find the sources in `folders` that are excluded now and have live atoms from ingests."""
        self._excluded_live = self.sources.excluded_with_atoms(folders)

    def prune(self, sources: Iterable[str], reason: str | None = None) -> Iterator[Command]:
        """Yield tombstones for the atoms of `sources`, except atoms that come from JSON lines of this run.

        By default, the reason says why the file of the source is not read.
        """
        for source in sources:
            why = "the file is excluded" if self.sources.is_excluded(source) else "the file no longer exists"
            with self.store.backend.snapshot() as rows:
                commands = list(retire_others(rows, ACTOR, source, self._lines.keys(), reason or why))
            yield from commands

    def links(self) -> Iterator[Command]:
        """Yield the commands for the links in the files of this run, which may lead to any file."""
        return self._links.commands(self._say)

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
            added=count[EventKind.ATOM_ADDED],
            revised=count[EventKind.ATOM_REVISED],
            tombstoned=count[EventKind.ATOM_TOMBSTONED],
            revived=count[EventKind.ATOM_REVIVED],
            retagged=count[EventKind.TAGS_ADDED] + count[EventKind.TAGS_REMOVED],
            linked=count[EventKind.EDGE_ADDED],
            unlinked=count[EventKind.EDGE_REMOVED],
            unresolved_links=len(self._links.unresolved),
            unresolved=tuple(self._links.unresolved),
            erased=self.erased.total(),
            conflicts=self.conflicts,
            open_conflicts=open_conflicts,
            skipped=self.skipped,
            warnings=self.warnings,
            passed_over=self.sources.passed_over,
            excluded=self._excluded_live,
        )


def _is_large(file: SourceFile) -> bool:
    """Return True if reading the file may take seconds."""
    try:
        return file.path.stat().st_size >= _LARGE_BYTES
    except OSError:
        return False  # reading the file will say why
