"""What stands beside hits in their sources: read from a store, for `engine.query.context.windows`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.base.validation import atom_id, show_id
from engine.followers.index_view import IndexView
from engine.followers.tags import LIVE, members
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.context.windows import (
    Context,
    Passage,
    Place,
    checked_budget,
    hits_wanted,
    inflate,
    radius_of,
    rarity,
)
from engine.query.filters import NO_FILTERS, Filters, answering, in_categories, maybe_superseded
from engine.query.recall.recall import recall
from engine.query.recall.retired import SupersededAtoms
from engine.query.view import View
from proofs.events import AtomBody
from proofs.sets import Group


def context(rows: Reader, asked: View, query: str, budget: int, filters: Filters = NO_FILTERS) -> Context:
    """The hits of a question with the atoms near them, as far as `filters` lets these through.

    `rows` is a snapshot of `asked`, with records, tags and index at the head.

    Raises:
        InvalidInputError: the budget is too small, the query has nothing to search for, or a filter is
            not what its field may hold.
        CorruptionError: a row is missing or malformed, or rows contradict each other.
    """
    limit = hits_wanted(checked_budget(budget))
    found = recall(rows, asked, query, limit=limit, filters=filters)
    view = asked.store.index.view(rows)
    # How many mention a word is counted over all atoms, whatever the filters let through, as in BM25.
    frequencies = [view.df(term) for term in found.terms]
    radius = radius_of(budget, rarity(view.counted, frequencies))
    sources = Sources(rows, view, filters)
    hits = sources.pieces({atom_id(hit.id): hit.score for hit in found.hits})
    return inflate(found.query, hits, sources.beside, budget=budget, radius=radius, size=found.size)


class Sources:
    """Where atoms stand in their sources. Valid as long as the rows do not change.

    Positions are counted among all live atoms of a source: one that is filtered away keeps its place, and
    so nothing beyond it passes for its neighbour. Rows that contradict each other are a CorruptionError.
    """

    def __init__(self, rows: Reader, view: IndexView, filters: Filters) -> None:
        """`view` is the index as of `rows`; `filters`: what neighbours must be."""
        self._rows = rows
        self._view = view
        self._categories = filters.categories
        self._allowed = answering(rows, filters)
        self._retired = SupersededAtoms(rows, view, maybe_superseded(rows, filters))
        self._live = members(rows, LIVE)
        self._lines: dict[str, NDArray[np.int64]] = {}
        self._read: dict[Place, Passage | None] = {}

    def pieces(self, scores: Mapping[bytes, float]) -> list[Passage]:
        """The hits with these ids and scores, in their order, with their places."""
        records = records_of(self._rows, list(scores))
        bodies = bodies_of(self._rows, records)
        places: dict[int, Place] = {}
        for source, ordinals in _by_source(records).items():
            line = self._lines[source] = self._line(source)
            for ordinal in ordinals:
                for number in (line == ordinal).nonzero()[0].tolist():
                    places[ordinal] = Place(source, number)
        return [
            _piece(record, body, places.get(record.ordinal), scores[record.id])
            for record, body in zip(records, bodies, strict=True)
        ]

    def beside(self, place: Place) -> Passage | None:
        """The atom at a place, if there is one that the filters let through; of a hit's source only."""
        if place not in self._read:
            self._read[place] = self._piece_at(place)
        return self._read[place]

    def _piece_at(self, place: Place) -> Passage | None:
        line = self._lines[place.source]
        if not 0 <= place.number < len(line) or int(line[place.number]) not in self._allowed:
            return None
        ordinal = int(line[place.number])
        if self._retired.is_superseded(ordinal):
            return None
        (record,) = records_of(self._rows, ids_at(self._rows, [ordinal]))
        if record.ordinal != ordinal or record.source != place.source:
            raise _contradiction(record)
        (body,) = bodies_of(self._rows, [record])
        return _piece(record, body, place) if in_categories(body, record.tags, self._categories) else None

    def _line(self, source: str) -> NDArray[np.int64]:
        """The live atoms of a source that have a sequence, in its order."""
        there = members(self._rows, (Group.SOURCE, source)) & self._live
        ordinals = np.frombuffer(there.to_array(), np.uint32).astype(np.int64)
        sequences = self._view.facts.sequences[ordinals]
        ordinals, sequences = ordinals[sequences > 0], sequences[sequences > 0]
        # Ordinals ascend already, and a stable sort keeps that among equals.
        return ordinals[sequences.argsort(kind="stable")]


def _by_source(records: Iterable[AtomRecord]) -> dict[str, list[int]]:
    """The ordinals of those with a source and a sequence."""
    found: dict[str, list[int]] = {}
    for record in records:
        if record.source is not None and record.sequence is not None:
            found.setdefault(record.source, []).append(record.ordinal)
    return found


def _piece(record: AtomRecord, body: AtomBody, place: Place | None, score: float = 0.0) -> Passage:
    if place is None and record.source is not None and record.sequence is not None:
        raise _contradiction(record)
    return Passage(
        show_id(record.id), body.content, record.title, record.source, record.sequence, place, score
    )


def _contradiction(record: AtomRecord) -> CorruptionError:
    return CorruptionError(
        f"atom {show_id(record.id)} is not in the source that its sets say", hint="run `engine rebuild`"
    )
