"""The signal `mention`: atoms whose text contains the whole title of an anchor.

It is the counterpart of `hop`. A question may describe a thing without its name: "Who wrote the song about a
feast in a village on Oahu?" The atom about the village is then an anchor, and the atom about the song
contains the village's name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from engine.query.recall.scope import LoadedAtom, RecallScope
from engine.query.recall.signals.bm25 import weighted_terms
from engine.query.recall.signals.phrases import (
    HOP_WEIGHT,
    TEXT_TERMS_MAX,
    TITLE_TERMS_MAX,
    Target,
)
from engine.text.analyzer import index_terms
from engine.text.words import STOP_WORDS

ANCHORS: Final = 3
"""The number of anchors whose titles are searched for."""

MENTIONS_MAX: Final = 16
"""A title is ignored if more than this many other atoms contain its terms."""

SEARCHED: Final = 4 * MENTIONS_MAX
"""The number of atoms that are checked for all terms of a title. They score best for these terms."""

_QUALIFIER: Final = re.compile(r"\s\([^()]*\)\s*\Z")


def mentioning(
    scope: RecallScope, anchors: Sequence[LoadedAtom], known: Sequence[Collection[Target]]
) -> list[list[Target]]:
    """Return, for each anchor, the allowed atoms whose texts contain the title of the anchor.

    `known` holds the atoms that the signal `hop` found from each anchor; it may be shorter than `anchors`.
    These atoms are left out: a text that links to the anchor often contains its title, and would count twice.
    The text need not contain a qualifier in parentheses at the end of the title.
    """
    titles = [_title_terms(scope, anchor) for anchor in anchors]
    scope.find([term for terms in titles for term in terms if term not in STOP_WORDS])
    found = []
    for number, (anchor, terms) in enumerate(zip(anchors, titles, strict=True)):
        others = known[number] if number < len(known) else ()
        found.append(_atoms_with(scope, terms, {anchor.record.ordinal, *(one.ordinal for one in others)}))
    return found


def _title_terms(scope: RecallScope, anchor: LoadedAtom) -> list[str]:
    """Return the terms of an anchor's title without its qualifier, or [] if it is not searched for.

    If all terms of a title are in the question, the search for the question's words found its atoms already.
    """
    terms = index_terms(_QUALIFIER.sub("", anchor.record.title or ""))
    unasked = set(terms) - STOP_WORDS - set(scope.question.terms)
    return terms if unasked and len(terms) <= TITLE_TERMS_MAX else []


def _atoms_with(scope: RecallScope, title: Sequence[str], left_out: Collection[int]) -> list[Target]:
    """Return the atoms whose texts contain the terms `title` one after the other, apart from `left_out`.

    If there are n such atoms, the weight of each is divided by √n. It is 1 / √n if the terms are rare enough.
    """
    found = scope.find([term for term in dict.fromkeys(title) if term not in STOP_WORDS])
    if not found or min(rows.df for rows in found.values()) < 2:
        return []  # one of the terms is only in the anchor
    terms = weighted_terms(scope.index.counted, found, dict.fromkeys(found, 1.0), scope.config.bm25)
    lists = scope.lists(terms)
    best, _ = lists.best(scope.atoms, SEARCHED)
    with_all = best[(lists.at(best).by_list > 0).all(axis=0)].tolist()
    possible = [ordinal for ordinal in with_all if ordinal not in left_out]
    if len(possible) > MENTIONS_MAX:
        return []
    others = [atom for atom in scope.load(possible) if _contains(atom.terms[:TEXT_TERMS_MAX], list(title))]
    weight = min(1.0, sum(map(scope.idf, found)) / HOP_WEIGHT)
    return [Target(atom.record.ordinal, weight * len(others) ** -0.5) for atom in others]


def _contains(terms: list[str], title: list[str]) -> bool:
    """Return True if `title` is a sequence of adjacent elements of `terms`."""
    starts = (at for at, term in enumerate(terms) if term == title[0])
    return any(terms[at : at + len(title)] == title for at in starts)
