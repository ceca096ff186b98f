"""Bound the work for a long question: only its most informative terms are searched for."""

from __future__ import annotations

from typing import Final

from engine.index.index_view import IndexView
from engine.text.language.model import Entity, Question

BLOCK: Final = 256
"""The number of terms whose rows are read at a time, so that the rows of a long question are not all in
memory."""


def considered(question: Question, index: IndexView, most: int) -> Question:
    """Return the question with only its `most` rarest terms, which the fewest documents contain.

    Terms that no document contains are left out first. If several terms are equally rare, those that come
    first in the question are kept. A question with at most `most` terms is returned unchanged.
    """
    terms = question.terms
    if len(terms) <= most:
        return question
    dfs: list[int] = []
    for start in range(0, len(terms), BLOCK):
        dfs += (rows.df for rows in index.find(terms[start : start + BLOCK]))
    found = sorted((df or index.documents + 1, number) for number, df in enumerate(dfs))[:most]
    kept = {terms[number] for _, number in found}
    entities: dict[tuple[str, ...], Entity] = {}
    for entity in question.entities:
        own = tuple(term for term in entity.terms if term in kept)
        if own:
            entities.setdefault(own, entity._replace(terms=own))
    return question._replace(
        words=tuple(word for word in question.words if not kept.isdisjoint(word.terms)),
        terms=tuple(term for term in terms if term in kept),
        nouns=tuple(term for term in question.nouns if term in kept),
        names=tuple(term for term in question.names if term in kept),
        entities=tuple(entities.values()),
    )
