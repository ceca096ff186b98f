"""Find atoms that pass filters, or atoms that edges connect to an atom (SPEC: Edges & Graph).

A search along edges is called a walk. A walk is breadth-first and has a limited length. It visits neighbours
in the byte order of (type, id), so the same store gives the same answer on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from backends.base import Reader
from engine.base import limits
from engine.base.errors import ConflictError, InvalidInputError, NotFoundError
from engine.base.model import Atom, Direction, Edge
from engine.base.validation import (
    atom_id,
    choice,
    instance,
    integer,
    optional_integer,
    positive,
    several,
    show_id,
)
from engine.commands.edges import TypeName, known_type
from engine.ledger.queries import atom_of, edge_of, edges_at, far_end, get_record, record_at
from engine.ledger.records import AtomRecord, read_atom, read_edge
from engine.query.filters import NO_FILTERS, Filters, allowed, meets_categories
from engine.query.mentioned import mentioning
from engine.text.language.snippets import beginning
from proofs.events import EdgeDetail
from proofs.leaves import State
from proofs.limits import ORDINAL_MAX

Placed = TypeVar("Placed", Edge, "Found")

MEDIUM_CHARS = 200

FIND_LIMIT = 100
"""The largest number of results if the caller gives no limit."""


class Form(StrEnum):
    """The parts of each found atom that a result contains."""

    SHORT = "short"
    """The id and the title."""
    MEDIUM = "medium"
    """The id, the title and the first 200 characters."""
    FULL = "full"
    """The id, the title and the whole atom."""


@dataclass(frozen=True, slots=True)
class Follow:
    """The edges that a walk follows, and the distances at which it returns atoms.

    A walk returns atoms that are `min_hops` to `max_hops` edges away; `max_hops` is at most 6 (MAX_HOPS_CAP).
    A walk does not follow tombstoned edges. It does not return tombstoned atoms or pass through them, but it
    may start at a tombstoned atom.
    """

    types: tuple[TypeName, ...] = ()
    """The edge types that the walk follows. If it is empty, the walk follows all types."""
    direction: Direction = Direction.OUT
    min_hops: int = 1
    max_hops: int = 1


@dataclass(frozen=True, slots=True)
class Found:
    """An atom that was found.

    `hops` is the number of edges between the start of the walk and the atom, or 0 if there was no walk.
    """

    id: str
    hops: int
    title: str | None
    text: str | None
    atom: Atom | None
    ordinal: int
    """The number of the version that passed, by which the atoms are ordered if there was no walk."""

    @property
    def place(self) -> int:
        """The place of the atom in a list of atoms that were found: its ordinal."""
        return self.ordinal


def find(
    rows: Reader,
    *,
    from_: str | None = None,
    follow: Follow | None = None,
    filters: Filters = NO_FILTERS,
    limit: int = FIND_LIMIT,
    form: Form | str = Form.MEDIUM,
    mentions: Sequence[str] = (),
    hidden: bool = False,
    after: int | None = None,
) -> list[Found]:
    """Return at most `limit` live atoms that pass `filters` and mention one of `mentions`, if there are any.

    With `hidden`, also return tombstoned atoms, and atoms of which only an earlier version passes.

    With `from_`, return only the atoms that a walk from that atom reaches, ordered by distance. Without
    `from_`, the atoms are ordered by ordinal. With `after`, the place of a result, the atoms
    begin after it.

    Raises:
        InvalidInputError: a limit or a number of hops is out of range, or `follow` is given without `from_`.
        NotFoundError: the start or an edge type was never recorded.
        ConflictError: the walk does not reach `after`, in the version that it has there, any more.
    """
    instance(filters, Filters, "filters")
    if follow is not None:
        instance(follow, Follow, "follow")
    shown = choice(Form, form, "form")
    positive(limit, "limit", limits.RESULTS_MAX)
    optional_integer(after, "after", ORDINAL_MAX)
    if from_ is None and follow is not None:
        raise InvalidInputError("`follow` needs an atom to start from: give `from_`")
    passing, wanted = allowed(rows, filters, hidden=hidden), filters.categories
    names = mentioning(rows, mentions, hidden=hidden) if mentions else None
    reached: Iterator[tuple[AtomRecord, int, int]]
    if from_ is None:
        first = 0 if after is None else after + 1
        later = passing if hidden else (ordinal for ordinal in passing if ordinal >= first)
        reached = ((record, 0, ordinal) for record, ordinal in _recorded(rows, later) if ordinal >= first)
    else:
        walk = _walk(rows, atom_id(from_, "from"), follow or Follow())
        reached = ((record, hops, record.ordinal) for record, hops in walk)
        if after is not None and all(ordinal != after for _, _, ordinal in reached):
            raise ConflictError(
                f"the walk does not reach the atom with the ordinal {after} any more",
                hint="begin again, or ask for one moment",
            )
    hits: list[Found] = []
    for record, hops, ordinal in reached:
        is_hit = record.ordinal in passing or (hidden and from_ is None)
        if not is_hit or (names is not None and record.id not in names):
            continue
        if meets_categories(rows, record, wanted):
            hits.append(_shown(rows, record, hops, ordinal, shown))
            if len(hits) == limit:
                break
    return hits


def _recorded(rows: Reader, ordinals: Iterable[int]) -> Iterator[tuple[AtomRecord, int]]:
    """Yield the record of each atom that has one of the ordinals and is not erased, once, with the first."""
    seen: set[bytes] = set()
    for ordinal in ordinals:
        record = record_at(rows, ordinal)
        if record.state is not State.ERASED and record.id not in seen:
            seen.add(record.id)
            yield record, ordinal


def get_edge(rows: Reader, src: str, type: TypeName, dst: str) -> Edge:  # noqa: A002
    """Return the edge of this type from `src` to `dst`. A tombstoned edge is returned, too.

    Raises:
        NotFoundError: the edge was never recorded.
    """
    record = read_edge(rows, atom_id(src), known_type(rows, type), atom_id(dst))
    if record is None:
        raise NotFoundError(f"there is no edge of type {type} from {src} to {dst}")
    return edge_of(rows, record)


def get_edges(
    rows: Reader,
    id: str,  # noqa: A002
    *,
    direction: Direction | str = Direction.OUT,
    types: Sequence[TypeName] = (),
    tombstoned: bool = False,
    limit: int = limits.RESULTS_MAX,
    after: tuple[str, str, str] | None = None,
) -> list[Edge]:
    """Return at most `limit` edges from or to an atom, ordered by type, then by the atom at the other end.

    With `after`, the place of an edge, the edges begin after it, whether or not it still exists.

    Raises:
        InvalidInputError: `after` is no edge of the atom.
        NotFoundError: the atom or a type was never recorded.
    """
    codes = [known_type(rows, kind) for kind in several(types, "types")]
    atom = get_record(rows, atom_id(id)).id
    last = None if after is None else _detail(rows, after)
    if last is not None and atom not in (last.src, last.dst):
        raise InvalidInputError(f"`after` is no edge of {id}")
    way = choice(Direction, direction, "direction")
    edges = edges_at(rows, atom, way, codes, tombstoned=tombstoned, after=last)
    most = integer(limit, "limit", limits.RESULTS_MAX)
    return [edge_of(rows, record) for record in islice(edges, most)]


def _detail(rows: Reader, place: tuple[str, str, str]) -> EdgeDetail:
    if not isinstance(place, (tuple, list)) or len(place) != 3:
        raise InvalidInputError("`after` must be the source, the type and the target of an edge")
    return EdgeDetail(atom_id(place[0]), known_type(rows, place[1]), atom_id(place[2]))


def every(
    call: Callable[..., list[Placed]], *given: object, limit: int | None = None, **named: object
) -> Iterator[Placed]:
    """Yield all results of a call of `find` or `edges`, however many: `every(memory.edges, hub)`.

    The results are read in several calls, each of which continues after the last result. What other callers
    change meanwhile may be seen or not; what exists throughout is yielded once, except that an atom that is
    revised is found again as a newer version. `as_of=` shows one moment.

    Args:
        call: The method `find` or `edges` of a memory.
        given: The positional arguments of the call.
        limit: The maximum number of results; None for all.
        named: The keyword arguments of the call.
    """
    after, left = None, sys.maxsize if limit is None else limit
    while left:
        page = call(*given, limit=min(left, limits.RESULTS_MAX), after=after, **named)
        yield from page
        if len(page) < min(left, limits.RESULTS_MAX):
            return
        after, left = page[-1].place, left - len(page)


def _walk(rows: Reader, start: bytes, follow: Follow) -> Iterator[tuple[AtomRecord, int]]:
    direction = choice(Direction, follow.direction, "direction")
    fewest, most = _hops(follow)
    codes = [known_type(rows, kind) for kind in several(follow.types, "types")]
    first = get_record(rows, start)
    if fewest == 0:
        yield first, 0
    seen, level = {start}, [start]
    for hops in range(1, most + 1):
        reached = []
        for atom in level:
            for edge in edges_at(rows, atom, direction, codes):
                other = far_end(edge, atom)
                if other in seen:
                    continue
                seen.add(other)
                record = read_atom(rows, other)
                # A hidden atom is not returned, and the walk does not pass through it.
                if record is None or record.state is not State.LIVE:
                    continue
                reached.append(other)
                if hops >= fewest:
                    yield record, hops
        level = reached


def _hops(follow: Follow) -> tuple[int, int]:
    most = integer(follow.max_hops, "max_hops", limits.MAX_HOPS_CAP)
    fewest = integer(follow.min_hops, "min_hops")
    if fewest > most:
        raise InvalidInputError(
            f"the minimum number of hops, {fewest}, is above the maximum number of hops, {most}"
        )
    return fewest, most


def _shown(rows: Reader, record: AtomRecord, hops: int, ordinal: int, form: Form) -> Found:
    atom = None if form is Form.SHORT else atom_of(rows, record)
    return Found(
        id=show_id(record.id),
        hops=hops,
        title=record.title,
        text=beginning(atom.content, MEDIUM_CHARS) if atom and form is Form.MEDIUM else None,
        atom=atom if form is Form.FULL else None,
        ordinal=ordinal,
    )
