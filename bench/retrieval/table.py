"""What is printed: one section to a set, as Markdown that is readable as plain text, too.

Question: none of its own. Data, seed: what was judged. How: shares with three decimals; `±` is the
standard error of the main measure; the best of a column is not marked, as differences below the
standard error say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.retrieval.judge import Answer, Figures, by_category, figures, judged_again
from bench.retrieval.measures import MEASURES
from bench.retrieval.sets import QuestionSet


def markdown(headings: Sequence[str], lines: Sequence[Sequence[str]], text: int = 1) -> str:
    """A Markdown table whose first `text` columns are texts and the others numbers."""
    cells = [headings, *lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    shown = [
        [
            cell.ljust(width) if at < text else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in cells
    ]
    rule = "|".join("-" * (width + 1) + ("-" if at < text else ":") for at, width in enumerate(widths))
    rows = ["| " + " | ".join(line) + " |" for line in shown]
    return "\n".join([rows[0], f"|{rule}|", *rows[1:]])


def section(asked: QuestionSet, answers: Mapping[str, Sequence[Answer]]) -> str:
    """Everything that is printed of a set: overall, by the second judgement, by category."""
    documents = sum(len(memory.documents) for memory in asked.memories)
    memories = f" in {len(asked.memories)} memories" if len(asked.memories) > 1 else ""
    parts = [
        f"### {asked.name}: {asked.questions:,} questions, {documents:,} documents{memories}",
        overall(asked.main, answers),
        *_second(asked, answers),
    ]
    categories = {name: by_category(given) for name, given in answers.items()}
    names = list(next(iter(categories.values())))
    if len(names) > 1:
        lines = [
            (_counted(category, given[category]), system, *_shares(figures(given[category])))
            for category in names
            for system, given in categories.items()
        ]
        parts.append(markdown(("category", "system", *MEASURES), lines, text=2))
    return "\n\n".join(parts)


def overall(main: str, answers: Mapping[str, Sequence[Answer]]) -> str:
    """A line for each system: all measures, the main one's standard error, times."""
    lines = []
    for name, given in answers.items():
        one = figures(given)
        times = milliseconds(one.p50_ms), milliseconds(one.p99_ms)
        lines.append((name, *_shares(one), f"{one.errors[main]:.3f}", *times))
    return markdown(("system", *MEASURES, f"± {main}", "p50", "p99"), lines)


def _second(asked: QuestionSet, answers: Mapping[str, Sequence[Answer]]) -> list[str]:
    """All measures by the second judgement, and the main one by category; nothing where there is none."""
    again = {name: judged_again(given) for name, given in answers.items()}
    kept = next(iter(again.values()))
    if not asked.judged_twice or not kept:
        return []
    lines = []
    for name, given in again.items():
        parts = [figures(some).measures[asked.main] for some in by_category(given).values()]
        lines.append((name, *_shares(figures(given)), *(f"{share:.3f}" for share in parts)))
    headings = [f"{asked.main} {_counted(name, some)}" for name, some in by_category(kept).items()]
    return [
        f"With {asked.second} ({len(kept):,} questions):",
        markdown(("system", *MEASURES, *headings), lines),
    ]


def _shares(one: Figures) -> list[str]:
    return [f"{value:.3f}" for value in one.measures.values()]


def _counted(category: str, answers: Sequence[Answer]) -> str:
    return f"{category} ({len(answers):,})"


def milliseconds(value: float) -> str:
    """A duration with its unit."""
    return f"{value:.2f} ms" if abs(value) < 10 else f"{value:.0f} ms"
