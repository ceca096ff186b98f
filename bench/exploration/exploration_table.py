"""Print the results for a set: each policy compared with whole atoms, and the curves.

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
from engine.query.explore.loop import FULL_ATOMS, STEPS_MAX

SHOWN = (1, 2, 3, 4, 5, 7, 10, 15, 20)
"""The numbers of whole atoms for which the mean share found is printed."""


def section(result: SetResult) -> str:
    """Return the printed section for a set."""
    return "\n\n".join(
        (
            f"### {result.name}: {result.questions:,} questions",
            _policies(result),
            f"The {next(iter(result.explored))} after each step (left), compared with whole atoms (right):",
            _curves(result),
        )
    )


def _policies(result: SetResult) -> str:
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
        *(_policy(name, some, result.full) for name, some in result.explored.items()),
    ]
    headings = (
        "policy",
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


def _policy(name: str, some: Sequence[Explored], full: Sequence[Path]) -> tuple[str, ...]:
    spent = mean([one.spent[-1].tokens for one in some])
    context = mean([one.context[-1].tokens for one in some])
    found = mean([one.spent[-1].found for one in some])
    ms = [1000 * one.seconds for one in some]
    return (
        name,
        f"{mean([one.steps for one in some]):.1f}",
        f"{spent:,.0f}",
        f"{100 * (1 - spent / mean([one.full_tokens for one in some])):.0f}%",
        f"{found:.3f}",
        _format_gain(gain([one.spent[-1] for one in some], full)),
        f"{context:,.0f}",
        f"{100 * found / context if context else 0:.3f}",
        _format_gain(gain([one.context[-1] for one in some], full)),
        milliseconds(percentile(ms, 0.5)),
        milliseconds(percentile(ms, 0.99)),
    )


def _format_gain(one: Gain) -> str:
    return f"{one.found:+.3f} ± {one.error:.3f}{' lost' if one.found < 0 else ''}"


def _curves(result: SetResult) -> str:
    some = next(iter(result.explored.values()))
    spent, context = means([one.spent for one in some]), means([one.context for one in some])
    full = means(result.full)
    lines = []
    for row in range(max(STEPS_MAX, len(SHOWN))):
        left = right = ("", "", "")
        if row < STEPS_MAX:
            at = row + 1
            left = (
                f"step {at}",
                f"{spent[at].tokens:,.0f} ({context[at].tokens:,.0f})",
                f"{spent[at].found:.3f}",
            )
        if row < len(SHOWN):
            at = SHOWN[row]
            right = (f"{at} atom{'' if at == 1 else 's'}", f"{full[at].tokens:,.0f}", f"{full[at].found:.3f}")
        lines.append((*left, *right))
    return markdown(("exploration", "tokens (context)", "found", "whole atoms", "tokens", "found"), lines)
