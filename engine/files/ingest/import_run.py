"""The shared part of ingesting files and importing from other programs: apply commands, count and report."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from engine.base.collection import rare_collection
from engine.commands import Command
from engine.commands.conflicts import KeepBoth
from engine.commands.reconcile import UpsertAtom
from engine.files.ingest.documents import Skipped
from engine.store.store import Store
from proofs.events import EventKind
from proofs.leaves import State


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

    def apply(self, commands: Iterable[Command]) -> None:
        """Commit the commands, and count their events."""
        sent: deque[Command] = deque()

        def recorded() -> Iterator[Command]:
            for command in commands:
                sent.append(command)
                yield command

        with rare_collection():
            for receipt in self.store.commit_many(recorded(), self.actor):
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
