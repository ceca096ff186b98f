"""Where the dreamer's commands go: into the journal, or for a rehearsal into memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from engine.base.model import Receipt
from engine.commands.base import Command, Transaction
from engine.knowledge.dreaming.history import DREAMER
from engine.ledger.journal import REHEARSED, read_log
from engine.ledger.records import Lookup

if TYPE_CHECKING:
    from engine.engine import Engine


RULES: Final = "dreaming rules 1"
"""What finds what the dreamer writes: the origin of its events. Another set of rules gets another number."""


class Desk(Protocol):
    """Who decides commands."""

    def carry_out(self, commands: Sequence[Command]) -> list[Receipt]:
        """What became of them, all or none; at most some hundred at a time."""


class Journalling:
    """Decides them in the store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def carry_out(self, commands: Sequence[Command]) -> list[Receipt]:
        """Have them true, as the dreamer."""
        return self._engine.apply(commands, actor=DREAMER, origin=RULES) if commands else []


class Rehearsing:
    """Decides them on top of a snapshot; what they would write is kept in memory and then forgotten."""

    def __init__(self, rows: Lookup, id_key: bytes) -> None:
        self._rows = rows
        self._id_key = id_key
        self._written: dict[bytes, bytes | None] = {}

    def get(self, key: bytes) -> bytes | None:
        """A row as it would be."""
        return self._written[key] if key in self._written else self._rows.get(key)

    def carry_out(self, commands: Sequence[Command]) -> list[Receipt]:
        """What would become of them."""
        tx = Transaction(self, read_log(self), self._id_key, REHEARSED, DREAMER)
        receipts = [command.decide(tx) for command in commands]
        if tx.entries:
            self._written.update(tx.finish().rows)
        return receipts
