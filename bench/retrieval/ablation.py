"""Measure the contribution and the cost of each signal by turning it off.

Question: without a signal, how much worse are the answers, and how much less time does a question take?
Data: the sets. Seed: the seed of memroot's salts.
How: the configurations are derived from `RecallConfig` (`bench.retrieval.ours.without`). All of them use the
    same open store, one question after another. Each question begins with a different configuration, so that
    the disk reads of a question do not always count for the same configuration. Differences are computed for
    each question. Measures are means with standard errors; times are medians of CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.retrieval.judge import Answer, load
from bench.retrieval.lexical_rivals import Ask
from bench.retrieval.measures import MEASURES, mean, standard_error
from bench.retrieval.ours import all_off, recall_with, without
from bench.retrieval.retrieval_table import markdown
from bench.retrieval.sets import QuestionSet
from engine.query.recall.recall_config import RecallConfig

ALL_ON = "everything on"
ALL_OFF = "all of them"
SECOND = {"nDCG@10": "R@10"}
"""Main measure of a set → the measure that the table shows in addition to it; for all others, nDCG@10."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of a signal to a set: the results with the signal minus the results without it."""

    measures: dict[str, float]
    errors: dict[str, float]
    """The standard errors of the measures."""
    cost_ms: float
    """The additional CPU time of a question with the signal, as the median over the questions."""


def configurations(config: RecallConfig) -> dict[str, RecallConfig]:
    """Return `config` itself, variants with one signal turned off, and one with all signals turned off."""
    return {ALL_ON: config, **without(config), ALL_OFF: all_off(config)}


def in_turn(
    asks: Mapping[str, Ask], questions: Sequence[str], limit: int
) -> dict[str, list[tuple[tuple[str, ...], float]]]:
    """Return each system's rankings of at most `limit` names for all questions, with CPU times in ms."""
    answers: dict[str, list[tuple[tuple[str, ...], float]]] = {name: [] for name in asks}
    order = list(asks)
    for question in questions:
        for name in order:
            # CPU time, because the cost of a signal is often less than the noise of wall time.
            begin = time.thread_time()
            found = asks[name](question, limit)
            answers[name].append((tuple(found), (time.thread_time() - begin) * 1000))
        order = order[1:] + order[:1]
    return answers


def ablate(
    question_set: QuestionSet,
    config: RecallConfig,
    limit: int,
    work: Path,
    seed: int,
    report: Callable[[str], None],
) -> dict[str, Contribution]:
    """Return the contribution of each signal of `config` on the set; the arguments are as for `judge`."""
    answers: dict[str, list[Answer]] = {name: [] for name in configurations(config)}
    for memory in question_set.memories:
        report(f"{memory.name}: ablation")
        with load(memory, work, seed) as loaded:
            asks = {name: recall_with(loaded.engine, one) for name, one in configurations(config).items()}
            for name, found in in_turn(asks, [one.text for one in memory.questions], limit).items():
                answers[name] += [
                    Answer(question, *one) for question, one in zip(memory.questions, found, strict=True)
                ]
    whole = answers.pop(ALL_ON)
    return {name: contribution(whole, rest) for name, rest in answers.items()}


def contribution(whole: Sequence[Answer], rest: Sequence[Answer]) -> Contribution:
    """Return the differences between two lists of answers to the same questions in the same order."""
    pairs = list(zip(whole, rest, strict=True))
    differences = {
        name: [
            measure(one.ranking, one.question.relevant) - measure(other.ranking, one.question.relevant)
            for one, other in pairs
        ]
        for name, measure in MEASURES.items()
    }
    return Contribution(
        measures={name: mean(found) for name, found in differences.items()},
        errors={name: standard_error(found) for name, found in differences.items()},
        cost_ms=median(one.ms - other.ms for one, other in pairs),
    )


def ablation_section(found: Sequence[tuple[QuestionSet, Mapping[str, Contribution]]]) -> str:
    """Return a table: a line for each signal; columns for two measures and the time of each set."""
    headings = ["signal"]
    for question_set, _ in found:
        headings += [f"{question_set.name} {question_set.main}", _second(question_set.main), "time"]
    lines = []
    for name in found[0][1]:
        line = [name]
        for question_set, signals in found:
            one = signals[name]
            main = question_set.main
            line += [_signed(one, main), _signed(one, _second(main)), f"{one.cost_ms:+.2f} ms"]
        lines.append(line)
    return f"### What each signal earns and costs\n\n{markdown(headings, lines)}"


def _second(main: str) -> str:
    return SECOND.get(main, "nDCG@10")


def _signed(one: Contribution, measure: str) -> str:
    return f"{one.measures[measure]:+.3f} ± {one.errors[measure]:.3f}"
