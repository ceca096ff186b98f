"""Issuing the note of a store's newest checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from engine.base.errors import CorruptionError
from engine.base.model import Receipt
from engine.base.validation import instance, several
from engine.ledger.journal import read_header
from engine.store.store import Store
from engine.trust.notes.history import read_history
from engine.trust.notes.signing import Signer, continue_signed, signing
from proofs.events import CheckpointDetail
from proofs.note import Checkpoint, Note, format_note, origin_of


@dataclass(frozen=True, slots=True)
class CheckpointNote:
    """A checkpoint to keep outside the store."""

    origin: str
    size: int
    """Events, the checkpoint event included."""
    log_root: str
    """The log's root at that size, 64 hex digits."""
    seq: int
    """The checkpoint event: the last one."""
    root: str
    """The overall root of all events before it, which it holds, 64 hex digits."""
    changed: bool
    """Whether the event is new."""
    signed: bool
    first: bool
    """Whether nothing is kept beside the key of an earlier note of this store that it signed."""
    note: str
    """The text to keep, with its last line end."""


def issue(
    store: Store,
    take: Callable[[], tuple[Receipt, int]],
    *,
    key: str | Path | None = None,
    known: Sequence[Checkpoint] = (),
) -> CheckpointNote:
    """Journal the roots if need be, read the log back from the backend, and give the note.

    Args:
        store: The store.
        take: Journals the roots; returns the receipt and the size that includes the checkpoint event.
        key: The file of a key to sign with.
        known: Checkpoints that the store must continue; compared before anything is written.

    Raises:
        InconsistentError: the store does not continue one of `known`, or what the key signed last.
        RefusedError: the key may not sign for this store.
        CorruptionError: the headers in the backend are not those that the log commits to.
    """
    if key is not None and not isinstance(key, Path):
        instance(key, str, "key")
    for one in several(known, "known"):
        instance(one, Checkpoint, "each known checkpoint")
    origin = origin_of(store.identity.store_id)
    with ExitStack() as stack:
        signer: Signer | None = stack.enter_context(signing(Path(key))) if key is not None else None
        last = signer.last(origin) if signer else None
        earlier = [*known, *([last.checkpoint] if last else ())]
        if earlier:
            with store.backend.snapshot() as rows:
                history = read_history(rows, (one.size for one in earlier))
            for one in known:
                history.check(one)
            if last:
                continue_signed(history, last)
        receipt, size = take()
        with store.backend.snapshot() as rows:
            history = read_history(rows, (size, *(one.size for one in earlier)))
            header, _ = read_header(rows, size - 1)
        if not isinstance(header.detail, CheckpointDetail):
            raise CorruptionError(
                f"event {size - 1} is not the checkpoint that was written", family="journal"
            )
        checkpoint = Checkpoint(origin, size, history.roots[size])
        note = signer.sign(checkpoint, history) if signer else Note(checkpoint)
    return CheckpointNote(
        origin=origin,
        size=size,
        log_root=checkpoint.root.hex(),
        seq=size - 1,
        root=header.detail.root.hex(),
        changed=receipt.changed,
        signed=bool(note.signatures),
        first=signer is not None and last is None,
        note=format_note(note).decode(),
    )
