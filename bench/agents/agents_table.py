"""Print what each way costs and finds, and its cost when it finds as much as ten whole texts.

Question: none. Data, seed: as in the results. How: a way is measured with several sizes. The cost at which it
finds as much as ten whole texts is interpolated linearly between two sizes. One size finds less, the other
finds more.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.agents.asking import Asked, Results
from bench.agents.ways import WAYS
from bench.exploration.curves import Path, Point, means
from bench.retrieval.measures import mean
from bench.retrieval.retrieval_table import markdown

TEN = 10


def section(result: Results) -> str:
    """Return the printed section for a set."""
    ten, bare = means(result.whole)[TEN], means(result.bare)[TEN]
    lines = [
        ("10 whole texts", "", "1.0", f"{ten.tokens:,.0f}", "–", f"{ten.found:.3f}", "–"),
        ("– without ids and sources", "", "1.0", f"{bare.tokens:,.0f}", "–", f"{bare.found:.3f}", "–"),
    ]
    for (name, size), some in result.asked.items():
        tokens, found = mean([one.tokens for one in some]), mean([one.found for one in some])
        structured = mean([one.structured for one in some])
        lines.append(
            (
                name,
                f"{size:,}",
                f"{mean([one.calls for one in some]):.1f}",
                f"{tokens:,.0f}",
                f"{structured:,.0f}" if structured else "–",
                f"{found:.3f}",
                _saving(tokens, _tokens_at(means(result.whole), found)),
            )
        )
    headings = ("way", "size", "calls", "tokens of text", "structured", "found", "saving at this evidence")
    return "\n\n".join(
        (f"### {result.name}: {result.questions:,} questions", _summary(result), markdown(headings, lines))
    )


def _summary(result: Results) -> str:
    ten, bare = means(result.whole)[TEN], means(result.bare)[TEN]
    lines = []
    for name in WAYS:
        tokens = _tokens_at(curve_of(result, name), ten.found)
        lines.append(
            (
                name,
                f"{ten.found:.3f}",
                f"{ten.tokens:,.0f}",
                "not reached" if tokens is None else f"{tokens:,.0f}",
                _saving(tokens, ten.tokens),
                _saving(tokens, bare.tokens),
            )
        )
    headings = ("way", "evidence", "10 whole texts", "tokens", "saving", "saving against texts without ids")
    return markdown(headings, lines)


def curve_of(result: Results, way: str) -> Path:
    """Return, for each size of a way, the mean tokens and the mean share found."""
    some: list[Sequence[Asked]] = [asked for (name, _), asked in result.asked.items() if name == way]
    points = [
        Point(mean([one.tokens for one in asked]), mean([one.found for one in asked])) for asked in some
    ]
    return tuple(points)


def _tokens_at(curve: Path, found: float) -> float | None:
    """Return the tokens at which the curve reaches the share `found`, or None if it stays below."""
    before: Point | None = None
    for point in curve:
        if point.found >= found:
            if before is None:
                return point.tokens
            share = (found - before.found) / (point.found - before.found)
            return before.tokens + share * (point.tokens - before.tokens)
        before = point
    return None


def _saving(tokens: float | None, whole: float | None) -> str:
    if tokens is None or whole is None:
        return "–"
    saving = 100 * (1 - tokens / whole)
    return f"{saving:.0f}%{' lost' if saving < 0 else ''}"
