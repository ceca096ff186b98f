"""Exploring the memories of a set, and recalling whole atoms from the same.

Question: what does each step of an exploration cost and find? Data: a set of `bench.retrieval.sets`.
Seed: that of the salts.
How: each question is recalled once (20 whole atoms) and explored by each policy with 2,000 tokens, timed
from the question to the answer. A document counts as found once its whole text is in the context: read, or
peeked at where the peek showed all of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as Folder

from bench.exploration.curves import Path, Point, path_of
from bench.retrieval.judge import loaded
from bench.retrieval.sets import QuestionSet
from engine.base.errors import InvalidInputError
from engine.engine import Engine
from engine.query.budget import tokens_of
from engine.query.explore.actions import Action, Verb
from engine.query.explore.answers import Expanded, Hints, Neighbors, Peek
from engine.query.explore.loop import STEPS_MAX, explore
from engine.query.explore.policy import Policy
from engine.query.explore.state import Exploration, Gathered, State
from engine.query.explore.walker import Walker, WalkerConfig

ATOMS = 20
"""Whole atoms that a question is compared with, so that dear explorations have something beside them."""

ENOUGH = 10_000_000
"""Tokens for them: no bound."""


class Everything:
    """The plainest policy: expand every hint, in their order."""

    def decide(self, state: State) -> Action:
        """The next hint of which nothing was read."""
        return Action(Verb.EXPAND, state.unread[0].id) if state.unread else Action(Verb.ANSWER)


def policies() -> dict[str, Policy]:
    """Those that are compared: ours, with parts of it off in turn, and the plainest."""
    return {
        "walker": Walker(),
        "– prices off": Walker(WalkerConfig(price=0)),
        "– never peeks": Walker(WalkerConfig(peek_tokens=0)),
        "– one recall": Walker(WalkerConfig(more=1000)),
        "– no titles in the second": Walker(WalkerConfig(names=0)),
        "– reads to the end": Walker(WalkerConfig(worth=0)),
        "expands every hint": Everything(),
    }


@dataclass(frozen=True, slots=True)
class Explored:
    """One question, explored."""

    spent: Path
    """All tokens: hints, peeks, connections."""
    context: Path
    """Those of the gathered context alone."""
    steps: int
    full_tokens: int
    """What ten whole atoms cost."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Judged:
    """A set, asked."""

    name: str
    questions: int
    full: tuple[Path, ...]
    """The whole atoms of each question."""
    full_seconds: tuple[float, ...]
    explored: Mapping[str, tuple[Explored, ...]]
    """By each policy, in the order of `full`."""


def judged(asked: QuestionSet, work: Folder, seed: int, told: Callable[[str], None]) -> Judged:
    """Ask everybody all questions of a set; those with nothing to search for are left out."""
    full: list[Path] = []
    seconds: list[float] = []
    explored: dict[str, list[Explored]] = {name: [] for name in policies()}
    for memory in asked.memories:
        told(f"{memory.name}: {len(memory.questions)} questions")
        with loaded(memory, work, seed) as given:
            names = Names(given.engine)
            for question in memory.questions:
                begin = time.perf_counter()
                try:
                    hits = given.engine.recall(question.text, limit=ATOMS, budget=ENOUGH).hits
                except InvalidInputError:
                    continue
                seconds.append(time.perf_counter() - begin)
                parts = [(hit.tokens, names[hit.id]) for hit in hits]
                full.append(path_of(parts, question.relevant, ATOMS))
                for name, policy in policies().items():
                    begin = time.perf_counter()
                    found = explore(given.engine.view, question.text, policy=policy)
                    took = time.perf_counter() - begin
                    explored[name].append(_explored(found, names, question.relevant, took))
    return Judged(
        asked.name,
        len(full),
        tuple(full),
        tuple(seconds),
        {name: tuple(some) for name, some in explored.items()},
    )


class Names:
    """What the set calls an atom."""

    def __init__(self, engine: Engine) -> None:
        """Of the atoms of an open memory."""
        self._engine = engine
        self._whole: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def whole(self, id: str) -> str:  # noqa: A002  what it is called everywhere
        """The whole id that a hint's stands for."""
        if id not in self._whole:
            self._whole[id] = self._engine.resolve(id)
        return self._whole[id]

    def __getitem__(self, id: str) -> str:  # noqa: A002
        """The caller's own key for the atom where it has one, else its id."""
        whole = self.whole(id)
        if whole not in self._names:
            self._names[whole] = self._engine.get(whole).key or whole
        return self._names[whole]


def _explored(found: Exploration, names: Names, relevant: frozenset[str], seconds: float) -> Explored:
    steps = [(step.cost, _read(step.answer, names)) for step in found.steps]
    spent = path_of(steps, relevant, STEPS_MAX)
    sizes = list(_context_sizes(found, names))
    context = [Point(0, 0)]
    for at, point in enumerate(spent[1:]):
        context.append(Point(sizes[min(at, len(sizes) - 1)], point.found))
    return Explored(spent, tuple(context), len(found.steps), found.full_tokens, seconds)


def _read(answer: object, names: Names) -> str | None:
    """The document whose whole text an answer has."""
    if (isinstance(answer, Peek) and answer.whole) or (isinstance(answer, Expanded) and answer.next is None):
        return names[answer.id]
    return None


def _context_sizes(found: Exploration, names: Names) -> Iterator[int]:
    """What the context cost after each step."""
    gathered = Gathered()
    for step in found.steps:
        match step.answer:
            case Peek(id=id) | Expanded(id=id):
                gathered.take(step.answer, names.whole(id))
            case Hints() | Neighbors():
                gathered.take(step.answer, None)
        yield tokens_of("".join(map(str, gathered.context)))
