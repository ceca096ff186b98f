"""What an ingest of files and an import from another program share: they apply commands, count and report."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.base.process import rare_collection
from engine.commands import Command
from engine.commands.conflicts import KeepBoth
from engine.commands.reconcile import UpsertAtom
from engine.files.ingest.documents import PassedOver, Skipped, Unresolved
from engine.store.store import Store
from proofs.events import EventKind
from proofs.leaves import State


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


class ImportRun:
    """An ingest or import that applies commands to a store. All its events have the same actor."""

    def __init__(self, store: Store, actor: str) -> None:
        self.store = store
        self.actor = actor
        self.id_key = store.identity.id_key
        self.counts: Counter[EventKind] = Counter()
        self.reports: list[Skipped] = []
        self.erased: Counter[str] = Counter()
        """Source → the number of its atoms that were skipped because their content was erased."""
        self.conflicts = 0
        """The number of new conflicts: texts that were added because another actor had changed the atom."""

    def apply(self, commands: Iterable[Command], pipeline: str | None = None) -> None:
        """Commit the commands, and count their events. `pipeline` says what made them (`Engine.apply`)."""
        sent: deque[Command] = deque()

        def recorded() -> Iterator[Command]:
            for command in commands:
                sent.append(command)
                yield command

        with rare_collection():
            for receipt in self.store.commit_many(recorded(), self.actor, pipeline=pipeline):
                command = sent.popleft()
                for event in receipt.events:
                    self.counts[event.kind] += 1
                self.conflicts += isinstance(command, KeepBoth) and bool(receipt.events)
                if isinstance(command, UpsertAtom) and receipt.state is State.ERASED:
                    self.erased[command.wanted.source or ""] += 1

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The items that were not ingested."""
        return tuple(item for item in self.reports if not item.kept)

    @property
    def warnings(self) -> tuple[Skipped, ...]:
        """The items that were ingested incompletely or differently than intended."""
        return tuple(item for item in self.reports if item.kept)
