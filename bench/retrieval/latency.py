"""Measure the time of a question and the share of each signal, at a hundred thousand atoms.

Question: how long does a question of six words take with all signals, and how much of that is the cost of
    each signal? Data: generated `bench.data.texts` and `questions`. Seed: the seed of the run.
How: a LevelDB store; p50 and p99 of 300 different questions after a warm-up of 20. Then all configurations
    answer 100 of these questions in turn, as in `bench.retrieval.ablation`. The cost of a signal is the time
    saved without it, as the median over the questions. Work that two signals share is not saved by turning
    off one of the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import data
from bench.job import percentile, timed
from bench.retrieval.ablation import ALL_ON, configurations, in_turn
from bench.retrieval.judge import WARM_UP
from bench.retrieval.ours import CLOCK_US, open_engine, recall_with
from bench.retrieval.retrieval_table import markdown, milliseconds
from bench.writing import as_add
from engine.query.recall.recall_config import RecallConfig
from engine.text.language.question import analyze_question

QUESTIONS = 300
PARTS_QUESTIONS = 100
"""The number of questions that all configurations answer, to measure the cost of each signal."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The measured times of questions."""

    atoms: int
    p50_ms: float
    p99_ms: float
    analysis_p50_ms: float
    """The time of analysing the question."""
    analysis_p99_ms: float
    cpu_p50_ms: float
    """The CPU time with all signals."""
    costs_ms: dict[str, float]
    """Part of the configuration → the median CPU time saved by turning the part off."""


def latency(
    atoms: int, config: RecallConfig, limit: int, work: Path, seed: int, report: Callable[[str], None]
) -> Latency:
    """Add the texts to a new store in `work`, and measure the times of questions."""
    report(f"latency: adding {atoms:,} texts")
    questions = data.questions(WARM_UP + QUESTIONS, seed)
    with open_engine(work / f"store-latency-{atoms}", seed) as engine:
        for _ in engine.apply_many(map(as_add, data.texts(atoms, seed))):
            continue
        report("latency: answering questions")
        asks = {name: recall_with(engine, one) for name, one in configurations(config).items()}
        took = timed(lambda question: asks[ALL_ON](question, limit), questions)[WARM_UP:]
        report("latency: answering questions without each signal")
        answers = in_turn(asks, questions[WARM_UP:][:PARTS_QUESTIONS], limit)
    whole = [ms for _, ms in answers.pop(ALL_ON)]
    analysis = timed(lambda question: analyze_question(question, now=CLOCK_US), questions)[WARM_UP:]
    return Latency(
        atoms=atoms,
        p50_ms=percentile(took, 0.5),
        p99_ms=percentile(took, 0.99),
        analysis_p50_ms=percentile(analysis, 0.5),
        analysis_p99_ms=percentile(analysis, 0.99),
        cpu_p50_ms=median(whole),
        costs_ms={
            name: median(with_it - ms for with_it, (_, ms) in zip(whole, rest, strict=True))
            for name, rest in answers.items()
        },
    )


def latency_section(found: Latency) -> str:
    """Return the printed section."""
    analysis = found.analysis_p50_ms, found.analysis_p99_ms
    costs = sorted(found.costs_ms.items(), key=lambda cost: -cost[1])
    lines = [
        ("everything on", milliseconds(found.p50_ms), milliseconds(found.p99_ms), "–"),
        ("– of it analysing the question", *map(milliseconds, analysis), f"{analysis[0] / found.p50_ms:.0%}"),
        ("everything on, CPU time", milliseconds(found.cpu_p50_ms), "–", "100%"),
        *(
            (f"– saved without {name}", milliseconds(ms), "–", f"{ms / found.cpu_p50_ms:.0%}")
            for name, ms in costs
        ),
    ]
    return "\n\n".join(
        [
            f"### Where the time goes: {found.atoms:,} generated atoms, six words a question",
            markdown(("part", "p50", "p99", "share"), lines),
        ]
    )
