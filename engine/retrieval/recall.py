"""Recall: the hits for a question, ranked, each with where it comes from and why it is there.

    question ── analyze ──▶ terms ── anchors (BM25 over the index) ──▶ hits within what the filters allow

The walk from the anchors' tags to atoms that lack the words (Standard 065) joins here, between ranking
and showing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backends.base import Reader
from engine import limits
from engine.border import integer, show_id, text_bytes
from engine.errors import InvalidInputError
from engine.followers.index import IndexFollower
from engine.journal import read_log
from engine.queries import bodies_of, ids_at, records_of
from engine.records import AtomRecord
from engine.retrieval.bm25 import Bm25Config, Scored, idf, search
from engine.retrieval.filters import NO_FILTERS, Filters, allowed
from engine.retrieval.snippets import SNIPPET_CHARS, Snippets
from engine.text.analyzer import analyze_query


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """Every constant of recall."""

    bm25: Bm25Config = field(default_factory=Bm25Config)
    snippet_chars: int = SNIPPET_CHARS


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer. `signals` is filled when explaining: what each term of the question added."""

    id: str
    score: float
    title: str | None
    source: str | None
    sequence: int | None
    key: str | None
    tags: tuple[str, ...]
    created: int
    snippet: str
    signals: dict[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question, as of the first `size` events. `terms` is what was searched for."""

    query: str
    terms: tuple[str, ...]
    hits: tuple[Hit, ...]
    size: int
    candidates: int
    """How many atoms the filters let through."""


def recall(
    rows: Reader,
    index: IndexFollower,
    query: str,
    *,
    limit: int,
    filters: Filters = NO_FILTERS,
    config: RecallConfig,
    explain: bool = False,
) -> Recall:
    """At most `limit` live atoms that mention a term of `query`, best first, ties by id.

    `rows` is a snapshot in which records, tags and index are at the head.

    Raises:
        InvalidInputError: the query is blank or has nothing to search for; a bound is out of range.
    """
    if not text_bytes(query, "query", limits.QUERY_BYTES_MAX).strip():
        raise InvalidInputError("the question is blank; ask with some words")
    if not integer(limit, "limit", limits.RESULTS_MAX):
        raise InvalidInputError(f"limit must be 1 to {limits.RESULTS_MAX}")
    terms = tuple(analyze_query(query))
    if not terms:
        raise InvalidInputError("the question has no word, number or sign that text is searched by")
    through = allowed(rows, filters)
    view = index.view(rows)
    bm25 = config.bm25
    weights = {term: idf(view.documents, view.impacts(term, bm25.k1, bm25.b).df) for term in terms}
    snippets = Snippets(weights, config.snippet_chars)
    best = _cut_ties(rows, search(view, terms, through, limit, bm25, explain=explain), limit)
    records = records_of(rows, [atom for _, atom in best])
    hits = tuple(
        _hit(found, record, snippets.around(body.content), explain=explain)
        for (found, _), record, body in zip(best, records, bodies_of(rows, records), strict=True)
    )
    return Recall(query, terms, hits, read_log(rows).size, len(through))


def _cut_ties(rows: Reader, scored: list[Scored], limit: int) -> list[tuple[Scored, bytes]]:
    """The best `limit` with ids, ties in the order of ids, which unlike ordinals survive a re-ingest."""
    ids = ids_at(rows, [found.ordinal for found in scored])
    return sorted(zip(scored, ids, strict=True), key=lambda pair: (-pair[0].score, pair[1]))[:limit]


def _hit(found: Scored, record: AtomRecord, snippet: str, *, explain: bool) -> Hit:
    return Hit(
        id=show_id(record.id),
        score=found.score,
        title=record.title,
        source=record.source,
        sequence=record.sequence,
        key=record.key,
        tags=record.tags,
        created=record.created,
        snippet=snippet,
        signals=dict(found.contributions) if explain else None,
    )
