"""Taking a checkpoint: an event that records the roots of all events before it."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass

from engine.base.errors import ConflictError
from engine.base.model import Receipt
from engine.commands.transaction import Transaction, event_ref, receipt
from engine.followers.requests import Once
from engine.ledger.journal import read_header
from engine.store.request_keys import refuse_other
from engine.store.store import Store
from proofs.events import CheckpointBody, CheckpointDetail, Entry, EventKind
from proofs.leaves import State


@dataclass(frozen=True, slots=True)
class TakeCheckpoint:
    """Record in the journal the roots of the store after its first `size` events."""

    size: int
    root: bytes
    namespace_roots: tuple[tuple[str, bytes], ...]

    def decide(self, tx: Transaction) -> Receipt:
        """Append the checkpoint event, or no event if the last event of the journal is a checkpoint."""
        if read_header(tx.rows, self.size - 1)[0].kind is EventKind.CHECKPOINT:
            return receipt("", State.LIVE)
        detail, body = CheckpointDetail(self.root), CheckpointBody(self.namespace_roots)
        return receipt("", State.LIVE, tx.append(EventKind.CHECKPOINT, None, detail, body))


CHECKPOINT_RETRIES_MAX = 3
"""The maximum number of attempts during which other processes may write. An attempt fails if another process
appends an event. After the last failure, other processes are locked out."""


def take_checkpoint(store: Store, actor: str, once: Once | None = None) -> tuple[Receipt, int]:
    """Record the roots in the journal, unless the last event of the journal is already a checkpoint.

    If `once` is given and its key was used already, return the checkpoint of the first time.

    Returns:
        The receipt, and the size of the log including the checkpoint event.

    Raises:
        ConflictError: Other processes kept appending events, or the key was used for something else.
    """
    for attempt in range(CHECKPOINT_RETRIES_MAX + 1):
        exclusive = store.exclusive() if attempt == CHECKPOINT_RETRIES_MAX else nullcontext()
        with exclusive:
            recorded = [] if once is None else store.recorded(actor, once)
            if once is not None and recorded:
                return _again(recorded, once)
            with store.view(*store.followers) as rows:
                roots = store.roots(rows)
            command = TakeCheckpoint(roots.size, roots.overall, roots.named_roots)
            with suppress(ConflictError):
                receipt = store.commit([command], actor, if_head=roots.size, request=once)[0]
                return receipt, roots.size + len(receipt.events)
    raise ConflictError(
        "the roots changed while they were recorded, because other processes kept writing to the store",
        hint="try again",
    )


def _again(recorded: list[Entry], once: Once) -> tuple[Receipt, int]:
    """Return the result that the call with this key returned."""
    (entry, *others) = recorded
    if others or entry.header.kind is not EventKind.CHECKPOINT:
        refuse_other(once.key)
    return receipt("", State.LIVE, event_ref(entry)), entry.header.seq + 1
