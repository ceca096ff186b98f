"""What ingesting files and importing from other memories share: carrying out, counting, reporting."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator

from engine.commands import Command
from engine.commands.reconcile import UpsertAtom
from engine.store.store import Store
from engine.transfer.ingest.documents import Skipped
from proofs.events import EventKind
from proofs.leaves import State


class Work:
    """One run over a store, by one actor."""

    def __init__(self, store: Store, actor: str) -> None:
        self.store = store
        self.actor = actor
        self.id_key = store.identity.id_key
        self.counts: Counter[EventKind] = Counter()
        self.reports: list[Skipped] = []
        self.erased: Counter[str] = Counter()
        """Source → how many of its atoms were left out because their content was erased."""

    def carry_out(self, commands: Iterable[Command]) -> None:
        """Carry out the commands, and count the events."""
        sent: deque[Command] = deque()

        def remembered() -> Iterator[Command]:
            for command in commands:
                sent.append(command)
                yield command

        for receipt in self.store.commit_many(remembered(), self.actor):
            command = sent.popleft()
            self.counts.update(event.kind for event in receipt.events)
            if isinstance(command, UpsertAtom) and receipt.state is State.ERASED:
                self.erased[command.wanted.source or ""] += 1

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What did not go in."""
        return tuple(item for item in self.reports if not item.kept)

    @property
    def warnings(self) -> tuple[Skipped, ...]:
        """What went in otherwise than it was meant."""
        return tuple(item for item in self.reports if item.kept)
