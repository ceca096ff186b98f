"""Answer a question from the atoms that an exploration has read (`engine.query.explore.quotes`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from engine.base.validation import atom_id
from engine.followers.names import page_title
from engine.ledger.queries import bodies_of, records_of
from engine.query.explore.actions import Verb
from engine.query.explore.answers import Hint
from engine.query.explore.quotes import Quote, ReadText, quotes_of, weighted
from engine.query.explore.scope import scope_of
from engine.query.explore.state import Finding, same
from engine.query.explore.walker import odds
from engine.query.recall.recall_answer import joined_titles
from engine.query.view import View
from engine.text.language.question import analyze_question
from proofs.leaves import State

SHARE_MIN: Final = 0.01
"""The least share of a text. A text that a policy chose to read is never worth nothing."""


def answer_from(
    memory: View,
    query: str,
    items: Sequence[Finding],
    share: Callable[[str], float],
    hints: Iterable[Hint],
) -> tuple[Quote, ...]:
    """Return the sentences that answer a question, from the whole texts of the atoms among `items`.

    Args:
        memory: The memory that was explored.
        query: The question.
        items: The items of the context. Connections are left out.
        share: A function that returns, for the id of an atom, its score divided by the best score.
        hints: The hints of the exploration. They tell which page the question asks for by its name.
    """
    read = {item.id: item for item in items if item.id is not None and item.verb is not Verb.NEIGHBORS}
    if not read:
        return ()
    asked = [hint.id for hint in hints if hint.asked]
    with scope_of(memory) as scope:
        found = zip(read.values(), records_of(scope.rows, list(map(atom_id, read))), strict=True)
        live = [(item, record) for item, record in found if record.state is State.LIVE]
        bodies = bodies_of(scope.rows, [record for _, record in live])
        question = analyze_question(query, now=scope.log.time)
        weights = weighted(question, scope.weights(question.terms))
    texts = [
        ReadText(
            id=item.id or "",
            title=record.title,
            heading=joined_titles(page_title(body), record.title),
            source=record.source,
            sequence=record.sequence,
            content=body.content,
            share=max(share(item.id or ""), SHARE_MIN),
            asked=any(same(item.id, one) for one in asked),
            created=record.created,
            digits=item.digits,
            provenance=record.provenance,
        )
        for (item, record), body in zip(live, bodies, strict=True)
    ]
    names = [entity.terms for entity in question.entities if entity.proper]
    return quotes_of(weights, names, sorted(texts, key=lambda text: -text.share))


def shares_of(hints: Iterable[Hint]) -> Callable[[str], float]:
    """Return a function that returns an atom's score among `hints`, divided by the best score.

    An atom that no recall returned was read because a connection led to it. Its share is 1.
    """
    scored = [(hint.id, odds(hint)) for hint in hints if hint.score]
    best = max((score for _, score in scored), default=0.0) or 1.0

    def share(id: str) -> float:  # noqa: A002  what it is called everywhere
        return max(_matching(scored, id), default=best) / best

    return share


def _matching(scored: Iterable[tuple[str, float]], id: str) -> Iterator[float]:  # noqa: A002
    return (score for short, score in scored if same(short, id))
