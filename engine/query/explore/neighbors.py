"""What an atom or a tag is connected to, as triples `subject → predicate → object`.

Edges first, in the order of (type, other end), as "Edges & Graph" walks them; then what is no edge: an
atom's tags, and the atoms beside it in its source. Hidden atoms and hidden edges are no neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Final

import numpy as np

from engine.base import limits
from engine.base.model import Direction
from engine.base.validation import integer, positive
from engine.followers.tags import members
from engine.ledger.queries import data_of, edges_at, far_end, record_at, source_in
from engine.ledger.records import AtomRecord, EdgeRecord, read_atom, type_name
from engine.query.explore.answers import Node, Triple
from engine.query.explore.scope import Scope
from proofs.leaves import State
from proofs.sets import Group, tag_identity

HAS_TAG: Final = "has tag"
NEXT: Final = "next in source"
"""No edge type has a space in its name."""

NEIGHBORS_MAX: Final = 100
"""Most triples of one page."""


def node_of(scope: Scope, found: AtomRecord | str) -> Node:
    """An atom or a tag as an answer names it."""
    if isinstance(found, str):
        return Node(None, f"#{found}")
    return Node(scope.short_id(found.id), scope.name(found))


def page_of(
    scope: Scope, found: AtomRecord | str, way: Direction, limit: int, offset: int
) -> tuple[tuple[Triple, ...], int | None]:
    """The triples from `offset` on, at most `limit`, and where the next page begins if there is one.

    Raises:
        InvalidInputError: a bound is out of range.
    """
    positive(limit, "limit", NEIGHBORS_MAX)
    start = integer(offset, "offset", limits.ORDINAL_MAX)
    triples = _of_tag(scope, found, way) if isinstance(found, str) else _of_atom(scope, found, way)
    page = list(islice(triples, start, start + limit + 1))
    return tuple(make() for make in page[:limit]), start + limit if len(page) > limit else None


Later = Callable[[], Triple]
"""A triple that is made only if it is on the page: names and ids take most of the time."""


def _of_tag(scope: Scope, tag: str, way: Direction) -> Iterator[Later]:
    if way is Direction.OUT:
        return
    for ordinal in members(scope.rows, (Group.TAG, tag)) & scope.live:
        yield partial(_has_tag, scope, ordinal, tag)


def _has_tag(scope: Scope, ordinal: int, tag: str) -> Triple:
    record = record_at(scope.rows, ordinal)
    return Triple(scope.name(record), HAS_TAG, f"#{tag}", "in", scope.short_id(record.id), None)


def _of_atom(scope: Scope, record: AtomRecord, way: Direction) -> Iterator[Later]:
    own = scope.name(record)
    for edge in edges_at(scope.rows, record.id, way, ()):
        other = read_atom(scope.rows, far_end(edge, record.id))
        if other is not None and other.state is State.LIVE:
            yield partial(_of_edge, scope, edge, own, record.id, other)
    if way is not Direction.IN:
        for tag in sorted(record.tags, key=tag_identity):
            yield partial(Triple, own, HAS_TAG, f"#{tag}", "out", None, None)
        yield from _beside(scope, record, own, after=True)
    if way is not Direction.OUT:
        yield from _beside(scope, record, own, after=False)


def _of_edge(scope: Scope, edge: EdgeRecord, own: str, atom: bytes, other: AtomRecord) -> Triple:
    told = data_of(edge)
    exact = told.get("predicate")  # where it is no label (`engine.knowledge`)
    kind = exact if isinstance(exact, str) else type_name(scope.rows, edge.type)
    name, said = scope.name(other), _short_of_live(scope, source_in(told))
    if edge.src == atom:
        return Triple(own, kind, name, "out", scope.short_id(other.id), said)
    return Triple(name, kind, own, "in", scope.short_id(other.id), said)


def _short_of_live(scope: Scope, atom: bytes | None) -> str | None:
    """The short id of an atom, if it is live."""
    record = None if atom is None else read_atom(scope.rows, atom)
    return scope.short_id(record.id) if record is not None and record.state is State.LIVE else None


def _beside(scope: Scope, record: AtomRecord, own: str, *, after: bool) -> Iterator[Later]:
    found = scope.places.beside(np.array([record.ordinal], np.int64), scope.live_mask, after=after)
    if found[0] < 0:
        return
    other = record_at(scope.rows, int(found[0]))
    if other.source != record.source:  # the index knows sources by a hash of 64 bits
        return
    name, short = scope.name(other), scope.short_id(other.id)
    ends = (own, NEXT, name, "out") if after else (name, NEXT, own, "in")
    yield partial(Triple, *ends, short, None)
