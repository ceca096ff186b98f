"""Taking a checkpoint: the roots of everything so far, recorded in the journal."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass

from engine.base.errors import ConflictError
from engine.base.model import Receipt
from engine.commands.base import Transaction, receipt
from engine.ledger.journal import read_header
from engine.store.store import Store
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


CHECKPOINT_LOSSES = 3
"""How often the roots are computed again because the head moved, before other writers have to wait."""


def take_checkpoint(store: Store, actor: str) -> tuple[Receipt, int]:
    """Record the roots in the journal, unless its last event is a checkpoint already.

    Returns:
        The receipt, and the size of the log with the checkpoint event.

    Raises:
        ConflictError: other processes kept moving the head.
    """
    for attempt in range(CHECKPOINT_LOSSES + 1):
        alone = store.alone() if attempt == CHECKPOINT_LOSSES else nullcontext()
        with alone:
            with store.view(*store.followers) as rows:
                roots = store.roots(rows)
            command = TakeCheckpoint(roots.size, roots.overall, roots.namespaces)
            with suppress(ConflictError):
                receipt = store.commit([command], actor, if_head=roots.size)[0]
                return receipt, roots.size + len(receipt.events)
    raise ConflictError("other writers kept moving the head", hint="try again")
