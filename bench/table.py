"""The rows of the table with their units, and how they are formatted.

Question: none of its own; the table shows which side is ahead and whether a target is reached.
Data, seed: those of the measurements. How: the ratio is above 1 if memroot is ahead, for rates as well as for
times. A row in which the rival is ahead says `lost`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

HEADINGS: Final = ("question", "memroot", "rival", "ratio", "target")


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

    @property
    def ratio(self) -> float | None:
        """The factor by which memroot is better, below 1 if the rival is ahead; None without a rival."""
        if not self.rivals or not self.ours:
            return None
        return self.ours / self.rivals if self.unit.more_is_better else self.rivals / self.ours

    @property
    def reached(self) -> bool | None:
        """True if the target is reached; None if there is no target or the row does not decide it."""
        target = self.target
        if target is None or not target.judged:
            return None
        return self.ours >= target.bound if self.unit.more_is_better else self.ours <= target.bound

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the cells, in the order of HEADINGS."""
        ratio = self.ratio
        shown = "–" if ratio is None else f"{ratio:.2f}×" + (" lost" if ratio < 1 else "")
        target = "–" if self.target is None else self.target.text
        verdict = {None: "", True: ", reached", False: ", missed"}[self.reached]
        rival = "–" if self.rivals is None else self.unit.write(self.rivals)
        return self.question, self.unit.write(self.ours), rival, shown, target + verdict


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table that is also readable as plain text."""
    cells = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| "
        + " | ".join(
            _align(cell, width, at) for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        + " |"
        for line in cells
    ]
    rule = "|".join(_rule(width, at) for at, width in enumerate(widths))
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def _is_number(at: int) -> bool:
    return HEADINGS[at] in ("memroot", "rival", "ratio")


def _align(cell: str, width: int, at: int) -> str:
    return cell.rjust(width) if _is_number(at) else cell.ljust(width)


def _rule(width: int, at: int) -> str:
    return "-" * (width + 1) + (":" if _is_number(at) else "-")
