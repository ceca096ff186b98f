"""Carrying an erasure out: commits, followers, the backend's files; and finishing one that was broken off."""

from __future__ import annotations

from collections.abc import Callable

from backends.base import Batch, Guard
from engine.base.model import EventRef
from engine.erase.destroy import Destroy, Destroyed
from engine.erase.pending import Pending, encode_pending, read_pending
from engine.ledger.layout import ERASING
from engine.store.store import Store
from proofs.leaves import State

Stage = Callable[[str], None]
"""Called with the name of each stage as it begins."""


def quietly(stage: str) -> None:
    """Report nothing."""
    del stage


def carry_out(store: Store, pending: Pending, progress: Stage = quietly) -> tuple[Destroyed, list[EventRef]]:
    """Erase an atom: commits first, then every row made of it, then every byte in the backend's files.

    When this is broken off anywhere, opening the store finishes it.

    Returns:
        What was destroyed, and the events that say so.

    Raises:
        BackendBusy: somebody keeps a snapshot open: all is done, but the files are not purged yet.
    """
    total, events = Destroyed(), list[EventRef]()
    with store.alone():
        state = State.LIVE
        while state is not State.ERASED:
            progress("events")
            command = Destroy(pending)
            receipt = store.commit([command], pending.actor)[0]
            state = receipt.state
            events += receipt.events
            total.payloads += command.done.payloads
            total.size += command.done.size
            total.edges += command.done.edges
            total.contents = total.contents or command.done.contents
        finish(store, pending, progress)
    return total, events


def finish(store: Store, pending: Pending, progress: Stage = quietly) -> None:
    """What is left once the atom is erased in the journal; the caller keeps everybody else from writing."""
    # In memory are still events that were just destroyed, and what was worked out from them.
    store.recent.clear()
    progress("followers")
    store.follow()
    store.index.forget()
    progress("files")
    store.backend.purge()
    row = encode_pending(pending)
    if store.backend.get(ERASING) == row:
        done = Batch()
        done.delete(ERASING)
        store.backend.write(done, guard=Guard(ERASING, row), durable=True)


def resume(store: Store) -> None:
    """Finish an erasure that was broken off, here or in another process, if there is one.

    Raises:
        BackendBusy: another process keeps the store locked, or a snapshot open.
    """
    if store.backend.get(ERASING) is None:
        return
    with store.alone():
        pending = read_pending(store.backend)
        if pending is not None:
            carry_out(store, pending)
