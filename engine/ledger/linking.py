"""The rows of a run of new edges: journal, payloads and records, computed together (SPEC: Journal, Records).

As in `engine.ledger.adding`, the effect of such an event depends on nothing but the event. The result equals
that of `engine.ledger.journal.Appender.append` and `engine.ledger.fold.fold`, called for one event after the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.kernels import NATIVE
from engine.ledger.fold import edge_record
from engine.ledger.layout import edge_from_key, edge_to_key, journal_key, payload_key
from engine.ledger.records import encode_edge
from proofs.codec import encode_body, encode_header
from proofs.events import EdgeBody, EdgeDetail, Entry, EventKind, Header
from proofs.hashing import commitment
from proofs.log import Frontier, leaf_hash


class Linked(NamedTuple):
    """The result of a run of events that add edges."""

    rows: dict[bytes, bytes]
    """The rows of the headers, the payloads and the records."""
    entries: list[Entry]
    frontier: Frontier
    """The frontier of the log after the events."""
    size: int
    """The number of bytes of all headers and payloads."""


def linked(
    frontier: Frontier,
    actor: str,
    edges: Sequence[EdgeDetail],
    bodies: Sequence[EdgeBody],
    salts: Sequence[bytes],
    times: Sequence[int],
) -> Linked:
    """Return the rows and entries of events that add one edge each. No edge may be recorded yet.

    Args:
        frontier: The frontier of the log before the events. It is not changed.
        actor: The author of the events.
        edges: The edge of each event. No edge occurs twice.
        bodies: The body of each event.
        salts: The salt of each payload.
        times: The time of each event.

    Raises:
        ValueError: A salt does not have 32 bytes.
    """
    if NATIVE is not None:
        result = NATIVE.linked_rows(
            frontier.to_bytes(), actor, list(edges), list(bodies), list(salts), list(times)
        )
        if result is not None:
            rows, commitments, leaves, after, size = result
            entries = _entries(frontier.size, actor, edges, bodies, times, commitments, leaves)
            return Linked(rows, entries, Frontier.from_bytes(after), size)
    return linked_twin(frontier, actor, edges, bodies, salts, times)


def _entries(
    seq: int,
    actor: str,
    edges: Sequence[EdgeDetail],
    bodies: Sequence[EdgeBody],
    times: Sequence[int],
    commitments: Sequence[bytes],
    leaves: Sequence[bytes],
) -> list[Entry]:
    # Measured: `tuple.__new__` takes half of the time of the constructors of the named tuples.
    new, kind = tuple.__new__, EventKind.EDGE_ADDED
    entries = []
    for edge, body, time, mark, leaf in zip(edges, bodies, times, commitments, leaves, strict=True):
        header = new(Header, (seq, time, kind, actor, mark, None, edge))
        entries.append(new(Entry, (header, body, leaf)))
        seq += 1
    return entries


def linked_twin(
    frontier: Frontier,
    actor: str,
    edges: Sequence[EdgeDetail],
    bodies: Sequence[EdgeBody],
    salts: Sequence[bytes],
    times: Sequence[int],
) -> Linked:
    """Do the work of `linked` in Python. The arguments and the result are those of `linked`."""
    rows: dict[bytes, bytes] = {}
    entries = []
    frontier = frontier.copy()
    size = 0
    for edge, body, salt, time in zip(edges, bodies, salts, times, strict=True):
        seq = frontier.size
        raw_body = encode_body(body)
        header = Header(seq, time, EventKind.EDGE_ADDED, actor, commitment(salt, raw_body), None, edge)
        raw_header = encode_header(header)
        leaf = leaf_hash(raw_header)
        frontier.append(leaf)
        rows[journal_key(seq)] = raw_header
        rows[payload_key(seq)] = payload = salt + raw_body
        record = encode_edge(edge_record(header, edge, body, None))
        rows[edge_from_key(*edge)] = rows[edge_to_key(*edge)] = record
        entries.append(Entry(header, body, leaf))
        size += len(raw_header) + len(payload)
    return Linked(rows, entries, frontier, size)
