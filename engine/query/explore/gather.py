"""The built-in policy: one recall, from which the texts that are worth their cost are read at once.

    recall ──▶ 20 hints ──▶ texts, the best first ──▶ peeks at long texts ──▶ connections of a named entity

The worth of a text is

    odds of its score / fourth root of its cost

The odds of a score of s per cent are s / (100 - s), which is proportional to the score in recall. The texts
are considered in the order of their worth, and a text is chosen if

    worth / best worth  >=  (tokens chosen so far + tokens of this text) / half of the budget

So the context is short if few texts stand out, and long if many texts are equally good. If the question is
about several things and no text is about all of them, the best text about each is chosen first, if it costs
no more than an equal part of that half; else a part of it is read. If the question asks for a page by its
name, the page answers it, and nothing else is read.

bench/README.md, "Exploration", has the measurements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Final

from engine.query.explore.explore_actions import Action, Verb
from engine.query.explore.explore_answers import Hint
from engine.query.explore.state import State, on_one_line

PART: Final = 1 / 2
"""The share of the budget for texts. The rest is for the other hints, for peeks and for connections."""

LONG: Final = 1 / 3
"""If a text costs more than this share of the tokens for texts and was not read, a peek shows part of it."""

HEADING_TOKENS: Final = 20
"""The number of tokens that reading a text costs in addition to the text."""

PEEK_TOKENS: Final = 60
"""The number of tokens that a peek costs."""


class Gather:
    """The built-in policy. It decides by scores and costs; equal states give equal decisions."""

    def read_at_once(self, hints: Sequence[Hint], left: int) -> list[str]:
        """Return the ids of the hints whose texts are worth their cost, the best first."""
        if asked := [hint.id for hint in hints if hint.asked]:
            return asked
        leads = [hint for hint in hints if hint.lead]
        picked = [hint for hint in leads if _price(hint) * len(leads) <= PART * left]
        spent = sum(map(_price, picked))
        for worth, hint in by_worth(hints):
            if not hint.lead and worth * PART * left >= spent + _price(hint):
                spent += _price(hint)
                picked.append(hint)
        return [hint.id for hint in picked]

    def decide(self, state: State) -> Action:
        """Return the next step: a text or a part of a text, connections, or ANSWER."""
        tried = {step.action for step in state.trace}
        for asked in (hint for hint in state.hints if hint.asked):
            action = Action(Verb.EXPAND, asked.id)
            return Action(Verb.ANSWER) if state.finding(asked.id) or action in tried else action
        for worth, hint in by_worth(hint for hint in state.hints if hint.score):
            action = Action(Verb.PEEK, hint.id)
            if hint in state.unread and action not in tried and self._is_worth_a_peek(state, hint, worth):
                return action
        for name in map(on_one_line, state.entities[:1]):
            action = Action(Verb.NEIGHBORS, name)
            if name and action not in tried:
                return action
        return Action(Verb.ANSWER)

    @staticmethod
    def _is_worth_a_peek(state: State, hint: Hint, worth: float) -> bool:
        """Return True if the peek is worth its cost, or if nothing of the subject or of anything was read."""
        texts = PART * state.budget
        return (
            not state.context
            or hint.lead
            or (_price(hint) > LONG * texts and worth * texts >= state.spent + PEEK_TOKENS)
        )


def by_worth(hints: Iterable[Hint]) -> list[tuple[float, Hint]]:
    """Return the hints in the order of their worth, each with its worth divided by the best worth.

    Of two texts with equal scores, the shorter one is worth more, because the tokens that it saves pay for
    another text. Measured on five sets, for as many tokens as ten whole texts cost: exponents of the cost
    from 0.2 to 0.3 find more on each set than 0, and more than the ten whole texts.
    """
    worths = [(odds(hint) / sqrt(sqrt(_price(hint))), hint) for hint in hints]
    best = max((worth for worth, _ in worths), default=0.0) or 1.0
    return sorted(((worth / best, hint) for worth, hint in worths), key=lambda one: -one[0])


def odds(hint: Hint) -> float:
    """Return a hint's score as odds, which are proportional to the score of the atom in recall."""
    score = min(max(hint.score, 0), 99)
    return score / (100 - score)


def _price(hint: Hint) -> int:
    return hint.tokens + HEADING_TOKENS
