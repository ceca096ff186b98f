"""Asking everybody everything, and what came of it.

Question: what does each system find, and how long does a question take it?
Data: a set. Seed: none of its own.
How: each memory of a set is loaded by every system, one after another; each is asked a few of the
    questions to warm up and then all of them, one by one, timed from the question to the list of names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.job import percentile
from bench.retrieval.measures import MEASURES, mean, standard_error
from bench.retrieval.ours import open_store
from bench.retrieval.rivals import Ask, Loaded, System
from bench.retrieval.sets import Memory, Question, QuestionSet

WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system answered to one question of a set."""

    question: Question
    ranking: tuple[str, ...]
    ms: float


@dataclass(frozen=True, slots=True)
class Figures:
    """The measures of some answers."""

    questions: int
    measures: dict[str, float]
    errors: dict[str, float]
    """Their standard errors."""
    p50_ms: float
    p99_ms: float


@contextmanager
def loaded(memory: Memory, work: Path, seed: int) -> Iterator[Loaded]:
    """The memory, open in memroot."""
    with open_store(work / f"store-{memory.name}", [memory.files], seed) as engine:
        yield Loaded(memory, engine, work)


def judge(
    asked: QuestionSet,
    systems: Mapping[str, System],
    limit: int,
    work: Path,
    seed: int,
    told: Callable[[str], None],
) -> dict[str, list[Answer]]:
    """Each system's answers to all questions of the set, `limit` names each, in the order of the set.

    Args:
        asked: The set.
        systems: Name → who is asked.
        limit: How many names are wanted.
        work: A folder for stores; those of memroot stay, for whoever asks them next.
        seed: Of memroot's salts.
        told: Told what is being done.
    """
    answers: dict[str, list[Answer]] = {name: [] for name in systems}
    for memory in asked.memories:
        with loaded(memory, work, seed) as given:
            for name, system in systems.items():
                told(f"{memory.name}: {name}")
                with system(given) as ask:
                    answers[name] += list(_answers(ask, memory.questions, limit))
    return answers


def _answers(ask: Ask, questions: Sequence[Question], limit: int) -> Iterator[Answer]:
    for question in questions[:WARM_UP]:
        ask(question.text, limit)
    for question in questions:
        begin = time.perf_counter()
        ranking = ask(question.text, limit)
        yield Answer(question, tuple(ranking), (time.perf_counter() - begin) * 1000)


def figures(answers: Sequence[Answer]) -> Figures:
    """The measures of one or more answers by one system."""
    values = {
        name: [measure(one.ranking, one.question.relevant) for one in answers]
        for name, measure in MEASURES.items()
    }
    took = [one.ms for one in answers]
    return Figures(
        questions=len(answers),
        measures={name: mean(found) for name, found in values.items()},
        errors={name: standard_error(found) for name, found in values.items()},
        p50_ms=percentile(took, 0.5),
        p99_ms=percentile(took, 0.99),
    )


def judged_again(answers: Sequence[Answer]) -> list[Answer]:
    """The answers to be judged by the set's second judgement, without the questions it leaves open."""
    return [
        replace(one, question=replace(one.question, relevant=one.question.second))
        for one in answers
        if one.question.second
    ]


def by_category(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    """The answers of each category, categories in alphabetical order."""
    categories = sorted({one.question.category for one in answers})
    return {name: [one for one in answers if one.question.category == name] for name in categories}
