"""Destroying the content of atoms permanently, and finishing erasures that were interrupted.

The edges of an atom are erased first, each by a separate event. An atom with very many edges needs several
commits. The row `meta/erasing` contains the ids of the atoms from the first commit until the backend has
purged its files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from backends.base import Batch, Guard, Reader
from engine.base import limits
from engine.base.characters import normalized_content
from engine.base.errors import ConflictError
from engine.base.model import Direction, EventRef, Receipt
from engine.base.validation import show_id
from engine.commands.atoms import recorded
from engine.commands.transaction import Transaction, receipt
from engine.ledger.journal import earlier_headers, entries_back, read_header
from engine.ledger.layout import ERASING, fields, payload_key, unpack
from engine.ledger.queries import edges_at
from engine.ledger.records import EdgeRecord, Lookup
from engine.store.replay import Stage, ignore_stage
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
    Header,
    ReasonBody,
)
from proofs.forms import raw_up_to, text, uint
from proofs.hashing import destroyed_hash
from proofs.leaves import ID_BYTES, State


class Pending(NamedTuple):
    """An unfinished erasure, with everything that is needed to finish it."""

    ids: bytes
    """The ids of the atoms, 16 bytes each."""
    reason: str
    actor: str
    remember: int
    """1 if hashes of the erased contents are kept, so that adding these contents again is refused; otherwise
    0."""

    @property
    def atoms(self) -> list[bytes]:
        """The ids of the atoms, in the order in which they are erased."""
        return [self.ids[at : at + ID_BYTES] for at in range(0, len(self.ids), ID_BYTES)]


ATOMS_MAX = 10_000
"""The maximum number of atoms of one erasure."""

_FIELDS = (
    raw_up_to(ATOMS_MAX * ID_BYTES),
    text(limits.REASON_BYTES_MAX),
    text(limits.LABEL_CHARS_MAX),
    uint(1),
)


def encode_pending(pending: Pending) -> bytes:
    """Return this object encoded as the value of the row `meta/erasing`."""
    return pack(list(pending))


def read_pending(rows: Lookup) -> Pending | None:
    """Return the unfinished erasure, or None if every erasure is finished.

    Raises:
        CorruptionError: the row `meta/erasing` is malformed.
    """
    raw = rows.get(ERASING)
    return None if raw is None else Pending(*fields(unpack(raw, "erasing"), _FIELDS, "erasing"))


EDGES_AT_ONCE = 4000
"""The maximum number of edges that one commit erases.

The events of 4,000 edges are far below the limits of a batch, even with the longest reasons.
"""


@dataclass(slots=True)
class DestroyedTotals:
    """The numbers of payloads and edges that one or more commits destroyed, and the destroyed contents."""

    payloads: int = 0
    size: int = 0
    """The total size of the destroyed payloads, in bytes."""
    edges: int = 0
    contents: tuple[bytes, ...] = ()
    """The hashes of the destroyed contents, as recorded in the journal."""


@dataclass(slots=True)
class Destroy:
    """Erase one atom of an erasure and its edges.

    If the atom has more than EDGES_AT_ONCE edges, only that many edges are erased. If the atom is already
    erased, no event is appended. `done` contains the totals of the data that the last call of `decide`
    destroys.
    """

    pending: Pending
    atom: bytes
    edges: Sequence[EdgeRecord]
    """Those edges of the atom that are not erased yet.

    `carry_out` searches for the edges only once, because no other process can write until `carry_out`
    returns. When each commit repeated the search, erasing an atom with 50,000 edges took 30 s.
    """
    done: DestroyedTotals = field(default_factory=DestroyedTotals)

    def decide(self, tx: Transaction) -> Receipt:
        """Append one erasing event for each edge, and then one for the atom if all its edges are erased.

        Raises:
            NotFoundError: the atom was never recorded.
            ConflictError: an erasure of other atoms is unfinished.
        """
        self.done = DestroyedTotals()
        other = read_pending(tx.rows)
        if other is not None and other.ids != self.pending.ids:
            raise ConflictError(
                f"the erasure of {show_id(other.atoms[0]) if other.atoms else 'other atoms'} is unfinished",
                hint="try again: the unfinished erasure is completed first",
            )
        record = recorded(tx, show_id(self.atom))
        if record.state is State.ERASED:
            return receipt(record.id, State.ERASED)
        first = len(tx.events)
        reason = ReasonBody(f"erased with {show_id(record.id)}")
        is_last = len(self.edges) <= EDGES_AT_ONCE
        # The last part finds the edges again, and checks that no edge is missing.
        some = tx.unerased_edges(record.id, EDGES_AT_ONCE) if is_last else self.edges[:EDGES_AT_ONCE]
        for edge in some:
            destroy_edge(tx, edge.last_seq, self.done)
            detail = EdgeDetail(edge.src, edge.type, edge.dst)
            tx.append(EventKind.EDGE_ERASED, edge.last_seq, detail, reason)
            self.done.edges += 1
        if other is None:
            tx.batch.put(ERASING, encode_pending(self.pending))
        if not is_last:
            return receipt(record.id, record.state, *tx.events[first:])
        hashes = destroy_atom(tx, record.last_seq, self.done)
        self.done.contents = tuple(sorted(hashes)[: limits.ERASED_CONTENTS_MAX * self.pending.remember])
        erased = ErasedBody(self.pending.reason, self.done.contents)
        tx.append(EventKind.ERASED, record.last_seq, AtomDetail(record.id, record.ordinal), erased)
        return receipt(record.id, State.ERASED, *tx.events[first:])


def destroy_edge(tx: Transaction, last: int, done: DestroyedTotals) -> None:
    """Delete the payloads of the events on an edge since it was last erased; `last` is the newest of them."""
    for header in destroyable_headers(tx.rows, last):
        _delete_payload(tx, header.seq, done)


def destroy_atom(tx: Transaction, last: int, done: DestroyedTotals) -> set[bytes]:
    """Do the same for an atom, and return the hashes of the contents, as the journal records them."""
    hashes = set()
    for entry in destroyable_events(tx.rows, last):
        _delete_payload(tx, entry.header.seq, done)
        if isinstance(entry.body, AtomBody):
            hashes.add(destroyed_hash(tx.id_key, normalized_content(entry.body.content)))
    return hashes


def _delete_payload(tx: Transaction, seq: int, done: DestroyedTotals) -> None:
    key = payload_key(seq)
    done.payloads += 1
    done.size += len(tx.rows.get(key) or b"")
    tx.batch.delete(key)


def destroyable_events(rows: Lookup, last: int) -> Iterator[Entry]:
    """Yield the events on one atom or edge since it was last erased, starting with the newest (`last`).

    Erasing the atom or edge destroys the payloads of these events.
    """
    return takewhile(lambda entry: entry.header.kind not in ERASING_KINDS, entries_back(rows, last))


def destroyable_headers(rows: Lookup, last: int) -> Iterator[Header]:
    """Yield the headers of the events that `destroyable_events` yields, without reading their payloads."""
    header, _ = read_header(rows, last)
    if header.kind not in ERASING_KINDS:
        yield header
        yield from earlier_headers(rows, header)


def unerased_edges(rows: Reader, atom: bytes) -> list[EdgeRecord]:
    """Return the edges of an atom, including tombstoned edges but not erased edges."""
    return list(edges_at(rows, atom, Direction.BOTH, (), tombstoned=True))


def carry_out(
    store: Store, pending: Pending, progress: Stage = ignore_stage, request: str | None = None
) -> tuple[DestroyedTotals, list[EventRef], bool]:
    """Erase atoms from the journal, then from all derived rows, then from the backend's files.

    The events record `request`.

    If the process is interrupted at any point, opening the store finishes the erasure.

    Returns:
        The total of destroyed data, references to the events that record the erasure, and whether the
            backend's files were rewritten.

    Raises:
        BackendBusy: a snapshot is open. All stages are complete except purging the files.
    """
    total, events = DestroyedTotals(), list[EventRef]()
    with store.exclusive():
        store.recent.clear()  # from here on, it holds no event that is destroyed
        progress("events")
        for atom in pending.atoms:
            state = State.LIVE
            with store.view() as rows:
                edges = unerased_edges(rows, atom)
            while state is not State.ERASED:
                command = Destroy(pending, atom, edges)
                receipt = store.commit([command], pending.actor, request=request)[0]
                state, edges = receipt.state, edges[command.done.edges :]
                events += receipt.events
                total.payloads += command.done.payloads
                total.size += command.done.size
                total.edges += command.done.edges
                total.contents += command.done.contents
                if edges:
                    store.follow(more=True)  # the next commits push these events out of the cache
        purged = finish(store, pending, progress)
    return total, events, purged


def finish(store: Store, pending: Pending, progress: Stage = ignore_stage) -> bool:
    """Carry out the stages after the commits. Call this function only inside `store.exclusive()`.

    Returns:
        Whether the backend's files were rewritten (`Backend.purge`).
    """
    progress("followers")
    store.follow()  # this also clears `store.recent`
    store.index.forget()  # its caches still contain values that were derived from the destroyed events
    progress("files")
    purged = store.backend.purge()
    row = encode_pending(pending)
    if store.backend.get(ERASING) == row:
        done = Batch()
        done.delete(ERASING)
        store.backend.write(done, guard=Guard(ERASING, row), durable=True)
    return purged


def resume(store: Store) -> None:
    """If this or another process left an erasure unfinished, finish that erasure.

    In a store that can only be read, the erasure stays unfinished.

    Raises:
        BackendBusy: another process holds the store's lock or an open snapshot.
    """
    if store.backend.get(ERASING) is None or store.backend.unwritable is not None:
        return
    with store.exclusive():
        pending = read_pending(store.backend)
        if pending is not None:
            carry_out(store, pending)
