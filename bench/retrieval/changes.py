"""Compare two runs question by question, and tell the sets that have fallen.

Question: has a change made the answers to any kind of questions worse?
Data: the files that `python -m bench.retrieval --json FILE` wrote, before and after. Seed: none.
How: differences are taken question by question, for the first hit, MRR and the main measure of a set. A set
    has fallen if a difference is below −2 of its standard errors. The sets on which constants were chosen
    are shown apart from the others, because only the others tell what to expect elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.retrieval.measures import mean, standard_error
from bench.retrieval.retrieval_table import markdown
from bench.retrieval.sets import main_of
from engine.base.errors import InvalidInputError

SYSTEM: Final = "memroot"
NOISE: Final = 2.0
"""A difference of more standard errors than this is a change."""

CHOSEN: Final = frozenset({"locomo", "hotpotqa", "garden", "cacm", "npl", "assistant-chats"})
"""The sets on which the constants of recall were chosen."""


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one measure of a set from one run to the next."""

    name: str
    """The name of the set."""
    measure: str
    before: float
    now: float
    error: float
    """The standard error of the difference."""

    @property
    def has_fallen(self) -> bool:
        """True if the measure is lower than before by more than its noise."""
        return self.now - self.before < -NOISE * self.error - 1e-9


def changes_of(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    """Return the changes of all sets that both reports contain, with the chosen sets first.

    Raises:
        InvalidInputError: the reports have different questions, or no set in common.
    """
    names = [name for name in now["sets"] if name in before["sets"]]
    if not names:
        raise InvalidInputError("the two reports have no set in common")
    changes = []
    for name in sorted(names, key=lambda one: one not in CHOSEN):
        first, second = (report["sets"][name][SYSTEM]["values"] for report in (before, now))
        for measure in dict.fromkeys((main_of(name), "R@1", "R@10", "MRR@10")):
            old, new = first[measure], second[measure]
            if len(old) != len(new):
                raise InvalidInputError(f"the two reports have different questions of {name}")
            error = standard_error([after - value for value, after in zip(old, new, strict=True)])
            changes.append(Change(name, measure, mean(old), mean(new), error))
    return changes


def changes_section(changes: Sequence[Change]) -> str:
    """Return a table of the chosen sets and one of the others; a measure that has fallen is marked."""
    parts = ["### What has changed"]
    for title, chosen in (("Sets on which constants were chosen:", True), ("Other sets:", False)):
        lines = [
            (
                *(one.name, one.measure, f"{one.before:.3f}", f"{one.now:.3f}"),
                f"{one.now - one.before:+.3f} ± {one.error:.3f}" + (" fallen" if one.has_fallen else ""),
            )
            for one in changes
            if (one.name in CHOSEN) is chosen
        ]
        if lines:
            parts += [title, markdown(("set", "measure", "before", "now", "difference"), lines, text=2)]
    return "\n\n".join(parts)
