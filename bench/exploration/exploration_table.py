"""Print the results for a set: each budget compared with whole atoms.

Question: none. Data, seed: as for the results. How: `for the same tokens` is the gain over whole atoms that
cost the same number of tokens, ± the standard error of the gain; `lost` marks a negative gain. This gain
counts all tokens spent; `for the same context` counts only the tokens of the gathered context.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.exploration.curves import Gain, Path, gain, means
from bench.exploration.explorations import Explored, SetResult
from bench.job import percentile
from bench.retrieval.measures import mean
from bench.retrieval.retrieval_table import markdown, milliseconds
from engine.query.explore.loop import FULL_ATOMS


def section(result: SetResult) -> str:
    """Return the printed section for a set."""
    return "\n\n".join(
        (
            f"### {result.name}: {result.questions:,} questions",
            _budgets(result),
        )
    )


def _budgets(result: SetResult) -> str:
    ten = means(result.full)[FULL_ATOMS]
    full_ms = [1000 * one for one in result.full_seconds]
    lines = [
        (
            f"{FULL_ATOMS} whole atoms",
            "1.0",
            f"{ten.tokens:,.0f}",
            "0%",
            f"{ten.found:.3f}",
            "–",
            f"{ten.tokens:,.0f}",
            f"{100 * ten.found / ten.tokens:.3f}",
            "–",
            milliseconds(percentile(full_ms, 0.5)),
            milliseconds(percentile(full_ms, 0.99)),
        ),
        *(_budget(name, some, result.full) for name, some in result.explored.items()),
    ]
    headings = (
        "budget",
        "steps",
        "tokens spent",
        "saving",
        "found",
        "for the same tokens",
        "tokens of context",
        "found per 100",
        "for the same context",
        "p50",
        "p99",
    )
    return markdown(headings, lines)


def _budget(name: str, some: Sequence[Explored], full: Sequence[Path]) -> tuple[str, ...]:
    spent = mean([one.spent.tokens for one in some])
    context = mean([one.context.tokens for one in some])
    found = mean([one.spent.found for one in some])
    ms = [1000 * one.seconds for one in some]
    return (
        name,
        f"{mean([one.steps for one in some]):.1f}",
        f"{spent:,.0f}",
        f"{100 * (1 - spent / mean([one.full_tokens for one in some])):.0f}%",
        f"{found:.3f}",
        _format_gain(gain([one.spent for one in some], full)),
        f"{context:,.0f}",
        f"{100 * found / context if context else 0:.3f}",
        _format_gain(gain([one.context for one in some], full)),
        milliseconds(percentile(ms, 0.5)),
        milliseconds(percentile(ms, 0.99)),
    )


def _format_gain(one: Gain) -> str:
    return f"{one.found:+.3f} ± {one.error:.3f}{' lost' if one.found < 0 else ''}"
