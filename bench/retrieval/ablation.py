"""What each signal earns and costs: everything on, against everything but one.

Question: by how much do the answers get worse, and the questions faster, without a signal?
Data: the sets. Seed: of memroot's salts.
How: the configurations are enumerated from `RecallConfig` (`bench.retrieval.ours.without`); all ask the
    same open store, one question after another, each time beginning with another configuration, so
    that none always pays for what the first one reads from the disk. Differences are taken question by
    question: means with their standard errors for the measures, medians for the times, which are CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.retrieval.judge import Answer, loaded
from bench.retrieval.measures import MEASURES, mean, standard_error
from bench.retrieval.ours import asking, plain, without
from bench.retrieval.rivals import Ask
from bench.retrieval.sets import QuestionSet
from bench.retrieval.table import markdown
from engine.query.recall.config import RecallConfig

ALL_ON = "everything on"
ALL_OFF = "all of them"
SECOND = "nDCG@10"
"""The measure that is shown beside a set's main one."""


@dataclass(frozen=True, slots=True)
class Earned:
    """What is lost without a signal: with it minus without it, over the questions of a set."""

    measures: dict[str, float]
    errors: dict[str, float]
    """Their standard errors."""
    cost_ms: float
    """The median over the questions of how much more CPU time one takes with the signal."""


def configurations(config: RecallConfig) -> dict[str, RecallConfig]:
    """`config` itself, with each of its signals off in turn, and with all of them off."""
    return {ALL_ON: config, **without(config), ALL_OFF: plain(config)}


def in_turn(
    asks: Mapping[str, Ask], questions: Sequence[str], limit: int
) -> dict[str, list[tuple[tuple[str, ...], float]]]:
    """What each answers to each question, and in how many milliseconds of CPU time; `limit` names each."""
    answers: dict[str, list[tuple[tuple[str, ...], float]]] = {name: [] for name in asks}
    order = list(asks)
    for question in questions:
        for name in order:
            # CPU time: what a signal costs is often less than what the rest of a machine adds now and then.
            begin = time.thread_time()
            found = asks[name](question, limit)
            answers[name].append((tuple(found), (time.thread_time() - begin) * 1000))
        order = order[1:] + order[:1]
    return answers


def ablate(
    asked: QuestionSet, config: RecallConfig, limit: int, work: Path, seed: int, told: Callable[[str], None]
) -> dict[str, Earned]:
    """What each signal of `config` earns on the set; the arguments are those of `judge`."""
    answers: dict[str, list[Answer]] = {name: [] for name in configurations(config)}
    for memory in asked.memories:
        told(f"{memory.name}: ablation")
        with loaded(memory, work, seed) as given:
            asks = {name: asking(given.engine, one) for name, one in configurations(config).items()}
            for name, found in in_turn(asks, [one.text for one in memory.questions], limit).items():
                answers[name] += [
                    Answer(question, *one) for question, one in zip(memory.questions, found, strict=True)
                ]
    whole = answers.pop(ALL_ON)
    return {name: earned(whole, rest) for name, rest in answers.items()}


def earned(whole: Sequence[Answer], rest: Sequence[Answer]) -> Earned:
    """What `whole` has over `rest`: answers to the same questions in the same order."""
    pairs = list(zip(whole, rest, strict=True))
    differences = {
        name: [
            measure(one.ranking, one.question.relevant) - measure(other.ranking, one.question.relevant)
            for one, other in pairs
        ]
        for name, measure in MEASURES.items()
    }
    return Earned(
        measures={name: mean(found) for name, found in differences.items()},
        errors={name: standard_error(found) for name, found in differences.items()},
        cost_ms=median(one.ms - other.ms for one, other in pairs),
    )


def ablation_section(found: Sequence[tuple[QuestionSet, Mapping[str, Earned]]]) -> str:
    """A line for each signal; for each of one or more sets its main measure, nDCG@10 and the time."""
    headings = ["signal"]
    for asked, _ in found:
        headings += [f"{asked.name} {asked.main}", SECOND, "time"]
    lines = []
    for name in found[0][1]:
        line = [name]
        for asked, signals in found:
            one = signals[name]
            line += [_signed(one, asked.main), _signed(one, SECOND), f"{one.cost_ms:+.2f} ms"]
        lines.append(line)
    return f"### What each signal earns and costs\n\n{markdown(headings, lines)}"


def _signed(one: Earned, measure: str) -> str:
    return f"{one.measures[measure]:+.3f} ± {one.errors[measure]:.3f}"
