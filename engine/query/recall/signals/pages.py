"""Signals of pages: the page whose name is the question comes first; stubs and quotations come after texts.

An atom is a *stub* if its text has no words but those of its title, as in a note that consists of a heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

import numpy as np

from engine.base.characters import lazy
from engine.followers.names import named
from engine.query.recall.recall_run import ALIAS, LoadedAtom, Pool, RecallRun, best_atoms, top_score
from engine.query.recall.signals.anchors import extended
from engine.query.recall.signals.relations import SAME_TITLE_MAX, add_amounts
from engine.query.recall.signals.scoring import MICRO, Lists
from engine.text.analyzer import STOP_WORDS, index_terms

NAMED_READ: Final = 12
"""The number of atoms of the pages with the name whose texts are read: those with the best scores."""

REPETITIONS_AMONG: Final = 10
"""The number of candidates among which stubs come last. So a stub stays among the first ten hits, for whoever
looks for the note and not for its text."""

QUOTED_TERMS_MIN: Final = 5
"""The smallest number of terms of a quotation; a shorter one may be a name or a title."""

QUOTATIONS_MAX: Final = 64
"""The largest number of quotations of a text that are compared."""

_QUOTATION: Final = lazy(
    r"(?m)`[^`\n]{20,500}+`|\"[^\"\n]{20,500}+\"|\u201c[^\u201d\n]{20,500}+\u201d|^>[^\n]{20,500}+$"
)

STUB_CHARS_MAX: Final = 200
"""The largest number of characters of a stub."""

_MARKS: Final = " \t\r\n?!.,;:"


def put_named_first(run: RecallRun, pool: Pool, words: Lists) -> Pool:
    """Raise the best atom of each page whose name is the question above all other candidates.

    The question is the name of a page's file, the title that the file states, or an alias. A stub is not
    raised. At most SAME_TITLE_MAX pages are raised, in the order of their scores.
    """
    asked = dict.fromkeys((run.question.text.strip(_MARKS), run.question.core.strip(_MARKS)))
    ordinals = [one for name in asked for one in named(run.rows, name) if run.mask[one]]
    if not ordinals or not run.signals.alias:
        return pool
    pool = extended(run, pool, words, ordinals)
    found = np.array(sorted(set(ordinals)), np.int64)
    rows = pool.rows_of(found)
    # A stable sort: atoms with equal scores stay in the order in which they were added.
    best = rows[np.argsort(-pool.micros_at(rows), kind="stable")][:NAMED_READ].tolist()
    top, pages, amounts = top_score(pool) or 1.0, set[int](), dict[int, float]()
    for row, atom in zip(best, run.load(pool.ordinals[best].tolist()), strict=True):
        source = int(run.positions.sources[atom.record.ordinal])
        if len(amounts) < SAME_TITLE_MAX and not (source and source in pages) and not is_stub(atom):
            pages.add(source)
            own = float(pool.score[row])
            amounts[atom.record.ordinal] = top - own + (top + own) / 10
    add_amounts(run, pool, ALIAS, amounts)
    return pool


def put_repetitions_last(run: RecallRun, pool: Pool, words: Lists) -> None:
    """Lower the scores of stubs and of texts that quote, among the best candidates.

    A stub comes after the texts that have all words of the question that the stub has. A text in which most
    words of the question are in a quotation comes after the text that it quotes.
    """
    ranked, atoms = best_atoms(run, pool, REPETITIONS_AMONG)
    best = ranked.tolist()
    stubs = [at for at, atom in enumerate(atoms) if is_stub(atom)]
    others = [at for at in range(len(best)) if at not in stubs]
    there = words.at(pool.ordinals[best]).by_list > 0 if stubs else np.zeros((0, 0), np.bool_)
    after: dict[int, int] = {}
    for stub in stubs:
        own = there[there[:, stub]]
        after[stub] = max((at for at in others if len(own) and own[:, at].all()), default=-1)
    quotations = _quotations(run, atoms)
    originals = [at for at in others if not quotations[at]]
    for at in range(len(best)):
        if quotations[at]:
            quoted = (other for other in originals if other > at and _has_any(atoms[other], quotations[at]))
            after[at] = next(quoted, -1)
    factors = np.ones(len(pool))
    scores = pool.score[best].tolist()
    for at in sorted(after, reverse=True):
        if after[at] > at:
            scores[at] = max(0.0, scores[after[at]] - 2 / MICRO)
            factors[best[at]] = scores[at] / float(pool.score[best[at]])
    pool.multiply("repetition", factors)


def _quotations(run: RecallRun, atoms: Sequence[LoadedAtom]) -> list[list[list[str]]]:
    """Return the terms of the quotations in each text that have most of its words of the question."""
    asked = set(run.question.terms)
    found: list[list[list[str]]] = []
    for atom in atoms:
        spans = [
            index_terms(match[0]) for match in islice(_QUOTATION.finditer(atom.reading.text), QUOTATIONS_MAX)
        ]
        spans = [terms for terms in spans if len(terms) >= QUOTED_TERMS_MIN]
        most = len(asked.intersection(atom.terms)) if spans else 0
        found.append([terms for terms in spans if most < 2 * len(asked.intersection(terms))])
    return found


def _has_any(atom: LoadedAtom, quotations: Sequence[Sequence[str]]) -> bool:
    """Return True if a text has most runs of QUOTED_TERMS_MIN terms of a quotation."""
    there = set(_runs(atom.terms))
    return any(2 * len(there.intersection(runs)) > len(runs) for runs in map(_runs, quotations))


def _runs(terms: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(terms[start:] for start in range(QUOTED_TERMS_MIN)), strict=False))


def is_stub(atom: LoadedAtom) -> bool:
    """Return True if the text of an atom has no words but those of its title."""
    if atom.record.title is None or len(atom.body.content) > STUB_CHARS_MAX:
        return False
    return set(atom.terms) - STOP_WORDS <= set(index_terms(atom.record.title))
