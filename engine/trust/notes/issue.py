"""Issuing a note for the newest checkpoint of a store."""

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
from engine.trust.notes.known_checkpoints import read_history
from engine.trust.notes.signing import Signer, continue_signed, signing
from proofs.events import CheckpointDetail
from proofs.note import Checkpoint, Note, format_note, origin_of


@dataclass(frozen=True, slots=True)
class CheckpointNote:
    """A checkpoint note, to be kept outside the store."""

    origin: str
    size: int
    """The number of events, including the checkpoint event."""
    log_root: str
    """The root of the log with `size` events, as 64 hex digits."""
    seq: int
    """The seq of the checkpoint event. It is the last event."""
    root: str
    """The overall root that the checkpoint event records, as 64 hex digits. It covers all earlier events."""
    changed: bool
    """True if the checkpoint event was appended by this call."""
    signed: bool
    first: bool
    """True if the file next to the signing key records no earlier note for this store."""
    note: str
    """The text of the note, including the line end of the last line."""


def issue(
    store: Store,
    take: Callable[[], tuple[Receipt, int]],
    *,
    key: str | Path | None = None,
    known: Sequence[Checkpoint] = (),
) -> CheckpointNote:
    """Take a checkpoint if necessary, read the log back from the backend, and return the checkpoint note.

    Args:
        store: The store.
        take: A function that records the roots in the journal, and returns the receipt and the number of
            events including the checkpoint event.
        key: The path of the file with the signing key; None for an unsigned note.
        known: Earlier checkpoints. Before anything is written, this function checks that the store
            continues each of them.

    Raises:
        InconsistentError: The store does not continue one of `known`, or the checkpoint that the key signed
            last.
        RefusedError: The key may not sign for this store.
        CorruptionError: The headers in the backend differ from those that the log commits to.
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
                f"event {size - 1} is not the checkpoint that was just written", family="journal"
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
