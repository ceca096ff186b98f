"""Asking a memory on behalf of a framework: the hits, with their whole texts and other fields."""

from __future__ import annotations

from dataclasses import dataclass

from engine.base.errors import InvalidInputError, translated
from engine.base.times import shown_time
from engine.engine import Engine
from engine.frameworks.reading import live_records
from engine.ledger.queries import bodies_of
from engine.query.filters import Filters
from engine.query.recall.recall_answer import Hit
from engine.text.language.question import analyze_question


@dataclass(frozen=True, slots=True)
class Answered:
    """An atom that answers a question."""

    id: str
    content: str
    metadata: dict[str, object]
    """The other fields of the atom. Fields without a value are left out. Times are in ISO 8601."""


def hits_of(memory: Engine, query: str, most: int, filters: Filters) -> tuple[Hit, ...]:
    """Return at most `most` hits of a recall. A question without a searchable word has no hits.

    Raises:
        InvalidInputError: The question is too long, or `most` or `filters` is not valid.
    """
    try:
        return memory.recall(query, limit=most, filters=filters).hits
    except InvalidInputError:
        if query.strip() and analyze_question(query).terms:
            raise
        return ()


def answered(memory: Engine, query: str, most: int, filters: Filters) -> list[Answered]:
    """Return the atoms that answer a question best, with their whole texts.

    An atom that is hidden while this function runs is left out.

    Raises:
        InvalidInputError: The question is too long, or `most` or `filters` is not valid.
    """
    hits = {hit.id: hit for hit in hits_of(memory, query, most, filters)}
    with translated(), memory.store.view() as rows:
        records = live_records(rows, list(hits))
        bodies = bodies_of(rows, list(records.values()))
    return [
        Answered(
            id=one,
            content=body.content,
            metadata={
                name: value
                for name, value in {
                    "id": one,
                    "score": hits[one].score,
                    "source": record.source,
                    "title": hits[one].heading,
                    "tags": list(record.tags),
                    "kind": record.kind,
                    "provenance": record.provenance,
                    "trust": record.trust,
                    "created": shown_time(record.created),
                    "updated": shown_time(record.updated),
                    "meta": dict(body.meta or {}),
                }.items()
                if value not in (None, [], {})
            },
        )
        for (one, record), body in zip(records.items(), bodies, strict=True)
    ]
