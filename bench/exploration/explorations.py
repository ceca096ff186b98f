"""Explore the memories of a set with each budget, and recall whole atoms from them for comparison.

Question: what does an exploration cost and find? Data: a set of `bench.retrieval.sets`.
Seed: the seed of the salts.
How: for each question, 20 whole atoms are recalled once, and an exploration runs with each budget. Times
are from the question to the answer. A document counts as found if its whole text is in the context, either
from reading it or from a peek that shows all of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path as Folder

from bench.exploration.curves import Path, Point, path_of
from bench.retrieval.judge import load
from bench.retrieval.sets import QuestionSet
from engine.base.errors import InvalidInputError
from engine.engine import Engine
from engine.query.explore.explore_actions import Verb
from engine.query.explore.loop import explore
from engine.query.explore.state import Exploration

ATOMS = 20
"""The number of whole atoms recalled for the comparison. They cost more tokens than any exploration."""

BUDGETS = (1000, 2000, 4000, 8000)
"""The budgets of the explorations in tokens. The default of `Engine.explore` is 2,000."""

UNLIMITED_TOKENS = 10_000_000
"""The token budget for recalling the whole atoms. It is so large that recall never reaches it."""


@dataclass(frozen=True, slots=True)
class Explored:
    """The results of one budget for one question."""

    spent: Point
    """The share found, and the tokens spent on hints, texts, peeks and connections together."""
    context: Point
    """The share found, and the tokens of the context."""
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
    """Budget → the results for the questions, in the order of `full`."""


def measure(question_set: QuestionSet, work: Folder, seed: int, report: Callable[[str], None]) -> SetResult:
    """Explore and recall for the questions of a set; questions without search terms are left out."""
    full: list[Path] = []
    seconds: list[float] = []
    explored: dict[str, list[Explored]] = {f"{budget:,} tokens": [] for budget in BUDGETS}
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
                for budget in BUDGETS:
                    begin = time.perf_counter()
                    found = explore(loaded.engine.view, question.text, budget=budget)
                    took = time.perf_counter() - begin
                    explored[f"{budget:,} tokens"].append(_explored(found, names, question.relevant, took))
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
        self._names: dict[str, str] = {}

    def __getitem__(self, id: str) -> str:  # noqa: A002
        """Return the key of the atom, or its id if it has no key."""
        if id not in self._names:
            self._names[id] = self._engine.get(id).key or id
        return self._names[id]


def _explored(found: Exploration, names: AtomNames, relevant: frozenset[str], seconds: float) -> Explored:
    read = {names[one.id] for one in found.context if one.whole and one.id and one.verb is not Verb.NEIGHBORS}
    share = len(read & relevant) / len(relevant)
    spent, context = Point(found.tokens, share), Point(found.answer_tokens, share)
    return Explored(spent, context, len(found.steps), found.full_tokens, seconds)
