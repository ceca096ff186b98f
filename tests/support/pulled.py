"""Commands whose events repeat an event of another store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.base.model import EventRef, Receipt
from engine.commands.transaction import Command, Transaction
from proofs.events import Body, Detail, EventKind, Origin


@dataclass(frozen=True, slots=True)
class Pulled:
    """Run a command; each of its events has this origin."""

    command: Command
    origin: Origin

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events of the command."""
        return self.command.decide(_WithOrigin(tx, self.origin))  # type: ignore[arg-type]


class _WithOrigin:
    """A transaction that gives each event an origin."""

    def __init__(self, tx: Transaction, origin: Origin) -> None:
        self._tx, self._origin = tx, origin

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def append(self, kind: EventKind, prev: int | None, detail: Detail, body: Body) -> EventRef:
        """Append one event."""
        return self._tx.append(kind, prev, detail, body._replace(origin=self._origin))
