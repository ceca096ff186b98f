"""The origin of an atom: its source, the atoms that it was derived from, and the events on it."""

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
from engine.ledger.subject_history import subject_history
from proofs.leaves import EdgeType, State

ATOMS_MAX: Final = 100
"""The largest number of atoms in the result of `why`."""

EDGES_MAX: Final = 20
"""At most this many edges of one atom are followed."""

_DERIVATION: Final = (EdgeType.DERIVED_FROM, EdgeType.SUPERSEDES)
"""The types of edges from an atom to the atoms that it was derived from."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One event that changed an atom."""

    seq: int
    time: int
    actor: str
    what: str
    """The kind of change: `added`, `revised`, `tombstoned`, …"""
    device: str | None = None
    """The id of the store of another device in which the change was made; None for this store."""


@dataclass(frozen=True, slots=True)
class Newer:
    """An atom that superseded another atom. It has a live edge `supersedes` to that atom.

    `at` is the time of the edge in microseconds since 1970 (UTC).
    """

    id: str
    at: int
    actor: str
    reason: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An atom was given to a session, according to a receipt (`engine.capture.served`)."""

    at: int
    """The time in microseconds since 1970 (UTC)."""
    to: str
    """The client, or `mcp`, whose server does not know the session."""
    session: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The queried atom, or an atom from which the queried atom was derived in `hops` steps."""

    id: str
    hops: int
    by: str
    """The relation that led to the atom: `derived_from`, `supersedes` or `source of …`. It is empty for the
    queried atom."""
    state: State
    title: str | None
    kind: str
    source: str | None
    sequence: int | None
    key: str | None
    provenance: str
    trust: int | None
    superseded_by: tuple[Newer, ...]
    """The atoms that superseded this atom; at most 20."""
    causes: tuple[Cause, ...]
    """The events on this atom, the oldest first."""
    shown: tuple[Shown, ...] = ()
    """To whom the queried atom was given, the oldest first, as far as receipts are kept."""


def why(rows: Reader, atom: bytes) -> tuple[Origin, ...]:
    """Return the atom and the atoms from which it was derived, in breadth-first order.

    At most 100 atoms are returned. Each is at most 6 steps away from the first atom. From an atom, the search
    follows the live edges `derived_from` and `supersedes`. The relations of an entity can name atoms as their
    sources (`engine relate --source`). From an entity, the search continues with these atoms.

    Raises:
        NotFoundError: the atom was never recorded.
    """
    record = get_record(rows, atom)
    explained, level = {atom: _origin(rows, record, 0, "")}, [record]
    for hops in range(1, limits.MAX_HOPS_CAP + 1):
        reached = []
        for one in level:
            for other, by in _before(rows, one):
                earlier = read_atom(rows, other)
                if other in explained or earlier is None or len(explained) == ATOMS_MAX:
                    continue
                explained[other] = _origin(rows, earlier, hops, by)
                reached.append(earlier)
        level = reached
    return tuple(explained.values())


def _before(rows: Reader, record: AtomRecord) -> Iterator[tuple[bytes, str]]:
    """Yield the id of each atom from which an atom was derived, with the relation between the two atoms."""
    codes = [bytes([kind]) for kind in _DERIVATION]
    for edge in islice(edges_at(rows, record.id, Direction.OUT, codes), EDGES_MAX):
        yield edge.dst, type_name(rows, edge.type)
    for edge in islice(edges_at(rows, record.id, Direction.BOTH, ()), EDGES_MAX):
        named = source_in(data_of(edge))
        if named is not None:
            yield named, f"source of {type_name(rows, edge.type)}"


def _origin(rows: Reader, record: AtomRecord, hops: int, by: str) -> Origin:
    headers = (entry.header for entry in subject_history(rows, record.last_seq))
    causes = tuple(
        Cause(
            one.seq,
            one.time if one.origin is None else one.origin.time,
            one.actor,
            one.kind.name.lower().removeprefix("atom_").replace("_", " "),
            None if one.origin is None else show_id(one.origin.store_id),
        )
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
        text = reason if isinstance(reason, str) else ""
        yield Newer(show_id(edge.src), edge.created_at, edge.created_by, text)
