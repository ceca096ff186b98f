"""Compare the categories of the labelled atoms with their labels: `python -m bench.labelled`.

Question: how many of the categories of a text are found, and how many of those found are right?
Data: `tests/knowledge/dreaming/labelled`, four memories of 80 to 100 short texts, with labels by hand.
How: each category has a `Score`. Precision is the share of the found categories that have a label; recall is
    the share of the labels that were found. The last row is the sum over all rows. The half `odd` or `even`
    of the texts can be measured alone, to see whether a rule that was made for one half helps the other.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.text.language.categories import Category, categories_of

LABELLED: Final = Path(__file__).parent.parent / "tests" / "knowledge" / "dreaming" / "labelled"
MEMORIES: Final = ("home", "work", "harbour", "valley")
HALVES: Final = {"all": (0, 1), "odd": (1,), "even": (0,)}


@dataclass
class Score:
    """The number of labels that were found, of findings without a label, and of labels not found."""

    name: str
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """The share of the findings that are right; 1 without findings."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """The share of the labels that were found; 1 without labels."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


@dataclass(frozen=True)
class Memory:
    """One file of labelled texts."""

    name: str
    texts: Sequence[Mapping[str, Any]]
    """The texts with their labels, in the order of the file."""
    aliases: Mapping[str, Sequence[str]]
    """The other spellings of each name."""


def read_memory(name: str) -> Memory:
    """Return the labelled memory with this name. The last line of its file has the aliases."""
    lines = (LABELLED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    *texts, last = map(json.loads, lines)
    return Memory(name, texts, last["aliases"])


def memories(names: Sequence[str] = MEMORIES) -> list[Memory]:
    """Return the labelled memories with these names."""
    return [read_memory(name) for name in names]


def categories(given: Sequence[Memory], half: str = "all", *, show: str | None = None) -> list[Score]:
    """Return the score of each category. `show` is a category whose mistakes are printed."""
    scores = {category.value: Score(category.value) for category in Category}
    for memory in given:
        for number, text in enumerate(memory.texts):
            if number % 2 not in HALVES[half]:
                continue
            found, labels = set(map(str, categories_of(text["text"]))), set(text["categories"])
            for name, score in scores.items():
                score.right += name in found & labels
                score.wrong += name in found - labels
                score.missed += name in labels - found
            if show in found ^ labels:
                print("+" if show in found else "-", text["id"], text["text"].replace("\n", " / "))
    return list(scores.values())


def main() -> None:
    """Print the scores as a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory", choices=MEMORIES, action="append", help="a memory; default: all")
    parser.add_argument("--half", choices=HALVES, default="all")
    parser.add_argument("--show", metavar="LABEL", help="print the texts with mistakes in this label")
    options = parser.parse_args()
    scores = categories(memories(options.memory or MEMORIES), options.half, show=options.show)
    total = Score("together")
    for score in scores:
        total.right, total.wrong = total.right + score.right, total.wrong + score.wrong
        total.missed += score.missed
    print("| categories | labels | precision | recall |\n|---|---|---|---|")
    for score in [*scores, total]:
        labels = score.right + score.missed
        print(f"| {score.name} | {labels} | {score.precision:.2f} | {score.recall:.2f} |")


if __name__ == "__main__":
    main()
