"""Print one section for each set, as Markdown that is also readable as plain text.

Question: none of its own. Data, seed: as for the answers. How: shares have three decimals; `±` is the
standard error of the main measure. The best value of a column is not marked, because differences below the
standard error are not significant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.retrieval.judge import Answer, Figures, by_category, by_second_judgement, figures
from bench.retrieval.measures import MEASURES
from bench.retrieval.sets import QuestionSet


def markdown(headings: Sequence[str], lines: Sequence[Sequence[str]], text: int = 1) -> str:
    """Return a Markdown table. The first `text` columns contain texts; the others contain numbers."""
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


def section(question_set: QuestionSet, answers: Mapping[str, Sequence[Answer]]) -> str:
    """Return the printed section for a set: overall, by the second judgement, and by category."""
    documents = sum(len(memory.documents) for memory in question_set.memories)
    memories = f" in {len(question_set.memories)} memories" if len(question_set.memories) > 1 else ""
    parts = [
        f"### {question_set.name}: {question_set.questions:,} questions, {documents:,} documents{memories}",
        overall(question_set.main, answers),
        *_second(question_set, answers),
    ]
    categories = {name: by_category(system_answers) for name, system_answers in answers.items()}
    names = list(next(iter(categories.values())))
    if len(names) > 1:
        lines = [
            (
                _counted(category, system_answers[category]),
                system,
                *_shares(figures(system_answers[category])),
            )
            for category in names
            for system, system_answers in categories.items()
        ]
        parts.append(markdown(("category", "system", *MEASURES), lines, text=2))
    return "\n\n".join(parts)


def overall(main: str, answers: Mapping[str, Sequence[Answer]]) -> str:
    """Return a table: for each system, all measures, the standard error of the main measure, and times."""
    lines = []
    for name, system_answers in answers.items():
        one = figures(system_answers)
        times = milliseconds(one.p50_ms), milliseconds(one.p99_ms)
        lines.append((name, *_shares(one), f"{one.errors[main]:.3f}", *times))
    return markdown(("system", *MEASURES, f"± {main}", "p50", "p99"), lines)


def _second(question_set: QuestionSet, answers: Mapping[str, Sequence[Answer]]) -> list[str]:
    """Return the table for the second judgement, or [] if the set has none."""
    again = {name: by_second_judgement(system_answers) for name, system_answers in answers.items()}
    judged_answers = next(iter(again.values()))
    if not question_set.judged_twice or not judged_answers:
        return []
    lines = []
    for name, system_answers in again.items():
        parts = [figures(some).measures[question_set.main] for some in by_category(system_answers).values()]
        lines.append((name, *_shares(figures(system_answers)), *(f"{share:.3f}" for share in parts)))
    headings = [
        f"{question_set.main} {_counted(name, some)}" for name, some in by_category(judged_answers).items()
    ]
    return [
        f"With {question_set.second} ({len(judged_answers):,} questions):",
        markdown(("system", *MEASURES, *headings), lines),
    ]


def _shares(one: Figures) -> list[str]:
    return [f"{value:.3f}" for value in one.measures.values()]


def _counted(category: str, answers: Sequence[Answer]) -> str:
    return f"{category} ({len(answers):,})"


def milliseconds(value: float) -> str:
    """Return a duration in milliseconds with its unit."""
    return f"{value:.2f} ms" if abs(value) < 10 else f"{value:.0f} ms"
