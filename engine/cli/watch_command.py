"""The command watch, which ingests changed files, and applies the edits made in a mirror."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Unpack

from engine.base.errors import BusyError, EngineError, InvalidInputError, translated
from engine.base.json_text import encode
from engine.capture.clients import Client, client_named
from engine.capture.session_import import import_sessions
from engine.cli.cli_output import counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.import_commands import named_kinds, said
from engine.cli.shared_options import FolderOptions, ingest_options
from engine.cli.shown_parts import line
from engine.engine import Engine
from engine.files.folder_watching import ReplacedFolder, Watched
from engine.files.folder_watching import watch as watch_folders
from engine.files.ingest.documents import SourceFile
from engine.files.ingest.folder_walk import FORMATS, find_files
from engine.files.ingest.import_run import IngestReport
from engine.files.ingest.ingest_run import ingest
from engine.files.mirror.mirror_pull import is_edited
from engine.knowledge.dreaming.cycle import until_signalled
from engine.memory.memory_settings import find_mirror, find_secrets_for_agents

GITIGNORE = ".gitignore"


@command(
    "engine watch notes/",
    "engine watch notes/ --exclude 'drafts/' --prune",
    "engine watch --sessions opencode",
)
def watch(
    session: Session,
    folder: str | None = None,
    *,
    prune: bool = False,
    sessions: tuple[str, ...] = (),
    **wanted: Unpack[FolderOptions],
) -> int:
    """Ingest a folder now, and again whenever files in it change.

    Runs until Ctrl-C. The store is open only while files are ingested, so that other commands can use it. If
    the settings name a mirror, edits in its pages are applied, too. With --json, prints one line for each
    batch of changes.

    Args:
        folder: The folder to ingest and to watch.
        prune: Also tombstone the atoms of files that are removed.
        sessions: `CLIENT` Also take in the sessions of this client while they are written, without hooks.
            Repeatable.
    """
    # Check the arguments first: a missing folder must not leave an empty store behind.
    if folder is None and not sessions:
        raise InvalidInputError("nothing to watch", hint="name a folder, or a client with --sessions")
    batches: list[IngestBatches | SessionBatches] = []
    if folder is not None:
        find_files([folder], name=wanted["name"], exclude=wanted["exclude"])
        options = {**ingest_options(wanted), "prune": prune}
        batches.append(IngestBatches(session=session, folder=Path(folder), wanted=options))
    batches += [SessionBatches(session=session, client=client_named(name)) for name in sessions]
    edits = MirrorEdits(session=session, folder=find_mirror(session.store, session.memory))
    with until_signalled() as stop:
        watched = [Watched(one.real, one.take, one.concerns) for one in batches]
        watch_folders(watched, stop, ignored=_own_places(session), between=edits.look)
    events = sum(one.events for one in batches) + edits.events
    number = sum(one.number for one in batches)
    data = {"event": "stopped", "batches": number, "events": events}
    if session.out.json:
        session.out.json_line(data)
        return 0
    shown = f"after {number:,} {'batch' if number == 1 else 'batches'}"
    return session.out.answer(data, [line("stopped", f"{shown}, {counted(events, 'event')}")])


def _own_places(session: Session) -> list[Path]:
    """Return the paths that this program writes. They may be inside the watched folder."""
    places = [session.place(), find_mirror(session.store, session.memory)]
    return [Path(os.path.realpath(place)) for place in places if place is not None]


@dataclass(kw_only=True)
class StoreWork:
    """Work that is done again and again on a store, which another process may be using."""

    session: Session
    number: int = 0
    """How often the work was done."""
    events: int = 0
    """The number of events that were appended so far."""
    _waits: bool = False

    waiting: ClassVar[str]
    failing: ClassVar[str]
    """What is said if the store is in use, and before the message of an error."""

    def attempt(self, work: Callable[[], bool], *, needed: bool = False) -> bool:
        """Do the work, whose result is True if it used the store. Return False if the store is in use.

        A note says once that the work waits, and each time why the work failed. If the work is `needed`, its
        errors are raised.
        """
        try:
            if work():
                self._waits = False
        except BusyError:
            if not self._waits:
                self.session.out.note(f"the store is in use; {self.waiting}")
            self._waits = True
            return False
        except EngineError as error:
            if needed:
                raise
            self.session.out.note(f"{self.failing}: {error}")
        return True


@dataclass(kw_only=True)
class IngestBatches(StoreWork):
    """Ingests a folder at the start, and again after each batch of changes (`Watched.changed`)."""

    waiting = "the changes wait"
    failing = "not ingested"

    folder: Path
    wanted: dict[str, Any]
    """The arguments of `ingest`."""
    _known: set[Path] = field(default_factory=set)
    """The files that existed when the whole folder was last read."""
    _told: set[str] = field(default_factory=set)

    @property
    def real(self) -> Path:
        """The real path of the folder."""
        return Path(os.path.realpath(self.folder))

    def concerns(self, path: Path) -> bool:
        """Return True if an ingest may read the file, or if the path may be a folder."""
        parts = path.relative_to(self.real).parts
        if any(part.startswith(".") for part in parts[:-1]):
            return False
        if not parts or path.name.startswith("."):
            return path.name == GITIGNORE
        if path.suffix.lower() in FORMATS:
            return True
        # A folder that was moved or removed is not there any more. Files without a suffix are not read.
        return path.is_dir() or (not path.suffix and not path.exists())

    def take(self, changed: frozenset[Path]) -> bool:
        """Ingest the changed files; the first call ingests the folder.

        Return False if the store is in use.
        """
        return self.attempt(partial(self._ingest_changes, changed), needed=self.number == 0)

    def _ingest_changes(self, changed: frozenset[Path]) -> bool:
        is_first = self.number == 0
        only = None if is_first else self._to_read(changed)
        if only is not None and not only:
            return False
        with self.session.engine(create=True) as engine:
            before = engine.size
            report = self._ingested(engine, only, is_first)
            appended = engine.size - before
            failure = self.session.update_mirror(engine) if is_first or appended else None
        self.number += 1
        self.events += appended
        if only is None:
            self._known = self._files()
        self._tell(report, appended, None if failure is None else failure.message)
        if is_first:
            self.session.out.note(f"watching {self.folder}; press Ctrl-C to stop")
        return True

    def _to_read(self, changed: frozenset[Path]) -> frozenset[Path] | None:
        """Return the files to read; None means all files, because links and renames depend on all files."""
        is_same = all(path.suffix.lower() in FORMATS and path in self._known for path in changed)
        if not (is_same and all(path.is_file() for path in changed)):
            has_rules = any(path.name == GITIGNORE for path in changed)
            if has_rules or self._files() != self._known:
                return None
        return changed & self._known

    def _files(self) -> set[Path]:
        wanted = {key: self.wanted[key] for key in ("name", "exclude", "gitignore")}
        return {item.path for item in find_files([self.folder], **wanted) if isinstance(item, SourceFile)}

    def _ingested(self, engine: Engine, only: frozenset[Path] | None, is_first: bool) -> IngestReport:
        with self.session.meter("read", "files") if is_first else nullcontext() as move, translated():
            return ingest(
                engine.store,
                [self.folder],
                **self.wanted,
                only=only,
                progress=(lambda _: None)
                if move is None
                else (lambda at: move(at.files, at.total, at.activity)),
            )

    def _tell(self, report: IngestReport, appended: int, mirror: str | None) -> None:
        """Print a line for a batch, and a note for each new problem."""
        for one in said((*report.warnings, *report.skipped)):
            if one not in self._told:
                self._told.add(one)
                self.session.out.note(one)
        if mirror is not None:
            self.session.out.note(mirror)
        if self.session.out.json:
            data = {"event": "batch", "batch": self.number, "events": appended, "mirror_error": mirror}
            self.session.out.json_line({**data, **encode(report)})
        elif appended or self.number == 1:
            self.session.out.show(line(f"batch {self.number}", ", ".join(_summary(report))))


@dataclass(kw_only=True)
class SessionBatches(StoreWork):
    """Takes in the sessions of a client at the start, and again after each batch of changes."""

    client: Client
    waiting = "the sessions wait"
    failing = "not taken in"

    def __post_init__(self) -> None:
        self.real = Path(os.path.realpath(self.client.place()))

    def concerns(self, path: Path) -> bool:
        """Return True for every path: each client has its own files."""
        del path
        return True

    def take(self, changed: frozenset[Path]) -> bool:
        """Take in what is new. Return False if the store is in use."""
        del changed
        return self.attempt(self._take, needed=self.number == 0)

    def _take(self) -> bool:
        with self.session.engine(create=True, secrets=find_secrets_for_agents(None)) as engine:
            before = engine.size
            report = import_sessions(engine.store, self.client, self.client.find(self.real))
            appended = engine.size - before
        self.number += 1
        self.events += appended
        if self.session.out.json:
            data = {"event": "sessions", "client": self.client.name, "events": appended}
            self.session.out.json_line({**data, **encode(report)})
        elif appended or self.number == 1:
            self.session.out.show(line(self.client.name, f"{counted(report.items, 'turn')} read"))
        return True


def _summary(report: IngestReport) -> Iterator[str]:
    """Yield each kind of change that a batch made, in a few words."""
    yield counted(report.files, "file") + " read"
    names = ("added", "revised", "retagged", "revived", "tombstoned", "linked", "unlinked")
    for name in names:
        if number := getattr(report, name):
            yield f"{number:,} {name}"
    if report.conflicts:
        yield counted(report.conflicts, "new conflict")
    if report.skipped:
        yield f"skipped {named_kinds(report.skipped)}"


@dataclass(kw_only=True)
class MirrorEdits(StoreWork):
    """Applies the edits in the pages of the mirror; the settings name the mirror.

    After the program updates the mirror, the pages are exactly as the program wrote them. The update is
    therefore not mistaken for an edit, and the store is not opened.
    """

    folder: Path | None
    """The mirror; None if the settings do not name a mirror."""
    _changes: ReplacedFolder | None = None
    _is_due: bool = False
    waiting = "the edits in the mirror wait"
    failing = "no edits applied from the mirror"

    def look(self) -> None:
        """Apply the edits if something in the mirror changed, or if edits could not be applied earlier."""
        if self.folder is None:
            return
        if self._changes is None:
            self._changes = ReplacedFolder(self.folder)
        self._is_due |= self._changes.changed()
        if self._is_due:
            self._is_due = not self.attempt(partial(self._apply, self.folder))

    def _apply(self, folder: Path) -> bool:
        if not is_edited(folder):
            return False
        with self.session.engine() as engine:
            before = engine.size
            failure = self.session.update_mirror(engine, edits=True)
            appended = engine.size - before
        self.number += 1
        self.events += appended
        message = None if failure is None else failure.message
        if message is not None:
            self.session.out.note(message)
        self._tell(appended, message)
        return True

    def _tell(self, appended: int, failure: str | None) -> None:
        if self.session.out.json:
            self.session.out.json_line({"event": "edits", "events": appended, "mirror_error": failure})
        else:
            self.session.out.show(line("mirror", f"edits applied, {counted(appended, 'event')}"))
