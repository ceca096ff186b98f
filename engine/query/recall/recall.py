"""Recall: the hits for a question, ranked, each with where it comes from and why it is there.

question ── analysed ──▶ protocol ── a ranked pool ──▶ choose ── what the budget has room for ──▶ hits
"""

from __future__ import annotations

from backends.base import Reader
from engine.base import limits
from engine.base.errors import InvalidInputError
from engine.base.validation import instance, integer, positive, text_bytes
from engine.language.question import analyze_question
from engine.ledger.journal import read_log
from engine.query.budget import BUDGET_MIN
from engine.query.filters import NO_FILTERS, Filters, answering, marked
from engine.query.recall import protocol
from engine.query.recall.answer import Recall
from engine.query.recall.choose import CATEGORY_CANDIDATES, SPARE, choose
from engine.query.recall.config import RecallConfig
from engine.query.recall.scene import Scene
from engine.query.view import View

DEFAULT_LIMIT = 10
"""Hits where neither a limit nor a budget is given."""


def recall(
    rows: Reader,
    asked: View,
    query: str,
    *,
    limit: int | None = None,
    budget: int | None = None,
    filters: Filters = NO_FILTERS,
    explain: bool = False,
) -> Recall:
    """The live atoms that answer a question best, ties by id as far as some hundred atoms tie.

    Entities are left out unless `filters` asks for kinds.

    `rows` is a snapshot of `asked`, with records, tags and index at the head. At most `limit` hits come
    back, and with a budget at most as many as it has room for at 200 tokens each, but for 5
    (Standard 065); their texts, as they go into a prompt, cost no more tokens than the budget.

    Raises:
        InvalidInputError: the query is blank or has nothing to search for; a bound is out of range.
    """
    instance(filters, Filters, "filters")
    target = target_of(limit, budget, asked.config)
    if not text_bytes(query, "query", limits.QUERY_BYTES_MAX).strip():
        raise InvalidInputError("the question is blank; ask with some words")
    log = read_log(rows)
    # What "last week" means is told by the newest event, not by a clock: same store, same answer.
    question = analyze_question(query, now=log.time)
    if not question.terms:
        raise InvalidInputError("the question has no word, number or sign that text is searched by")
    through = answering(rows, filters)
    view = asked.store.index.view(rows)
    places = asked.places.places(view)
    scene = Scene(rows, view, places, question, through, asked.config, marked(rows, filters))
    most = 3 * target + SPARE + (CATEGORY_CANDIDATES if filters.categories else 0)
    ranking = protocol.run(scene, target, most)
    chosen = choose(scene, ranking, target, budget=budget, categories=filters.categories, explain=explain)
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
        candidates=len(through),
        target=target,
        budget=budget,
        tokens=chosen.tokens,
        pipeline=question.pipeline,
        dropped=tuple(chosen.dropped) if explain else (),
    )


def target_of(limit: int | None, budget: int | None, config: RecallConfig) -> int:
    """How many atoms to aim at: TargetAtoms = max(5, ⌊budget / 200⌋), and no more than the limit.

    Raises:
        InvalidInputError: one of them is out of range.
    """
    given = None if limit is None else positive(limit, "limit", limits.RESULTS_MAX)
    if budget is None:
        return DEFAULT_LIMIT if given is None else given
    if integer(budget, "budget") < BUDGET_MIN:
        raise InvalidInputError(
            f"a budget of {budget} tokens has no room for any hit; give {BUDGET_MIN} or more"
        )
    aim = max(config.protocol.atoms_min, budget // config.protocol.tokens_per_atom)
    return min(aim, given or limits.RESULTS_MAX)
