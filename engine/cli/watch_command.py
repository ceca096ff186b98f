"""The command watch, which ingests changed files, and applies the edits made in a mirror."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

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
        batches.append(IngestBatches(session, Path(folder), options))
    batches += [SessionBatches(session, client_named(name)) for name in sessions]
    edits = MirrorEdits(session, find_mirror(session.store, session.memory))
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


@dataclass
class StoreAttempts:
    """Work on a store that another process may be using. A note says once that the work waits."""

    session: Session
    notice: str
    """What happens later, as the end of the message `the store is in use; …`."""
    _waits: bool = False

    def attempt(self, work: Callable[[], bool]) -> bool:
        """Do the work, whose result is True if it used the store. Return False if the store is in use."""
        try:
            if work():
                self._waits = False
        except BusyError:
            if not self._waits:
                self.session.out.note(f"the store is in use; {self.notice}")
            self._waits = True
            return False
        return True


@dataclass
class IngestBatches:
    """Ingests a folder at the start, and again after each batch of changes (`Watched.changed`)."""

    session: Session
    folder: Path
    wanted: dict[str, Any]
    """The arguments of `ingest`."""
    number: int = 0
    """The number of batches so far."""
    events: int = 0
    """The number of events that were appended so far."""
    _known: set[Path] = field(default_factory=set)
    """The files that existed when the whole folder was last read."""
    _told: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._attempts = StoreAttempts(self.session, "the changes wait")

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
        return self._attempts.attempt(lambda: self._ingest_changes(changed))

    def _ingest_changes(self, changed: frozenset[Path]) -> bool:
        is_first = self.number == 0
        try:
            only = None if is_first else self._to_read(changed)
            if only is not None and not only:
                return False
            with self.session.engine(create=True) as engine:
                before = engine.size
                report = self._ingested(engine, only, is_first)
                appended = engine.size - before
                failure = self.session.update_mirror(engine) if is_first or appended else None
        except BusyError:
            raise
        except EngineError as error:
            if is_first:
                raise
            self.session.out.note(f"not ingested: {error}")
            return False
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


@dataclass
class SessionBatches:
    """Takes in the sessions of a client at the start, and again after each batch of changes."""

    session: Session
    client: Client
    number: int = 0
    """The number of batches so far."""
    events: int = 0
    """The number of events that were appended so far."""

    def __post_init__(self) -> None:
        self.real = Path(os.path.realpath(self.client.place()))
        self._attempts = StoreAttempts(self.session, "the sessions wait")

    def concerns(self, path: Path) -> bool:
        """Return True for every path: each client has its own files."""
        del path
        return True

    def take(self, changed: frozenset[Path]) -> bool:
        """Take in what is new. Return False if the store is in use."""
        del changed
        return self._attempts.attempt(self._take)

    def _take(self) -> bool:
        try:
            with self.session.engine(create=True, secrets=find_secrets_for_agents(None)) as engine:
                before = engine.size
                report = import_sessions(engine.store, self.client, self.client.find(self.real))
                appended = engine.size - before
        except BusyError:
            raise
        except EngineError as error:
            if self.number == 0:
                raise
            self.session.out.note(f"not taken in: {error}")
            return False
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


@dataclass
class MirrorEdits:
    """Applies the edits in the pages of the mirror; the settings name the mirror.

    After the program updates the mirror, the pages are exactly as the program wrote them. The update is
    therefore not mistaken for an edit, and the store is not opened.
    """

    session: Session
    folder: Path | None
    """The mirror; None if the settings do not name a mirror."""
    events: int = 0
    """The number of events that were appended so far."""
    _changes: ReplacedFolder | None = None
    _is_due: bool = False
    _told: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._attempts = StoreAttempts(self.session, "the edits in the mirror wait")

    def look(self) -> None:
        """Apply the edits if something in the mirror changed, or if edits could not be applied earlier."""
        if self.folder is None:
            return
        if self._changes is None:
            self._changes = ReplacedFolder(self.folder)
        self._is_due |= self._changes.changed()
        if self._is_due:
            self._is_due = not self._take(self.folder)

    def _take(self, folder: Path) -> bool:
        """Apply the edits, if there are any. Return False if the store is in use."""
        return self._attempts.attempt(lambda: self._apply(folder))

    def _apply(self, folder: Path) -> bool:
        try:
            if not is_edited(folder):
                return False
            with self.session.engine() as engine:
                before = engine.size
                failure = self.session.update_mirror(engine, edits=True)
                appended = engine.size - before
        except BusyError:
            raise
        except EngineError as error:
            self._note(f"no edits applied from the mirror: {error}")
            return False
        self.events += appended
        if failure is not None:
            self._note(failure.message)
        self._tell(appended, None if failure is None else failure.message)
        return True

    def _note(self, message: str) -> None:
        """Print a note once."""
        if message not in self._told:
            self._told.add(message)
            self.session.out.note(message)

    def _tell(self, appended: int, failure: str | None) -> None:
        if self.session.out.json:
            self.session.out.json_line({"event": "edits", "events": appended, "mirror_error": failure})
        else:
            self.session.out.show(line("mirror", f"edits applied, {counted(appended, 'event')}"))
