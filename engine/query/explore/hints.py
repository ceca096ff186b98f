"""Hints: the few atoms that may be worth a look, each in a line of some twenty tokens.

A score in per cent is s / (s + c): s is what recall gave the atom, c the most that the question's words
alone can give any (each as rare as it is here, and as often in it as counts). 50 is thus as good as all
of the words can make it; above it, more than the words speaks for the atom. Words that are nowhere lower
all scores. The order is that of recall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

from engine.base.validation import atom_id
from engine.ledger.queries import bodies_of, records_of
from engine.query.budget import tokens_of
from engine.query.explore.answers import Hint
from engine.query.explore.scope import Scope
from engine.query.filters import Filters
from engine.query.recall.answer import Hit
from engine.query.recall.recall import recall
from engine.query.snippets import Snippets, beginning

TITLE_CHARS: Final = 40
"""Some 10 tokens of English; with id, score and cost a hint is some 20."""

SHARED_CHARS: Final = 16
"""What is shown of a title that several hints have, before the stretch of the text that tells them apart."""


def hints_of(
    scope: Scope, query: str, limit: int, filters: Filters, known: Collection[str]
) -> tuple[Hint, ...]:
    """The best hits of a question as hints, the best first; without those whose ids begin like a `known` one.

    Raises:
        InvalidInputError: the query has nothing to search for, or the limit is out of range.
    """
    answer = recall(scope.rows, scope.memory, query, limit=limit + len(known), filters=filters)
    weights = scope.weights(answer.terms)
    ceiling = sum(weights.values()) * (scope.memory.config.bm25.k1 + 1)
    starts = tuple(one.replace("-", "") for one in known)
    hits = [hit for hit in answer.hits if not hit.id.replace("-", "").startswith(starts)][:limit]
    atoms = [atom_id(hit.id) for hit in hits]
    bodies = bodies_of(scope.rows, records_of(scope.rows, atoms))
    return tuple(
        Hint(
            scope.short_id(atom),
            title,
            round(100 * hit.score / (hit.score + ceiling)),
            tokens_of(body.content),
        )
        for hit, atom, title, body in zip(hits, atoms, _titles(hits, weights), bodies, strict=True)
    )


def _titles(hits: list[Hit], weights: dict[str, float]) -> list[str]:
    titles = [None if hit.title is None else beginning(hit.title, TITLE_CHARS) for hit in hits]
    shared = Counter(titles)
    return [
        _title(hit, title, weights, alone=shared[title] == 1) for hit, title in zip(hits, titles, strict=True)
    ]


def _title(hit: Hit, title: str | None, weights: dict[str, float], *, alone: bool) -> str:
    if title is None:
        return Snippets(weights, TITLE_CHARS).around(hit.snippet)
    if alone:
        return title
    title = beginning(title, SHARED_CHARS)
    return f"{title}: {Snippets(weights, TITLE_CHARS - len(title)).around(hit.snippet)}"
