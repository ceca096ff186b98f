"""Recall: find the hits for a question, rank them, and report how each was found.

question ──▶ analysis ──▶ protocol ──▶ ranked pool ──▶ choice within the budget ──▶ hits
"""

from __future__ import annotations

from backends.base import Reader
from engine.base import limits
from engine.base.errors import InvalidInputError
from engine.base.validation import instance, integer, positive, text_bytes
from engine.ledger.journal import read_log
from engine.query.budget import BUDGET_MIN
from engine.query.filters import NO_FILTERS, Filters, maybe_superseded
from engine.query.recall import protocol
from engine.query.recall.answer import Recall
from engine.query.recall.choose import BLOCK, CATEGORY_CANDIDATES, SPARE, choose
from engine.query.recall.chosen import Wanted
from engine.query.recall.config import RecallConfig
from engine.query.recall.considered import considered
from engine.query.recall.scope import RecallScope
from engine.query.recall.spelling import respelled
from engine.query.view import View
from engine.text.language.question import analyze_question

DEFAULT_LIMIT = 10
"""The largest number of hits if neither a limit nor a budget is given."""


def recall(
    rows: Reader,
    view: View,
    query: str,
    *,
    limit: int | None = None,
    budget: int | None = None,
    filters: Filters = NO_FILTERS,
    explain: bool = False,
    per_page: int | None = None,
) -> Recall:
    """Return the live atoms that best answer a question.

    Atoms with equal scores are ordered by id, unless several hundred atoms have the same score. Atoms that
    are entities are left out unless `filters` names kinds.

    `rows` is a snapshot of `view`, with records, tags, index and names at the head. There are at most `limit`
    hits. With a budget, recall aims at max(5, ⌊budget / 200⌋) hits (Standard 065). Further hits follow while
    tokens are left and the scores are high enough (`Protocol.further`). The texts of all hits, formatted for
    a prompt, cost no more tokens than the budget. At most `per_page` hits are from one page (0: any number;
    None: the number in the settings of `view`).

    Raises:
        InvalidInputError: the query is blank or has no word to search for, or `limit`,
            `budget` or `per_page` is out of range.
    """
    instance(filters, Filters, "filters")
    target = target_of(limit, budget, view.config)
    most_of_page = view.config.per_page if per_page is None else integer(per_page, "per_page")
    if not text_bytes(query, "query", limits.QUERY_BYTES_MAX).strip():
        raise InvalidInputError("the question is blank; give at least one word")
    log = read_log(rows)
    # Relative times are resolved against the newest event, not a clock, so that equal stores give equal
    # answers.
    question = analyze_question(query, now=log.time)
    if not question.terms:
        raise InvalidInputError("the question has no searchable word, number or symbol")
    index = view.store.index.view(rows)
    atoms = view.allowed.atoms(rows, log, filters, index.documents, view.config.signals.internal)
    matched = respelled(rows, index, atoms, question) if view.config.spelling else None
    if matched is not None:
        question = analyze_question(matched.text, now=log.time)
    question = considered(question, index, view.config.protocol.terms)
    positions = view.positions.positions(index)
    marked = atoms.marked(rows) if filters == NO_FILTERS else maybe_superseded(rows, filters)
    known = view.known.atoms(log)
    scope = RecallScope(rows, index, positions, question, atoms, view.config, marked, explain, known)
    most = 3 * target + SPARE + (CATEGORY_CANDIDATES if filters.categories else 0)
    ranking = protocol.run(scope, target, most, target + SPARE + BLOCK)
    most_hits = target if budget is None else limit or limits.RESULTS_MAX
    chosen = choose(scope, ranking, Wanted(target, most_hits, budget, filters.categories, most_of_page))
    ranking = chosen.ranking
    used = {tag for hit in chosen.hits for tag in hit.path if tag.startswith("#")}
    return Recall(
        query=query,
        core=question.core,
        terms=question.terms,
        level=ranking.level,
        entities=ranking.entities,
        bridges=tuple(bridge for bridge in ranking.bridges if f"#{bridge.tag}" in used),
        hits=tuple(chosen.hits),
        size=log.size,
        candidates=len(atoms.ordinals),
        target=target,
        budget=budget,
        tokens=chosen.tokens,
        pipeline=question.pipeline,
        dropped=tuple(chosen.dropped) if explain else (),
        subjects=chosen.subjects,
        folded=chosen.folded,
        matched=() if matched is None else matched.names,
    )


def target_of(limit: int | None, budget: int | None, config: RecallConfig) -> int:
    """Return the number of hits to aim at: the limit, and with a budget, at most max(5, ⌊budget / 200⌋).

    Raises:
        InvalidInputError: the limit or the budget is out of range.
    """
    given = None if limit is None else positive(limit, "limit", limits.RESULTS_MAX)
    if budget is None:
        return DEFAULT_LIMIT if given is None else given
    if integer(budget, "budget") < BUDGET_MIN:
        raise InvalidInputError(
            f"a budget of {budget} tokens is too small for any hit; give {BUDGET_MIN} or more"
        )
    aim = max(config.protocol.atoms_min, budget // config.protocol.tokens_per_atom)
    return min(aim, given or limits.RESULTS_MAX)
