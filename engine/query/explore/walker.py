"""The policy without a language model: it reads the hints that promise most for their price.

hints ──▶ the best is read ──▶ connections, if the question names an entity
                          ──▶ another recall with words of the title, if the last hint is about as good
                          ──▶ the others that are worth their price, the best first

A hint's worth is its odds (its score s in per cent as s / (100 - s), which is in proportion to what recall
gave it) beside those of the best, divided by a power of its price beside the typical one. Where nothing is
worth enough any more, reading ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from engine.base.validation import instance
from engine.query.explore.actions import ARGUMENT_BYTES_MAX, Action, Verb
from engine.query.explore.answers import Hint, Hints
from engine.query.explore.state import Finding, State, on_one_line
from engine.text.words import STOP_WORDS

HEADING_TOKENS: Final = 20
"""What an expand costs beside its text."""

_READING: Final = (Verb.PEEK, Verb.EXPAND)
_MARKS: Final = ".,;:!?\"'()[]{}*#“”‘’«»…"


@dataclass(frozen=True, slots=True)
class WalkerConfig:
    """What the walker goes by. All of it 0 or more; measured: bench/README.md, "Exploration"."""

    worth: float = 0.45
    """Hints worth less than this share of the best are not read."""
    price: float = 0.5
    """The power of the price: 0 asks for worth alone, 1 halves the worth of what costs twice as much."""
    peek_tokens: int = 50
    """Texts of at most so many tokens are peeked at, which shows 200 characters; others are expanded."""
    more: float = 0.45
    """Where the last hint's odds are at least this share of the first's, others are asked for."""
    page: int = 5
    """With fewer hints than this there are no others."""
    names: int = 3
    """So many words of titles of what was read go into the second query."""
    entities: int = 1
    """So many entities that the question names are looked at. Not measured: no set has any."""


class Walker:
    """Decides by scores and prices alone: equal states, equal decisions."""

    def __init__(self, config: WalkerConfig | None = None) -> None:
        """Go by `config`, or by what was measured.

        Raises:
            InvalidInputError: it is no such configuration.
        """
        self.config = WalkerConfig() if config is None else config
        instance(self.config, WalkerConfig, "config")

    def decide(self, state: State) -> Action:
        """The next step; ANSWER where nothing is worth its price."""
        found = next((step.answer.hints for step in state.trace if isinstance(step.answer, Hints)), ())
        reading = self._reading(state, found)
        if reading and not any(step.action and step.action.verb in _READING for step in state.trace):
            return reading
        return (
            self._rest(state, found)
            or self._connections(state)
            or self._others(state, found)
            or reading
            or Action(Verb.ANSWER)
        )

    def _connections(self, state: State) -> Action | None:
        """The connections of the next entity that the question names."""
        asked = {step.action for step in state.trace}
        for name in state.entities[: self.config.entities]:
            if shown := on_one_line(name):
                action = Action(Verb.NEIGHBORS, shown)
                if action not in asked:
                    return action
        return None

    def _rest(self, state: State, found: tuple[Hint, ...]) -> Action | None:
        """The rest of what a peek showed only a part of, if it is still worth it."""
        for finding in state.context:
            if finding.verb is Verb.PEEK and not finding.whole and not _tried(state, finding):
                hint = _hint(state, finding)
                if hint is None or _price(hint) > state.left:
                    continue
                if self._worth(hint, found) >= self.config.worth:
                    return Action(Verb.EXPAND, hint.id)
        return None

    def _others(self, state: State, found: tuple[Hint, ...]) -> Action | None:
        """A second recall, once something was read, where the first found too many good ones to show."""
        recalls = [step for step in state.trace if step.action and step.action.verb is Verb.RECALL]
        if len(recalls) != 1 or len(found) < self.config.page:
            return None
        # A further atom costs its hint, too: where texts are short, that is not little.
        dearer = 1 + recalls[0].cost / sum(map(_price, found))
        if odds(found[-1]) < self.config.more * dearer * odds(found[0]):
            return None
        if state.left < recalls[0].cost + sum(map(_price, self._good(state, found))):
            return None
        query = self._query(state)
        action = Action(Verb.RECALL, query) if query else None
        return None if action is None or action == recalls[0].action else action

    def _query(self, state: State) -> str:
        """The question's content words, and words of the titles of what was read."""
        words = list(_content_words([state.query]))
        known = {word.casefold() for word in words}
        titles = _content_words(one.title for one in state.context if one.title is not None)
        fresh = dict.fromkeys(word for word in titles if word[0].isupper() and word.casefold() not in known)
        words += list(fresh)[: self.config.names]
        sizes = accumulate(len(word.encode()) + 1 for word in words)
        return " ".join(word for word, size in zip(words, sizes, strict=True) if size <= ARGUMENT_BYTES_MAX)

    def _reading(self, state: State, found: tuple[Hint, ...]) -> Action | None:
        """The best hint of which nothing was read, of those that are worth it and fit what is left.

        Where none fits, or the very best is too dear, a part of it: chosen by the question's words.
        """
        good = self._good(state, found)
        fitting = [hint for hint in good if _price(hint) <= state.left]
        if fitting:
            best = max(fitting, key=odds)
            return Action(Verb.PEEK if best.tokens <= self.config.peek_tokens else Verb.EXPAND, best.id)
        if not good and found and found[0] in _untried(state):
            good = [found[0]]
        return Action(Verb.PEEK, max(good, key=odds).id) if good else None

    def _good(self, state: State, found: tuple[Hint, ...]) -> list[Hint]:
        """The hints of which nothing was read and that are worth their price."""
        return [hint for hint in _untried(state) if found and self._worth(hint, found) >= self.config.worth]

    def _worth(self, hint: Hint, found: tuple[Hint, ...]) -> float:
        typical = sum(map(_price, found)) / len(found)
        return odds(hint) / max(odds(found[0]), 1e-9) / float((_price(hint) / typical) ** self.config.price)


def odds(hint: Hint) -> float:
    """A hint's score as odds: in proportion to what recall gave the atom."""
    score = min(max(hint.score, 0), 99)
    return score / (100 - score)


def _price(hint: Hint) -> int:
    return hint.tokens + HEADING_TOKENS


def _untried(state: State) -> list[Hint]:
    """The hints with a score that were not looked at, not even in vain."""
    tried = {step.action.argument for step in state.trace if step.action}
    return [hint for hint in state.unread if hint.score and hint.id not in tried]


def _hint(state: State, finding: Finding) -> Hint | None:
    return next((hint for hint in state.hints if state.finding(hint.id) is finding), None)


def _tried(state: State, finding: Finding) -> bool:
    hint = _hint(state, finding)
    return hint is not None and Action(Verb.EXPAND, hint.id) in {step.action for step in state.trace}


def _content_words(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for word in on_one_line(text).split():
            bare = word.strip(_MARKS)
            if bare and bare.casefold() not in STOP_WORDS:
                yield bare
