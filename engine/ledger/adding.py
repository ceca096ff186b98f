"""Runs of events that add atoms which were never recorded, and the default ids of atoms (SPEC: Atom ids)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.kernels import NATIVE
from engine.ledger.fold import content_record
from engine.ledger.layout import atom_key, ordinal_key
from engine.ledger.records import default_id_of, encode_atom
from engine.ledger.runs import Run, run_of, run_twin
from proofs.events import AtomBody, AtomDetail, EventKind, Header
from proofs.log import Frontier


def added(
    frontier: Frontier,
    ordinal: int,
    actor: str,
    ids: Sequence[bytes],
    bodies: Sequence[AtomBody],
    salts: Sequence[bytes],
    times: Sequence[int],
) -> Run:
    """Return the rows and entries of events that add one atom each. No atom may be recorded yet.

    Args:
        frontier: The frontier of the log before the events. It is not changed.
        ordinal: The ordinal of the first atom; the other atoms get the next ordinals.
        actor: The author of the events.
        ids: The id of each atom. No id occurs twice.
        bodies: The body of each event.
        salts: The salt of each payload.
        times: The time of each event.

    Raises:
        ValueError: A salt does not have 32 bytes.
    """
    if NATIVE is not None:
        encoded = NATIVE.added_rows(
            frontier.to_bytes(), ordinal, actor, list(ids), list(bodies), list(salts), list(times)
        )
        if encoded is not None:
            kind, details = EventKind.ATOM_ADDED, _details(ids, ordinal)
            return run_of(encoded, frontier.size, kind, actor, details, bodies, times)
    return added_twin(frontier, ordinal, actor, ids, bodies, salts, times)


def added_twin(
    frontier: Frontier,
    ordinal: int,
    actor: str,
    ids: Sequence[bytes],
    bodies: Sequence[AtomBody],
    salts: Sequence[bytes],
    times: Sequence[int],
) -> Run:
    """Do the work of `added` in Python. The arguments and the result are the same as for `added`."""
    kind, details = EventKind.ATOM_ADDED, _details(ids, ordinal)
    return run_twin(frontier, kind, actor, details, bodies, salts, times, _record_rows)


def _details(ids: Sequence[bytes], ordinal: int) -> list[AtomDetail]:
    return [AtomDetail(id_, number, None) for number, id_ in enumerate(ids, ordinal)]


def _record_rows(header: Header, detail: AtomDetail, body: AtomBody) -> dict[bytes, bytes]:
    record = content_record(header, detail, body, version=1, created_seq=header.seq, created=header.time)
    return {atom_key(detail.id): encode_atom(record), ordinal_key(detail.ordinal): detail.id}


def default_ids(id_key: bytes, bodies: Sequence[AtomBody]) -> list[bytes]:
    """Return, for each body, the id that its atom gets if the caller gives no id (`default_id`)."""
    if NATIVE is not None:
        ids: list[bytes] | None = NATIVE.default_ids(id_key, list(bodies))
        if ids is not None:
            return ids
    return default_ids_twin(id_key, bodies)


def default_ids_twin(id_key: bytes, bodies: Sequence[AtomBody]) -> list[bytes]:
    """Do the work of `default_ids` in Python."""
    return [default_id_of(id_key, body) for body in bodies]
