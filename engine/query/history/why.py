"""Why an atom is there: who brought it, from where, what it was derived from, and who changed it since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from backends.base import Reader
from engine.base import limits
from engine.base.model import Direction
from engine.base.validation import show_id
from engine.ledger.queries import data_of, edges_at, get_record, source_in
from engine.ledger.records import AtomRecord, read_atom, type_name
from engine.store.past import subject_history
from proofs.leaves import EdgeType, State

ATOMS_MAX: Final = 100
"""So many atoms a derivation is followed through."""

EDGES_MAX: Final = 20
"""So many edges of one atom are followed."""

_BACK: Final = (EdgeType.DERIVED_FROM, EdgeType.SUPERSEDES)
"""Edges from an atom to what it was made of."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One event that made an atom what it is."""

    seq: int
    time: int
    actor: str
    what: str
    """`added`, `revised`, `tombstoned`, …"""


@dataclass(frozen=True, slots=True)
class Newer:
    """An atom that took the place of another, by a live edge `supersedes`. `at` is µs UTC."""

    id: str
    at: int
    actor: str
    reason: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an atom comes from, `hops` steps of derivation before the one that was asked about."""

    id: str
    hops: int
    by: str
    """How the one before leads here: nothing for the first; `derived_from`, `supersedes`, `source of …`."""
    state: State
    title: str | None
    kind: str
    source: str | None
    sequence: int | None
    key: str | None
    provenance: str
    trust: int | None
    superseded_by: tuple[Newer, ...]
    """What took its place; at most 20."""
    causes: tuple[Cause, ...]
    """The events on it, the oldest first."""


def why(rows: Reader, atom: bytes) -> tuple[Origin, ...]:
    """The atom, and breadth first what it was derived from; at most 100 atoms, at most 6 steps back.

    Followed are live edges `derived_from` and `supersedes` from an atom, and for an entity the atoms that
    relations name as their source (`engine relate --source`).

    Raises:
        NotFoundError: it was never recorded.
    """
    record = get_record(rows, atom)
    found, level = {atom: _origin(rows, record, 0, "")}, [record]
    for hops in range(1, limits.MAX_HOPS_CAP + 1):
        reached = []
        for one in level:
            for other, by in _before(rows, one):
                earlier = read_atom(rows, other)
                if other in found or earlier is None or len(found) == ATOMS_MAX:
                    continue
                found[other] = _origin(rows, earlier, hops, by)
                reached.append(earlier)
        level = reached
    return tuple(found.values())


def _before(rows: Reader, record: AtomRecord) -> Iterator[tuple[bytes, str]]:
    codes = [bytes([kind]) for kind in _BACK]
    for edge in islice(edges_at(rows, record.id, Direction.OUT, codes), EDGES_MAX):
        yield edge.dst, type_name(rows, edge.type)
    for edge in islice(edges_at(rows, record.id, Direction.BOTH, ()), EDGES_MAX):
        named = source_in(data_of(edge))
        if named is not None:
            yield named, f"source of {type_name(rows, edge.type)}"


def _origin(rows: Reader, record: AtomRecord, hops: int, by: str) -> Origin:
    headers = (entry.header for entry in subject_history(rows, record.last_seq))
    causes = tuple(
        Cause(one.seq, one.time, one.actor, one.kind.name.lower().removeprefix("atom_").replace("_", " "))
        for one in headers
    )
    return Origin(
        id=show_id(record.id),
        hops=hops,
        by=by,
        state=record.state,
        title=record.title,
        kind=record.kind,
        source=record.source,
        sequence=record.sequence,
        key=record.key,
        provenance=record.provenance,
        trust=record.trust,
        superseded_by=tuple(_newer(rows, record)),
        causes=causes,
    )


def _newer(rows: Reader, record: AtomRecord) -> Iterator[Newer]:
    codes = [bytes([EdgeType.SUPERSEDES])]
    for edge in islice(edges_at(rows, record.id, Direction.IN, codes), EDGES_MAX):
        reason = data_of(edge).get("reason")
        said = reason if isinstance(reason, str) else ""
        yield Newer(show_id(edge.src), edge.created_at, edge.created_by, said)
