"""The checkpoint: journaling the roots, so that `verify-root` can check a replay against them."""

from __future__ import annotations

from dataclasses import dataclass

from engine.base.model import Receipt
from engine.commands.base import Transaction, receipt
from engine.ledger.journal import read_header
from proofs.events import CheckpointBody, CheckpointDetail, EventKind
from proofs.leaves import State


@dataclass(frozen=True, slots=True)
class TakeCheckpoint:
    """Have the roots of the log of `size` events in the journal."""

    size: int
    root: bytes
    namespace_roots: tuple[bytes, ...]

    def decide(self, tx: Transaction) -> Receipt:
        """No event where the last one is a checkpoint."""
        if read_header(tx.rows, self.size - 1)[0].kind is EventKind.CHECKPOINT:
            return receipt("", State.LIVE)
        detail, body = CheckpointDetail(self.root), CheckpointBody(self.namespace_roots)
        return receipt("", State.LIVE, tx.append(EventKind.CHECKPOINT, None, detail, body))
