"""The policy without a language model: it reads the hints with the highest score relative to their cost.

hints ──▶ read the best one ──▶ connections, if the question names an entity
                           ──▶ another recall with words of the title, if the last hint is about as good
                           ──▶ the other hints that are worth their price, the best first

If the question asks for a page by its name, the page answers it, and nothing else is read.

The price of a hint is the number of tokens that reading its atom costs. The worth of a hint is

    (odds / odds of the best hint) / (price / mean price) ** WalkerConfig.price

The odds of a score of s per cent are s / (100 - s), which is proportional to the score in recall. Reading
ends if the worth of all unread hints is below `WalkerConfig.worth`.
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
"""The number of tokens that an expand costs in addition to the text."""

_READING: Final = (Verb.PEEK, Verb.EXPAND)
_MARKS: Final = ".,;:!?\"'()[]{}*#“”‘’«»…"


@dataclass(frozen=True, slots=True)
class WalkerConfig:
    """The constants of the walker, all at least 0; bench/README.md, "Exploration", has the measurements."""

    worth: float = 0.45
    """A hint is read only if its worth is at least this value. The best hint has a worth of 1 if its price is
    the mean price."""
    price: float = 0.5
    """The exponent of the price. With 0 the price is ignored. With 1 a hint at twice the price has half the
    worth."""
    peek_tokens: int = 50
    """A text of at most this many tokens is read with a peek (200 characters), others with an expand."""
    more: float = 0.45
    """A second recall is made only if the odds of the last hint are at least this share of the odds of the
    first hint."""
    page: int = 5
    """A second recall is made only if the first recall returned at least this many hints."""
    names: int = 3
    """The largest number of words from the titles of read atoms that are added to the second query."""
    entities: int = 1
    """The largest number of entities named in the question whose connections are read.

    Not measured, because the data sets of the benchmark contain no entities.
    """


class Walker:
    """A policy that decides only by scores and costs. Equal states give equal decisions."""

    def __init__(self, config: WalkerConfig | None = None) -> None:
        """Use the constants of `config`, or the measured defaults.

        Raises:
            InvalidInputError: `config` is not a WalkerConfig.
        """
        self.config = WalkerConfig() if config is None else config
        instance(self.config, WalkerConfig, "config")

    def decide(self, state: State) -> Action:
        """Return the next step, or ANSWER if no hint has the necessary worth (`WalkerConfig.worth`)."""
        found = next((step.answer.hints for step in state.trace if isinstance(step.answer, Hints)), ())
        reading = self._reading(state, found)
        if _asked_page_read(state):
            return self._rest(state, found) or Action(Verb.ANSWER)
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
        """Return the action that reads the connections of the next entity, or None if no entity is left."""
        done = {step.action for step in state.trace}
        for name in state.entities[: self.config.entities]:
            if shown := on_one_line(name):
                action = Action(Verb.NEIGHBORS, shown)
                if action not in done:
                    return action
        return None

    def _rest(self, state: State, found: tuple[Hint, ...]) -> Action | None:
        """Return the action that reads a whole text after a peek, or None if the hint's worth is too low."""
        for finding in state.context:
            if finding.verb is Verb.PEEK and not finding.whole and not _tried(state, finding):
                hint = _hint(state, finding)
                if hint is None or _price(hint) > state.left:
                    continue
                if self._worth(hint, found) >= self.config.worth:
                    return Action(Verb.EXPAND, hint.id)
        return None

    def _others(self, state: State, found: tuple[Hint, ...]) -> Action | None:
        """Return a second recall if the last hint of the first recall is nearly as good as the first hint."""
        recalls = [step for step in state.trace if step.action and step.action.verb is Verb.RECALL]
        if len(recalls) != 1 or len(found) < self.config.page:
            return None
        # The hints of a further recall also cost tokens: if the texts are short, many tokens in comparison.
        surcharge = 1 + recalls[0].cost / sum(map(_price, found))
        if odds(found[-1]) < self.config.more * surcharge * odds(found[0]):
            return None
        if state.left < recalls[0].cost + sum(map(_price, self._good(state, found))):
            return None
        query = self._query(state)
        action = Action(Verb.RECALL, query) if query else None
        return None if action is None or action == recalls[0].action else action

    def _query(self, state: State) -> str:
        """Return the content words of the question and words from the titles of the atoms read so far."""
        words = list(_content_words([state.query]))
        known = {word.casefold() for word in words}
        titles = _content_words(one.title for one in state.context if one.title is not None)
        fresh = dict.fromkeys(word for word in titles if word[0].isupper() and word.casefold() not in known)
        words += list(fresh)[: self.config.names]
        sizes = accumulate(len(word.encode()) + 1 for word in words)
        return " ".join(word for word, size in zip(words, sizes, strict=True) if size <= ARGUMENT_BYTES_MAX)

    def _reading(self, state: State, found: tuple[Hint, ...]) -> Action | None:
        """Return the action that reads the best unread hint of sufficient worth within the budget.

        If the texts of all these hints exceed the budget, the action is a peek, which shows the part of the
        text around the question's words. If no hint has sufficient worth, the action is a peek at the first
        hint, unless the first hint was already read.
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
        """Return the unread hints with a worth of at least `WalkerConfig.worth`."""
        return [hint for hint in _untried(state) if found and self._worth(hint, found) >= self.config.worth]

    def _worth(self, hint: Hint, found: tuple[Hint, ...]) -> float:
        typical = sum(map(_price, found)) / len(found)
        return odds(hint) / max(odds(found[0]), 1e-9) / float((_price(hint) / typical) ** self.config.price)


def _asked_page_read(state: State) -> bool:
    """Return True if the question asks for a page by its name, and the page has been read."""
    asked = [hint for hint in state.hints if hint.asked]
    return bool(asked) and all(state.finding(hint.id) is not None for hint in asked)


def odds(hint: Hint) -> float:
    """Return a hint's score as odds, which are proportional to the score of the atom in recall."""
    score = min(max(hint.score, 0), 99)
    return score / (100 - score)


def _price(hint: Hint) -> int:
    return hint.tokens + HEADING_TOKENS


def _untried(state: State) -> list[Hint]:
    """Return the hints that have a score and whose atoms no step has read or tried to read."""
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
