"""Run all questions of a set on each system, and compute the measures of the answers.

Question: what does each system find, and how long does a question take?
Data: a set. Seed: none of its own.
How: one system after another loads each memory of the set. The system then answers a few questions as a
    warm-up, and then all of them, one by one. Times are from the question to the list of names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.job import percentile
from bench.retrieval.lexical_rivals import Ask, LoadedMemory, System
from bench.retrieval.measures import MEASURES, mean, standard_error
from bench.retrieval.ours import open_store
from bench.retrieval.sets import Memory, Question, QuestionSet

WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a system to one question of a set."""

    question: Question
    ranking: tuple[str, ...]
    ms: float


@dataclass(frozen=True, slots=True)
class Figures:
    """The measures of the answers of one system."""

    questions: int
    measures: dict[str, float]
    errors: dict[str, float]
    """The standard errors of the measures."""
    p50_ms: float
    p99_ms: float


@contextmanager
def load(memory: Memory, work: Path, seed: int) -> Iterator[LoadedMemory]:
    """Open memroot's store of a memory, and ingest the memory first if the store does not exist."""
    with open_store(work / f"store-{memory.name}", [memory.files], seed) as engine:
        yield LoadedMemory(memory, engine, work)


def judge(
    question_set: QuestionSet,
    systems: Mapping[str, System],
    limit: int,
    work: Path,
    seed: int,
    report: Callable[[str], None],
) -> dict[str, list[Answer]]:
    """Return each system's answers to all questions of the set, in the order of the set.

    Args:
        question_set: The set.
        systems: Name → system.
        limit: The maximum number of names in an answer.
        work: A folder for stores. The stores of memroot are kept for later measurements.
        seed: The seed of memroot's salts.
        report: A callback that receives progress messages.
    """
    answers: dict[str, list[Answer]] = {name: [] for name in systems}
    for memory in question_set.memories:
        with load(memory, work, seed) as loaded:
            for name, system in systems.items():
                report(f"{memory.name}: {name}")
                with system(loaded) as ask:
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
    """Return the measures of one or more answers of one system."""
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


def by_second_judgement(answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers with the relevant names of the second judgement, without undecided questions."""
    return [
        replace(one, question=replace(one.question, relevant=one.question.second))
        for one in answers
        if one.question.second
    ]


def by_category(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    """Return the answers of each category, with categories in alphabetical order."""
    categories = sorted({one.question.category for one in answers})
    return {name: [one for one in answers if one.question.category == name] for name in categories}
