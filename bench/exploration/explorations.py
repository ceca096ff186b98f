"""Explore the memories of a set with each policy, and recall whole atoms from them for comparison.

Question: what does each step of an exploration cost and find? Data: a set of `bench.retrieval.sets`.
Seed: the seed of the salts.
How: for each question, 20 whole atoms are recalled once, and each policy explores with 2,000 tokens. Times
are from the question to the answer. A document counts as found if its whole text is in the context, either
from reading it or from a peek that shows all of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as Folder

from bench.exploration.curves import Path, Point, path_of
from bench.retrieval.judge import load
from bench.retrieval.sets import QuestionSet
from engine.base.errors import InvalidInputError
from engine.engine import Engine
from engine.query.explore.explore_actions import Action, Verb
from engine.query.explore.explore_answers import Expanded, Hints, Neighbors, Peek
from engine.query.explore.explore_policy import Policy, Walker, WalkerConfig
from engine.query.explore.gather import Gathering, gather
from engine.query.explore.loop import STEPS_MAX, explore
from engine.query.explore.state import Exploration, Gathered, State
from engine.query.prompt_text import tokens_of

ATOMS = 20
"""The number of whole atoms recalled for the comparison. They cost more tokens than any exploration."""

GATHERED = {"gathered, 1,000 tokens": 1000, "gathered, 2,000 tokens": 2000, "gathered, 4,000 tokens": 4000}
"""Name → the budget of a gathering (`engine.query.explore.gather`), which is an exploration in one call."""

UNLIMITED_TOKENS = 10_000_000
"""The token budget for recalling the whole atoms. It is so large that recall never reaches it."""


class ExpandAll:
    """The simplest policy: expand all hints in the given order."""

    def decide(self, state: State) -> Action:
        """Return the action that expands the next unread hint, or the answer if every hint has been read."""
        return Action(Verb.EXPAND, state.unread[0].id) if state.unread else Action(Verb.ANSWER)


def policies() -> dict[str, Policy]:
    """Return the policies to compare: the walker, variants with parts turned off, and the simplest policy."""
    return {
        "walker": Walker(),
        "– prices off": Walker(WalkerConfig(price=0)),
        "– never peeks": Walker(WalkerConfig(peek_tokens=0)),
        "– one recall": Walker(WalkerConfig(more=1000)),
        "– no titles in the second": Walker(WalkerConfig(names=0)),
        "– reads to the end": Walker(WalkerConfig(worth=0)),
        "expands every hint": ExpandAll(),
    }


@dataclass(frozen=True, slots=True)
class Explored:
    """The results of one policy for one question."""

    spent: Path
    """The share found after each number of tokens spent on hints, peeks and connections together."""
    context: Path
    """The share found after each number of tokens, counting only the tokens of the gathered context."""
    steps: int
    full_tokens: int
    """The number of tokens of ten whole atoms."""
    seconds: float


@dataclass(frozen=True, slots=True)
class SetResult:
    """The results for a set."""

    name: str
    questions: int
    full: tuple[Path, ...]
    """For each question, the share found after each further whole atom."""
    full_seconds: tuple[float, ...]
    explored: Mapping[str, tuple[Explored, ...]]
    """Policy → the results for the questions, in the order of `full`."""


def measure(question_set: QuestionSet, work: Folder, seed: int, report: Callable[[str], None]) -> SetResult:
    """Run recall and all policies on the questions of a set; questions without search terms are left out."""
    full: list[Path] = []
    seconds: list[float] = []
    explored: dict[str, list[Explored]] = {name: [] for name in (*policies(), *GATHERED)}
    for memory in question_set.memories:
        report(f"{memory.name}: {len(memory.questions)} questions")
        with load(memory, work, seed) as loaded:
            names = AtomNames(loaded.engine)
            for question in memory.questions:
                begin = time.perf_counter()
                try:
                    hits = loaded.engine.recall(question.text, limit=ATOMS, budget=UNLIMITED_TOKENS).hits
                except InvalidInputError:
                    continue
                seconds.append(time.perf_counter() - begin)
                parts = [(hit.tokens, names[hit.id]) for hit in hits]
                full.append(path_of(parts, question.relevant, ATOMS))
                for name, policy in policies().items():
                    begin = time.perf_counter()
                    found = explore(loaded.engine.view, question.text, policy=policy)
                    took = time.perf_counter() - begin
                    explored[name].append(_explored(found, names, question.relevant, took))
                for name, budget in GATHERED.items():
                    begin = time.perf_counter()
                    gathering = gather(loaded.engine.view, question.text, budget=budget)
                    took = time.perf_counter() - begin
                    explored[name].append(_gathered(gathering, names, question.relevant, took))
    return SetResult(
        question_set.name,
        len(full),
        tuple(full),
        tuple(seconds),
        {name: tuple(some) for name, some in explored.items()},
    )


class AtomNames:
    """A mapping from the ids of atoms to the names that the set gives to the atoms."""

    def __init__(self, engine: Engine) -> None:
        """Create the mapping for the atoms of an open store."""
        self._engine = engine
        self._whole: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def whole(self, id: str) -> str:  # noqa: A002
        """Return the full id for the abbreviated id in a hint."""
        if id not in self._whole:
            self._whole[id] = self._engine.resolve(id)
        return self._whole[id]

    def __getitem__(self, id: str) -> str:  # noqa: A002
        """Return the key of the atom, or its id if it has no key."""
        whole = self.whole(id)
        if whole not in self._names:
            self._names[whole] = self._engine.get(whole).key or whole
        return self._names[whole]


def _explored(found: Exploration, names: AtomNames, relevant: frozenset[str], seconds: float) -> Explored:
    spent = _spent(found, names, relevant)
    sizes = list(_context_sizes(found, names))
    context = [Point(0, 0)]
    for at, point in enumerate(spent[1:]):
        context.append(Point(sizes[min(at, len(sizes) - 1)], point.found))
    return Explored(spent, tuple(context), len(found.steps), found.full_tokens, seconds)


def _spent(found: Exploration, names: AtomNames, relevant: frozenset[str]) -> Path:
    """Return the share found after the tokens of each step. After the last step, the path is constant."""
    points, tokens, seen = [Point(0, 0)], 0, set[str]()
    for at in range(STEPS_MAX):
        if at < len(found.steps):
            tokens += found.steps[at].cost
            seen |= _read(found.steps[at].answer, names)
        points.append(Point(tokens, len(relevant & seen) / len(relevant)))
    return tuple(points)


def _read(answer: object, names: AtomNames) -> set[str]:
    """Return the names of the documents whose whole text the answer contains."""
    if isinstance(answer, Hints):
        return {names[hint.id] for hint in answer.hints if hint.whole}
    if (isinstance(answer, Peek) and answer.whole) or (isinstance(answer, Expanded) and answer.next is None):
        return {names[answer.id]}
    return set()


def _gathered(found: Gathering, names: AtomNames, relevant: frozenset[str], seconds: float) -> Explored:
    """Return the result of a gathering as an exploration with one step."""
    items = {names[one.id] for one in found.items if one.whole and one.id and one.verb is not Verb.NEIGHBORS}
    end = Point(found.tokens, len(items & relevant) / len(relevant))
    path = (Point(0, 0), *[end] * STEPS_MAX)
    return Explored(path, path, 1, found.exploration.full_tokens, seconds)


def _context_sizes(found: Exploration, names: AtomNames) -> Iterator[int]:
    """Yield the number of tokens in the gathered context after each step."""
    gathered, whole = Gathered(), {one.id: one for one in found.context}
    for step in found.steps:
        match step.answer:
            case Peek(id=id) | Expanded(id=id):
                gathered.take(step.answer, names.whole(id))
            case Hints(hints=hints):
                gathered.take(step.answer, None)
                for hint in hints:
                    if hint.whole:
                        gathered.add(whole[names.whole(hint.id)])
            case Neighbors():
                gathered.take(step.answer, None)
        yield tokens_of("".join(map(str, gathered.context)))
