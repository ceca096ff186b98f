"""Recall: find the hits for a question, rank them, and report how each was found.

question ──▶ analysis ──▶ ranking of a pool of candidates ──▶ selection within the budget ──▶ hits

The steps of the ranking are those of the Tag-Walker protocol:

    words ─▶ neighbours, boosts ─▶ feedback ─▶ split ─▶ titles ─▶ texts ─▶ hops ─▶ names ─▶ tags

Each step adds to the scores of a pool of a few hundred candidates. The order matters only for the steps that
use the best candidates so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from backends.base import Reader
from engine.base import limits
from engine.base.characters import checked_text
from engine.base.errors import InvalidInputError
from engine.base.validation import instance, integer, positive
from engine.ledger.journal import read_log
from engine.query.filters import NO_FILTERS, Filters, maybe_superseded, unknown_tags
from engine.query.prompt_text import BUDGET_MIN
from engine.query.recall.question_terms import rarest_terms, respelled, without_code_parts
from engine.query.recall.recall_answer import Recall
from engine.query.recall.recall_config import RecallConfig
from engine.query.recall.recall_run import (
    ALIAS,
    LoadedAtom,
    Pool,
    Ranking,
    RecallRun,
    best_atoms,
    best_ordinals,
    top_score,
)
from engine.query.recall.select_hits import BLOCK, CATEGORY_CANDIDATES, SPARE, select_hits
from engine.query.recall.selection import SelectionLimits
from engine.query.recall.signals.anchors import extended, pool_of
from engine.query.recall.signals.pages import put_named_first, put_repetitions_last
from engine.query.recall.signals.relations import (
    HOP_ANCHORS,
    QUESTION_WEIGHT,
    add_amounts,
    add_shares,
    aliases_in,
    complete_if_needed,
    led_to,
    titles_in,
)
from engine.query.recall.signals.scoring import Lists, weighted_terms
from engine.query.recall.signals.words import (
    FEEDBACK_ANSWERS,
    apply_provenance,
    boost_dates,
    boost_first_person,
    boost_labels,
    boost_texts,
    by_words,
    emphasised,
    expansion,
    weights_of,
)
from engine.query.view import View
from engine.text.analyzer import index_terms
from engine.text.language.parts_of_speech import forms_of
from engine.text.language.question import analyze_question

DEFAULT_LIMIT = 10
"""The largest number of hits if neither a limit nor a budget is given."""

TEXTS_READ: Final = 12
"""The number of candidates whose texts are read. They are the candidates with the highest scores."""


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
    hits. With a budget, recall aims at max(5, ⌊budget / 200⌋) hits. Further hits follow while tokens are
    left and the scores are high enough (`Protocol.further`). The texts of all hits, formatted for a prompt,
    cost no more tokens than the budget. At most `per_page` hits are from one page (0: any number;
    None: the number in the settings of `view`).

    Raises:
        InvalidInputError: the query is blank or has no word to search for, or `limit`,
            `budget` or `per_page` is out of range.
    """
    instance(filters, Filters, "filters")
    target = target_of(limit, budget, view.config)
    most_of_page = view.config.per_page if per_page is None else integer(per_page, "per_page")
    if not checked_text(query, "query", limits.QUERY_BYTES_MAX).strip():
        raise InvalidInputError("the question is blank; give at least one word")
    log = read_log(rows)
    # Relative times are resolved against the newest event, not a clock, so that equal stores give equal
    # answers.
    question = analyze_question(query, now=log.time)
    if not question.terms:
        raise InvalidInputError("the question has no searchable word, number or symbol")
    index = view.store.index.view(rows)
    atoms = view.atom_sets.atoms(rows, log, filters, index.documents, view.config.signals.internal)
    matched = respelled(rows, index, atoms, question) if view.config.spelling else None
    if matched is not None:
        question = analyze_question(matched.text, now=log.time)
    question = rarest_terms(without_code_parts(question, index), index, view.config.protocol.terms)
    positions = view.positions.positions(index)
    marked = atoms.marked(rows) if filters == NO_FILTERS else maybe_superseded(rows, filters)
    cached = view.atom_cache.atoms(log)
    run = RecallRun(rows, index, positions, question, atoms, view.config, marked, explain, cached)
    most = 3 * target + SPARE + (CATEGORY_CANDIDATES if filters.categories else 0)
    ranking = rank(run, target, most, target + SPARE + BLOCK)
    most_hits = target if budget is None else limit or limits.RESULTS_MAX
    wanted = SelectionLimits(target, most_hits, budget, filters.categories, most_of_page)
    selection = select_hits(run, ranking, wanted)
    ranking = selection.ranking
    used = {tag for hit in selection.hits for tag in hit.path if tag.startswith("#")}
    return Recall(
        query=query,
        core=question.core,
        terms=question.terms,
        entities=ranking.entities,
        bridges=tuple(bridge for bridge in ranking.bridges if f"#{bridge.tag}" in used),
        hits=tuple(selection.hits),
        size=log.size,
        candidates=len(atoms.ordinals),
        target=target,
        budget=budget,
        tokens=selection.tokens,
        pipeline=question.pipeline,
        dropped=tuple(selection.dropped) if explain else (),
        subjects=selection.subjects,
        folded=selection.folded,
        matched=() if matched is None else matched.names,
        unknown_tags=unknown_tags(rows, filters),
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


def rank(run: RecallRun, target: int, most: int, first: int) -> Ranking:
    """Run the protocol and return a ranked pool, from which the caller chooses `target` hits.

    The pool has room for at least `most` candidates that contain words of the question. The caller usually
    looks at no more than the `first` best candidates. If it needs more, it calls `complete`.
    """
    weights = emphasised(run, weights_of(run, run.question.terms))
    words = by_words(run, weights)
    most = max(run.config.protocol.candidates, most)
    pool, heaviest, term_scores = pool_of(run, words, most)
    boost_labels(run, pool)
    boost_dates(run, pool)
    boost_first_person(run, pool)
    apply_provenance(run, pool)
    is_split = _is_split(run, dict(zip(heaviest, term_scores > 0, strict=True)))
    _feedback(run, pool, weights)
    pool, entities = _split(run, pool, words, target) if is_split else (pool, ())
    pool = _phrases(run, pool, words)
    pool = _aliases(run, pool, words)
    atoms = _read(run, pool)
    pool, hop_anchors = _hops(run, pool, words, atoms)
    pool = put_named_first(run, pool, words)
    put_repetitions_last(run, pool, words)
    return complete_if_needed(run, Ranking(pool, entities, {}, (), hop_anchors, words, first))


def _feedback(run: RecallRun, pool: Pool, weights: dict[str, float]) -> None:
    """Search for terms that are characteristic of the best candidates, and add the resulting scores."""
    if not run.signals.feedback:
        return
    best, atoms = best_atoms(run, pool, FEEDBACK_ANSWERS)
    more = expansion(run, atoms, pool.score[best].tolist(), weights)
    if not more:
        return
    hits = run.find(list(more))
    terms = run.lists(weighted_terms(run.index.counted, hits, more, run.config.bm25))
    pool.add("feedback", terms.at(pool.ordinals).scores * pool.factor)


def _is_split(run: RecallRun, there: Mapping[str, NDArray[np.bool_]]) -> bool:
    """Return True if the entities of the question are also searched for one by one.

    For each term that was scored, `there` holds True for the candidates that contain the term.

    That is so if there are at least two, and too few atoms cover the words of the question, its nouns and
    times, or its names. An atom covers words if the sum of the weights of those that it contains is at least
    the configured share of the sum for all. If a single word sufficed, enough atoms would cover every
    question. If all words were necessary, enough atoms would cover almost no question (measured on
    conversations: 7 of 1,982 questions).

    The nouns and names are not searched for by themselves. Measured on nine sets: one hit of ten for what
    they find beyond the whole question costs up to 1.3 points of R@10 and gains on one set only.
    """
    question = run.question
    if len(question.entities) < 2:
        return False
    words = (question.terms, question.nouns, question.names)
    return all(_covering(run, terms, there) < run.config.protocol.enough for terms in words)


def _covering(run: RecallRun, terms: Sequence[str], there: Mapping[str, NDArray[np.bool_]]) -> int:
    """Return the number of candidates that cover `terms`; terms that were not scored are ignored.

    A candidate with an irregular form of a term counts as one with the term.
    """
    covered: NDArray[np.float64] = np.zeros(())
    total = 0.0
    for term in terms:
        found = [there[form] for form in (term, *forms_of(term)) if form in there]
        if found:
            total += run.idf(term)
            covered = covered + run.idf(term) * np.logical_or.reduce(found)
    return int(np.count_nonzero((covered > 0) & (covered >= run.config.protocol.covers * total)))


def _split(run: RecallRun, pool: Pool, words: Lists, target: int) -> tuple[Pool, tuple[str, ...]]:
    """Search for each entity of the question separately, up to the configured number of entities.

    Each entity gets an equal share of the hits. Return the pool and the texts of the entities that were
    searched for.
    """
    entities = run.question.entities[: run.config.protocol.entities]
    share = -(-target // len(entities))
    for entity in entities:
        hits = by_words(run, dict.fromkeys(entity.terms, 1.0), tags=False)
        best = best_ordinals(run, hits, share)
        pool = extended(run, pool, words, best.tolist())
        scores = hits.at(best).scores.tolist()
        amounts = {one: run.signals.split * score for one, score in zip(best.tolist(), scores, strict=True)}
        add_amounts(run, pool, "split", amounts)
    return pool, tuple(entity.text for entity in entities)


def _phrases(run: RecallRun, pool: Pool, words: Lists) -> Pool:
    """Add the atoms whose titles occur in the question to the pool, and raise their scores."""
    if not run.signals.phrase or not run.positions.has_titles:
        return pool
    (titled,) = titles_in(run, [index_terms(run.question.core)], QUESTION_WEIGHT)
    pool = extended(run, pool, words, [one.ordinal for one in titled])
    share, best = run.signals.phrase, top_score(pool)
    add_amounts(run, pool, "phrase", {one.ordinal: share * one.weight * best for one in titled})
    return pool


def _aliases(run: RecallRun, pool: Pool, words: Lists) -> Pool:
    """Add the atoms with an alias that occurs in the question to the pool, and raise their scores."""
    named = aliases_in(run) if run.signals.alias else []
    if not named:
        return pool
    pool = extended(run, pool, words, [one.ordinal for one in named])
    # If no text has a word of the question, there is no score to take a share of.
    share, best = run.signals.alias, top_score(pool) or 1.0
    add_amounts(run, pool, ALIAS, {one.ordinal: share * one.weight * best for one in named})
    return pool


def _read(run: RecallRun, pool: Pool) -> list[LoadedAtom]:
    """Apply the signals that need texts to the best candidates. Return these candidates with their texts."""
    best, atoms = best_atoms(run, pool, TEXTS_READ)
    boost_texts(run, pool, best.tolist(), atoms)
    return atoms


def _hops(
    run: RecallRun, pool: Pool, words: Lists, atoms: Sequence[LoadedAtom]
) -> tuple[Pool, dict[int, int]]:
    """Add the atoms that the best candidates lead to, by a title or an edge.

    An atom is added if its title occurs in the text of one of the best candidates, or if an edge joins the
    two. Return the pool, and for each such atom the ordinal of the best candidate that led to it.
    """
    has_edges = run.atoms.has_edges(run.rows)
    if not (run.signals.hop and atoms and (has_edges or run.positions.has_titles)):
        return pool, {}
    read = pool.rows_of(np.array([atom.record.ordinal for atom in atoms], np.int64))
    each = zip((-pool.micros_at(read)).tolist(), (atom.record.id for atom in atoms), strict=True)
    ranked = [at for _, at in sorted(zip(each, range(len(atoms)), strict=True)) if pool.score[read[at]] > 0]
    best, first = read[ranked[:HOP_ANCHORS]], [atoms[at] for at in ranked[:HOP_ANCHORS]]
    hops = led_to(run, first, linked=has_edges)
    hop_anchors: dict[int, int] = {}
    for anchor, others in zip(first, hops, strict=True):
        for one in others:
            hop_anchors.setdefault(one.ordinal, anchor.record.ordinal)
    scores = pool.score[best].tolist()
    pool = extended(run, pool, words, list(hop_anchors))
    add_shares(run, pool, scores, hops)
    return pool, hop_anchors
