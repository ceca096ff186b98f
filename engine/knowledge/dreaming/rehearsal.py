"""Decides commands on top of a snapshot without writing anything."""

from __future__ import annotations

from collections.abc import Sequence

from engine.base.model import Receipt
from engine.commands.base import Command, Transaction
from engine.knowledge.dreaming.history import DREAMER
from engine.ledger.journal import REHEARSED, read_log
from engine.ledger.records import Lookup


class Rehearsal:
    """A snapshot, and in memory what the commands so far would have written."""

    def __init__(self, rows: Lookup, id_key: bytes) -> None:
        self._rows = rows
        self._id_key = id_key
        self._written: dict[bytes, bytes | None] = {}

    def get(self, key: bytes) -> bytes | None:
        """A row as it would be."""
        return self._written[key] if key in self._written else self._rows.get(key)

    def commit(self, commands: Sequence[Command]) -> list[Receipt]:
        """The receipts that a commit by the dreamer would give."""
        tx = Transaction(self, read_log(self), self._id_key, REHEARSED, DREAMER)
        receipts = [command.decide(tx) for command in commands]
        if tx.entries:
            self._written.update(tx.finish().rows)
        return receipts
