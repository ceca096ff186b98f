"""Destroying an atom for good: deciding what it takes, carrying it out, and finishing what was broken off.

Its edges come first, each with an event of its own; an atom with very many takes several commits. The row
`meta/erasing` says what is being erased, from the first of them until the backend has purged its files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from backends.base import Batch, Guard, Reader
from engine.base import limits
from engine.base.errors import ConflictError
from engine.base.model import Direction, EventRef, Receipt
from engine.base.validation import show_id
from engine.commands.atoms import normalized_content, recorded
from engine.commands.base import Transaction, receipt
from engine.ledger.codec import fields, unpack
from engine.ledger.journal import entries_back
from engine.ledger.layout import ERASING, payload_key
from engine.ledger.queries import edges_at
from engine.ledger.records import EdgeRecord, Lookup
from engine.store.store import Store
from proofs.codec import pack
from proofs.events import (
    ERASING_KINDS,
    AtomBody,
    AtomDetail,
    EdgeDetail,
    Entry,
    ErasedBody,
    EventKind,
    ReasonBody,
)
from proofs.forms import sized, text, uint
from proofs.hashing import destroyed_hash
from proofs.leaves import State


class Pending(NamedTuple):
    """An erasure that is not done; all that finishing it takes."""

    id: bytes
    reason: str
    actor: str
    remember: int
    """1: keep hashes of the contents, so that they are refused if they come again; 0: keep none."""


_FIELDS = (sized(16), text(limits.REASON_BYTES_MAX), text(limits.LABEL_CHARS_MAX), uint(1))


def encode_pending(pending: Pending) -> bytes:
    """The row."""
    return pack(list(pending))


def read_pending(rows: Lookup) -> Pending | None:
    """The erasure that is not done; None where there is none.

    Raises:
        CorruptionError: the row is not one of these.
    """
    raw = rows.get(ERASING)
    return None if raw is None else Pending(*fields(unpack(raw, "erasing"), _FIELDS, "erasing"))


EDGES_AT_ONCE = 4000
"""Edges erased in one commit: far from the bounds of a batch, whatever their reasons say."""


@dataclass(slots=True)
class Destroyed:
    """What a commit destroyed."""

    payloads: int = 0
    size: int = 0
    """Bytes of these payloads."""
    edges: int = 0
    contents: tuple[bytes, ...] = ()
    """Hashes of the contents, as journaled."""


@dataclass(slots=True)
class Destroy:
    """Have an atom erased, or, where it has very many edges, some of these.

    Deciding it on a head where it is erased appends nothing. `done` says what the last decision destroys.
    """

    pending: Pending
    done: Destroyed = field(default_factory=Destroyed)

    def decide(self, tx: Transaction) -> Receipt:
        """One event for each edge, and one for the atom once no edge is left.

        Raises:
            NotFoundError: it was never recorded.
            ConflictError: another process left an erasure half done.
        """
        self.done = Destroyed()
        other = read_pending(tx.rows)
        if other is not None and other.id != self.pending.id:
            raise ConflictError(
                f"the erasure of atom {show_id(other.id)} is not done", hint="try again: it is finished first"
            )
        record = recorded(tx, show_id(self.pending.id))
        if record.state is State.ERASED:
            return receipt(record.id, State.ERASED)
        first = len(tx.entries)
        if not isinstance(tx.head, Reader):
            raise TypeError("an atom is erased on top of rows that can be scanned")
        edges = edges_of(tx.head, record.id)
        for edge in edges[:EDGES_AT_ONCE]:
            detail = EdgeDetail(edge.src, edge.type, edge.dst)
            reason = ReasonBody(f"erased with {show_id(record.id)}")
            self._sweep(tx, edge.last_seq)
            tx.append(EventKind.EDGE_ERASED, edge.last_seq, detail, reason)
            self.done.edges += 1
        tx.batch.put(ERASING, encode_pending(self.pending))
        if len(edges) > EDGES_AT_ONCE:
            return receipt(record.id, record.state, *tx.entries[first:])
        hashes = set()
        for body in self._sweep(tx, record.last_seq):
            hashes.add(destroyed_hash(tx.id_key, normalized_content(body.content)))
        self.done.contents = tuple(sorted(hashes)[: limits.ERASED_CONTENTS_MAX * self.pending.remember])
        erased = ErasedBody(self.pending.reason, self.done.contents)
        tx.append(EventKind.ERASED, record.last_seq, AtomDetail(record.id, record.ordinal, None), erased)
        return receipt(record.id, State.ERASED, *tx.entries[first:])

    def _sweep(self, tx: Transaction, last: int) -> list[AtomBody]:
        """Delete the payloads of a subject's events up to `last`; the contents that were in them."""
        bodies = []
        for entry in destroyable(tx.rows, last):
            key = payload_key(entry.header.seq)
            self.done.payloads += 1
            self.done.size += len(tx.rows.get(key) or b"")
            tx.batch.delete(key)
            if isinstance(entry.body, AtomBody):
                bodies.append(entry.body)
        return bodies


def destroyable(rows: Lookup, last: int) -> Iterator[Entry]:
    """The events on one subject whose payloads erasing it destroys, the newest, `last`, first."""
    return takewhile(lambda entry: entry.header.kind not in ERASING_KINDS, entries_back(rows, last))


def edges_of(rows: Reader, atom: bytes) -> list[EdgeRecord]:
    """All edges at an atom that are not erased, live or not."""
    return list(edges_at(rows, atom, Direction.BOTH, (), tombstoned=True))


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
    with store.exclusive():
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
    with store.exclusive():
        pending = read_pending(store.backend)
        if pending is not None:
            carry_out(store, pending)
