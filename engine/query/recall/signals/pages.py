"""Signals of pages: the page whose name is the question comes first, and stubs come after texts.

An atom is a *stub* if its text has no words but those of its title, as in a note that consists of a heading.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from engine.followers.names import named
from engine.query.recall.recall_run import ALIAS, LoadedAtom, Pool, RecallRun, best_atoms, top_score
from engine.query.recall.signals.anchors import extended
from engine.query.recall.signals.relations import SAME_TITLE_MAX, add_amounts
from engine.query.recall.signals.scoring import MICRO, Lists
from engine.text.analyzer import STOP_WORDS, index_terms

NAMED_READ: Final = 12
"""The number of atoms of the pages with the name whose texts are read: those with the best scores."""

STUBS_AMONG: Final = 10
"""The number of candidates among which stubs come last. So a stub stays among the first ten hits, for whoever
looks for the note and not for its text."""

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


def put_stubs_last(run: RecallRun, pool: Pool, words: Lists) -> None:
    """Lower the score of each stub among the best candidates below that of the texts among them.

    Only the texts with all words of the question that the stub has count.
    """
    ranked, atoms = best_atoms(run, pool, STUBS_AMONG)
    best = ranked.tolist()
    stubs = [at for at, atom in enumerate(atoms) if is_stub(atom)]
    if not stubs:
        return
    others = [at for at in range(len(best)) if at not in stubs]
    there = words.at(pool.ordinals[best]).by_list > 0
    factors = np.ones(len(pool))
    for stub in stubs:
        own = there[there[:, stub]]
        last = max((at for at in others if len(own) and own[:, at].all()), default=-1)
        if last > stub:
            factors[best[stub]] = (pool.score[best[last]] - 2 / MICRO) / pool.score[best[stub]]
    pool.multiply("stub", factors)


def is_stub(atom: LoadedAtom) -> bool:
    """Return True if the text of an atom has no words but those of its title."""
    if atom.record.title is None or len(atom.body.content) > STUB_CHARS_MAX:
        return False
    return set(atom.terms) - STOP_WORDS <= set(index_terms(atom.record.title))
