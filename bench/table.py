"""The rows of the table with their units, and how they are formatted.

Question: none of its own; the table shows which side is ahead and whether a target is reached.
Data, seed: as for the measurements. How: the ratio is above 1 if memroot is ahead, both for rates and for
times. If a rival is ahead, its figure is marked `lost`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.rivals import FTS, PACKAGED

NO_KERNELS: Final = "without kernels"
"""The heading of the figures that memroot has with MEMROOT_KERNELS=python."""
HEADINGS: Final = ("question", "memroot", NO_KERNELS, FTS, *PACKAGED, "target")
"""The headings of all columns. A column without figures is left out, unless it is one of NEEDED."""
NEEDED: Final = ("question", "memroot", FTS, "target")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: the format of its numbers, and whether larger numbers are better."""

    write: Callable[[float], str]
    more_is_better: bool


def _duration(ms: float) -> str:
    if ms < 0.1:
        return f"{ms:.3f} ms"
    return f"{ms:.2f} ms" if ms < 10 else f"{ms:.0f} ms"


RATE: Final = Unit(lambda value: f"{value:,.0f}/s", more_is_better=True)
TIME: Final = Unit(_duration, more_is_better=False)
BYTES: Final = Unit(lambda value: f"{value:,.0f} B", more_is_better=False)
MEGABYTES: Final = Unit(lambda value: f"{value / 1e6:,.0f} MB", more_is_better=False)
SHARE: Final = Unit(lambda value: f"{value:.3f}", more_is_better=True)


@dataclass(frozen=True, slots=True)
class Target:
    """A target of a row."""

    text: str
    bound: float
    """The bound, in the unit of the row. The target is reached if the value is equal or better."""
    judged: bool = True
    """False if the store of the row is smaller than the store for which the target is set."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; `rivals` is None if the rival was not measured."""

    question: str
    unit: Unit
    ours: float
    rivals: float | None = None
    target: Target | None = None
    others: Mapping[str, float] = field(default_factory=dict)
    """The figures of the rivals that are packages, by the names of the packages."""
    plain: float | None = None
    """Memroot's figure without the compiled kernels."""

    @property
    def ratio(self) -> float | None:
        """The factor by which memroot is better, below 1 if the rival is ahead; None without a rival."""
        return self.ratio_to(self.rivals)

    def ratio_to(self, theirs: float | None) -> float | None:
        """Return the factor by which memroot is better than another figure; None if this is missing."""
        if not theirs or not self.ours:
            return None
        return self.ours / theirs if self.unit.more_is_better else theirs / self.ours

    @property
    def ahead(self) -> list[str]:
        """The names of the rivals that are ahead of memroot."""
        figures = {FTS: self.rivals, **self.others}
        return [name for name, figure in figures.items() if (self.ratio_to(figure) or 1) < 1]

    @property
    def reached(self) -> bool | None:
        """True if the target is reached; None if there is no target, or if the row cannot decide this."""
        target = self.target
        if target is None or not target.judged:
            return None
        return self.ours >= target.bound if self.unit.more_is_better else self.ours <= target.bound

    def cells(self) -> dict[str, str]:
        """Return the texts of the cells by their headings. A figure that was not measured is a dash."""
        target = "–" if self.target is None else self.target.text
        verdict = {None: "", True: ", reached", False: ", missed"}[self.reached]
        return {
            "question": self.question,
            "memroot": self.unit.write(self.ours),
            NO_KERNELS: "–" if self.plain is None else self.unit.write(self.plain),
            FTS: self._theirs(self.rivals),
            **{name: self._theirs(self.others.get(name)) for name in PACKAGED},
            "target": target + verdict,
        }

    def _theirs(self, figure: float | None) -> str:
        ratio = self.ratio_to(figure)
        if figure is None or ratio is None:
            return "–" if figure is None else self.unit.write(figure)
        return f"{self.unit.write(figure)}, {ratio:.2f}×" + (" lost" if ratio < 1 else "")


def lost(rows: Sequence[Row]) -> str:
    """Return a paragraph that names every row in which a rival is ahead or a target is missed."""
    missed = [
        f"{row.question} ({', '.join([*row.ahead, *(['target'] if row.reached is False else [])])})"
        for row in rows
        if row.ahead or row.reached is False
    ]
    return f"Lost or missed: {'; '.join(missed) or 'no row'}."


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table that is also readable as plain text."""
    shown = [row.cells() for row in rows]
    headings = [name for name in HEADINGS if name in NEEDED or any(cells[name] != "–" for cells in shown)]
    table = [headings, *([cells[name] for name in headings] for cells in shown)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "| "
        + " | ".join(
            cell.ljust(width) if name in ("question", "target") else cell.rjust(width)
            for name, cell, width in zip(headings, line, widths, strict=True)
        )
        + " |"
        for line in table
    ]
    rule = "|".join(
        "-" * (width + 1) + ("-" if name in ("question", "target") else ":")
        for name, width in zip(headings, widths, strict=True)
    )
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])
