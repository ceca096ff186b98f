"""The row that every commit is guarded by: the time of the last event, and the frontier of the log."""

from __future__ import annotations

from typing import NamedTuple

from engine.base.errors import CorruptionError
from engine.ledger.codec import fields, unpack
from engine.ledger.layout import LOG
from engine.ledger.records import Lookup
from proofs.codec import pack
from proofs.forms import raw_up_to, uint
from proofs.log import Frontier

_LOG_FIELDS = (uint(), raw_up_to(8 + 32 * 64))


class LogState(NamedTuple):
    """The row that every commit is guarded by, decoded."""

    row: bytes | None
    time: int
    frontier: Frontier

    @property
    def size(self) -> int:
        """How many events the journal holds."""
        return self.frontier.size


def read_log(rows: Lookup) -> LogState:
    """The state of the log; of size 0 where there is no journal yet.

    Raises:
        CorruptionError: the row is not such a state.
    """
    row = rows.get(LOG)
    if row is None:
        return LogState(None, 0, Frontier())
    time, raw = fields(unpack(row, "log state"), _LOG_FIELDS, "log state")
    try:
        return LogState(row, time, Frontier.from_bytes(raw))
    except ValueError as error:
        raise CorruptionError(f"log state: {error}") from error


def encode_log(time: int, frontier: Frontier) -> bytes:
    """The row of the log's state."""
    return pack([time, frontier.to_bytes()])
