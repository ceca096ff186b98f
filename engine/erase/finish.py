"""Carrying an erasure out: commits, followers, the backend's files; and finishing one that was broken off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from backends.base import Batch, Guard
from engine.base.model import EventRef
from engine.erase.destroy import Destroy, Destroyed
from engine.erase.pending import Pending, encode_pending, read_pending
from engine.ledger.layout import ERASING
from proofs.leaves import State

if TYPE_CHECKING:
    from engine.store.store import Store

Stage = Callable[[str], None]
"""Told what is about to be done, in a word or two."""


def quietly(stage: str) -> None:
    """Tells nobody."""
    del stage


def carry_out(store: Store, pending: Pending, told: Stage = quietly) -> tuple[Destroyed, list[EventRef]]:
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
            told("events")
            command = Destroy(pending)
            receipt = store.commit([command], pending.actor)[0]
            state = receipt.state
            events += receipt.events
            total.payloads += command.done.payloads
            total.size += command.done.size
            total.edges += command.done.edges
            total.contents = total.contents or command.done.contents
        finish(store, pending, told)
    return total, events


def finish(store: Store, pending: Pending, told: Stage = quietly) -> None:
    """What is left once the atom is erased in the journal; the caller keeps everybody else from writing."""
    # In memory are still events that were just destroyed, and what was worked out from them.
    store.recent.clear()
    told("followers")
    store.follow()
    store.index.forget()
    told("files")
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
    with store.alone():
        pending = read_pending(store.backend)
        if pending is not None:
            carry_out(store, pending)
