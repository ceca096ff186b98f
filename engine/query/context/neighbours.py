"""Reads hits and the neighbouring atoms in the same sources, for `engine.query.context.windows`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.base.validation import atom_id, show_id
from engine.followers.tags import LIVE, members
from engine.index.index_view import IndexView
from engine.ledger.journal import read_log
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.context.passages import Passage, Position
from engine.query.context.windows import (
    Context,
    checked_budget,
    hits_wanted,
    inflate,
    query_rarity,
    radius_of,
)
from engine.query.filters import NO_FILTERS, Filters, answering, in_categories, maybe_superseded
from engine.query.recall.recall import recall
from engine.query.recall.superseded import SupersededAtoms
from engine.query.view import View
from engine.query.written_days import day_written, note_of
from engine.text.language.question import analyze_question
from proofs.events import AtomBody
from proofs.leaves import Group


def context(rows: Reader, view: View, query: str, budget: int, filters: Filters = NO_FILTERS) -> Context:
    """Return the hits of a question and their neighbours in their sources. All returned atoms pass `filters`.

    `rows` is a snapshot of `view`, with records, tags and index at the head.

    Raises:
        InvalidInputError: the budget is too small, the query has no word to search for, or a filter is
            not valid for its field.
        CorruptionError: a row is missing or malformed, or rows contradict each other.
    """
    limit = hits_wanted(checked_budget(budget))
    recalled = recall(rows, view, query, limit=limit, filters=filters, per_page=0)
    index = view.store.index.view(rows)
    # As in BM25, document frequencies count all atoms, including those that the filters exclude.
    frequencies = [index.df(term) for term in recalled.terms]
    radius = radius_of(budget, query_rarity(index.counted, frequencies))
    asked = analyze_question(query, now=read_log(rows).time).asks_when
    sources = SourceReader(rows, index, filters, asks_when=asked)
    hits = sources.passages({atom_id(hit.id): hit.score for hit in recalled.hits})
    leads = recalled.leads()
    hits.sort(key=lambda passage: passage.id not in leads)
    shown = inflate(
        *(recalled.query, hits, sources.passage_at),
        budget=budget,
        radius=radius,
        size=recalled.size,
        leads=max(1, len(leads)),
    )
    return replace(shown, matched=recalled.matched, unknown_tags=recalled.unknown_tags)


class SourceReader:
    """Reads atoms by their positions in a source. It must not be used after the rows have changed.

    All live atoms of a source have a position, including those that the filters exclude. So the atoms before
    and after an excluded atom are not neighbours of each other. The methods raise CorruptionError if rows
    contradict each other.
    """

    def __init__(self, rows: Reader, index: IndexView, filters: Filters, *, asks_when: bool = False) -> None:
        """Create a reader of a snapshot and its index. It returns only neighbours that pass `filters`.

        With `asks_when`, the headings of all passages show the days of their texts.
        """
        self._asks_when = asks_when
        self._rows = rows
        self._index = index
        self._categories = filters.categories
        self._allowed = answering(rows, filters)
        self._superseded = SupersededAtoms(rows, index, maybe_superseded(rows, filters))
        self._live = members(rows, LIVE)
        self._ordinals: dict[str, NDArray[np.int64]] = {}
        self._read: dict[Position, Passage | None] = {}

    def passages(self, scores: Mapping[bytes, float]) -> list[Passage]:
        """Return one passage for each hit. A passage has the hit's position in its source.

        `scores` maps the id of each hit to its score. The passages are in the order of `scores`.
        """
        records = records_of(self._rows, list(scores))
        bodies = bodies_of(self._rows, records)
        positions: dict[int, Position] = {}
        for source, hits in _by_source(records).items():
            ordered = self._ordinals[source] = self._in_order(source)
            for ordinal in hits:
                for number in (ordered == ordinal).nonzero()[0].tolist():
                    positions[ordinal] = Position(source, number)
        return [
            self._passage(record, body, positions.get(record.ordinal), scores[record.id])
            for record, body in zip(records, bodies, strict=True)
        ]

    def passage_at(self, position: Position) -> Passage | None:
        """Return the atom at a position in a hit's source, or None if no atom there passes the filters."""
        if position not in self._read:
            self._read[position] = self._load(position)
        return self._read[position]

    def _load(self, position: Position) -> Passage | None:
        ordered = self._ordinals[position.source]
        if not 0 <= position.number < len(ordered) or int(ordered[position.number]) not in self._allowed:
            return None
        ordinal = int(ordered[position.number])
        if self._superseded.is_superseded(ordinal):
            return None
        (record,) = records_of(self._rows, ids_at(self._rows, [ordinal]))
        if record.ordinal != ordinal or record.source != position.source:
            raise _contradiction(record)
        (body,) = bodies_of(self._rows, [record])
        wanted = in_categories(body, record.tags, self._categories)
        return self._passage(record, body, position) if wanted else None

    def _passage(
        self, record: AtomRecord, body: AtomBody, position: Position | None, score: float = 0.0
    ) -> Passage:
        if position is None and record.source is not None and record.sequence is not None:
            raise _contradiction(record)
        day = day_written(record, body)
        return Passage(
            id=show_id(record.id),
            content=body.content,
            title=record.title,
            source=record.source,
            sequence=record.sequence,
            position=position,
            score=score,
            provenance=record.provenance,
            day="" if day is None else day.isoformat(),
            when=note_of(day, body.content, asked=self._asks_when),
        )

    def _in_order(self, source: str) -> NDArray[np.int64]:
        """Return the ordinals of the live atoms of a source, ordered by sequence.

        Atoms without a sequence are left out.
        """
        there = members(self._rows, (Group.SOURCE, source)) & self._live
        ordinals = np.frombuffer(there.to_array(), np.uint32).astype(np.int64)
        sequences = self._index.facts.sequences[ordinals]
        ordinals, sequences = ordinals[sequences > 0], sequences[sequences > 0]
        # Ordinals are ascending already, and a stable sort keeps that order among equal sequences.
        return ordinals[sequences.argsort(kind="stable")]


def _by_source(records: Iterable[AtomRecord]) -> dict[str, list[int]]:
    """Map each source to the ordinals of its records. Records without a sequence are left out."""
    sequences: dict[str, list[int]] = {}
    for record in records:
        if record.source is not None and record.sequence is not None:
            sequences.setdefault(record.source, []).append(record.ordinal)
    return sequences


def _contradiction(record: AtomRecord) -> CorruptionError:
    return CorruptionError(
        f"atom {show_id(record.id)} is missing from the set of its source", hint="run `engine rebuild`"
    )
