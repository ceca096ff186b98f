"""The signal `alias`: atoms with another name that occurs in the question (`engine.followers.names`).

The alias need not occur in the text of the atom. So the signal can find an atom that contains no word of the
question.
"""

from __future__ import annotations

from typing import Final

from engine.followers.names import aliased, has_aliases
from engine.query.recall.scope import RecallScope
from engine.query.recall.signals.phrases import QUESTION_WEIGHT, SAME_TITLE_MAX, Target, weighted
from engine.query.snippets import one_by_one
from engine.text.analyzer import index_terms
from engine.text.simhash import phrase_hashes

TERMS_MAX: Final = 6
"""The largest number of terms of an alias; longer aliases are not looked up in questions."""
QUESTION_TERMS_MAX: Final = 64
"""Only this many terms at the beginning of a question are searched for aliases."""


def aliases_in(scope: RecallScope) -> list[Target]:
    """Return the allowed atoms with an alias that is a sequence of the question's terms.

    An alias inside a longer alias is ignored, and so is an alias that more than `SAME_TITLE_MAX` atoms have.
    An alias has the weight 1 if its terms make up the whole question, or if its terms are rare enough.
    """
    if not has_aliases(scope.rows):
        return []
    terms = index_terms(scope.question.core)
    spans = phrase_hashes(terms[:QUESTION_TERMS_MAX], TERMS_MAX)
    found = aliased(scope.rows, sorted(set(spans.values())))
    named: dict[tuple[int, int], list[int]] = {}
    for span, phrase in spans.items():
        ordinals = [one for one in found.get(phrase, ()) if scope.mask[one]]
        if 0 < len(ordinals) <= SAME_TITLE_MAX:
            named[span] = ordinals
    asked = one_by_one(scope.idf(term) for term in scope.question.terms)
    return weighted(scope, terms, named, min(QUESTION_WEIGHT, asked))
