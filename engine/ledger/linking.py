"""Runs of events that add edges which were never recorded."""

from __future__ import annotations

from collections.abc import Sequence

from engine.kernels import NATIVE
from engine.ledger.fold import edge_record
from engine.ledger.layout import edge_from_key, edge_to_key
from engine.ledger.records import encode_edge
from engine.ledger.runs import Run, run_of, run_twin
from proofs.events import EdgeBody, EdgeDetail, EventKind, Header
from proofs.log import Frontier


def linked(
    frontier: Frontier,
    actor: str,
    edges: Sequence[EdgeDetail],
    bodies: Sequence[EdgeBody],
    salts: Sequence[bytes],
    times: Sequence[int],
) -> Run:
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
        encoded = NATIVE.linked_rows(
            frontier.to_bytes(), actor, list(edges), list(bodies), list(salts), list(times)
        )
        if encoded is not None:
            return run_of(encoded, frontier.size, EventKind.EDGE_ADDED, actor, edges, bodies, times)
    return linked_twin(frontier, actor, edges, bodies, salts, times)


def linked_twin(
    frontier: Frontier,
    actor: str,
    edges: Sequence[EdgeDetail],
    bodies: Sequence[EdgeBody],
    salts: Sequence[bytes],
    times: Sequence[int],
) -> Run:
    """Do the work of `linked` in Python. The arguments and the result are the same as for `linked`."""
    return run_twin(frontier, EventKind.EDGE_ADDED, actor, edges, bodies, salts, times, _record_rows)


def _record_rows(header: Header, edge: EdgeDetail, body: EdgeBody) -> dict[bytes, bytes]:
    record = encode_edge(edge_record(header, edge, body, None))
    return {edge_from_key(*edge): record, edge_to_key(*edge): record}
