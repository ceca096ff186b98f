"""Where the time of a question goes, at a hundred thousand atoms.

Question: how long does a question of six words take with everything on, and how much of it is which
    signal's? Data: `bench.data.texts` and `questions`, generated. Seed: the run's.
How: a LevelDB store; p50 and p99 of 300 different questions after 20 to warm up. Then 100 of them by all
    configurations in turn, as in `bench.retrieval.ablation`: what a signal costs is the median, over the
    questions, of what is saved without it. Work that two signals share is saved by neither alone.
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
from bench.retrieval.ours import CLOCK_US, asking, opened
from bench.retrieval.table import markdown, milliseconds
from bench.writing import as_add
from engine.language.question import analyze_question
from engine.query.recall.config import RecallConfig

QUESTIONS = 300
PARTS_QUESTIONS = 100
"""So many of them are also asked without each part: twenty times as often."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long questions took."""

    atoms: int
    p50_ms: float
    p99_ms: float
    analysis_p50_ms: float
    """Of analysing the question alone."""
    analysis_p99_ms: float
    cpu_p50_ms: float
    """CPU time with everything on."""
    costs_ms: dict[str, float]
    """What of it is saved without each part of the configuration, p50."""


def latency(
    atoms: int, config: RecallConfig, limit: int, work: Path, seed: int, told: Callable[[str], None]
) -> Latency:
    """Add the texts to a new store in `work` and ask it."""
    told(f"latency: adding {atoms:,} texts")
    asked = data.questions(WARM_UP + QUESTIONS, seed)
    with opened(work / f"store-latency-{atoms}", seed) as engine:
        for _ in engine.apply_many(map(as_add, data.texts(atoms, seed))):
            continue
        told("latency: asking")
        asks = {name: asking(engine, one) for name, one in configurations(config).items()}
        took = timed(lambda question: asks[ALL_ON](question, limit), asked)[WARM_UP:]
        told("latency: asking without each signal")
        answers = in_turn(asks, asked[WARM_UP:][:PARTS_QUESTIONS], limit)
    whole = [ms for _, ms in answers.pop(ALL_ON)]
    analysis = timed(lambda question: analyze_question(question, now=CLOCK_US), asked)[WARM_UP:]
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
    """What is printed of it."""
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
