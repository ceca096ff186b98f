"""The sets of questions that a measurement uses, and the options that such measurements share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.data import CACM, FURTHER_SETS, HOTPOTQA, LOCOMO, NPL, SHARED
from bench.retrieval.garden import garden
from bench.retrieval.sets import QuestionSet, read_set
from engine.base.errors import InvalidInputError


def _if_available(folder: Path, name: str) -> QuestionSet | None:
    return read_set(folder, name) if folder.is_dir() else None


def _shared(folder: Path, name: str) -> Callable[[Path, int], QuestionSet | None]:
    return lambda _work, _seed: _if_available(folder, name)


BUILT_IN: Final[dict[str, Callable[[Path, int], QuestionSet | None]]] = {
    "locomo": _shared(LOCOMO, "locomo"),
    "hotpotqa": _shared(HOTPOTQA, "hotpotqa"),
    "garden": garden,
    "cacm": _shared(CACM, "cacm"),
    "npl": _shared(NPL, "npl"),
    **{name: _shared(folder, name) for name, folder in FURTHER_SETS.items()},
}
"""Name → a function of a working folder and a seed that returns the set, or None if its data is missing."""


def sets_of(names: Sequence[str], work: Path, seed: int) -> Iterator[QuestionSet]:
    """Yield the sets called `names`, which may be folders. If `names` is empty, yield all built-in sets.

    In that case, built-in sets whose data is missing are left out.

    Raises:
        InvalidInputError: a name is neither a built-in set nor a folder of questions, or its data is missing,
            or two memories have the same name.
    """
    seen: set[str] = set()
    for name in names or BUILT_IN:
        found = BUILT_IN[name](work, seed) if name in BUILT_IN else read_set(Path(name))
        if found is None:
            if names:
                raise InvalidInputError(f"the data of {name} is not in {SHARED} (set MEMROOT_SHARED)")
            continue
        for memory in found.memories:
            if memory.name in seen:
                raise InvalidInputError(f"two memories are called {memory.name}; rename one of the folders")
            seen.add(memory.name)
        yield found


def parser_for(module: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the sets and the options `--questions`, `--seed` and `--folder`.

    Args:
        module: The module that is run, such as `bench.agents`.
        description: The docstring of the module. The text before its first colon is shown in the help.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}", description=(description or "").split(":")[0]
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"a folder, or {', '.join(BUILT_IN)}")
    parser.add_argument(
        "--questions",
        type=int,
        default=sys.maxsize,
        metavar="N",
        help="use at most N questions of each set, evenly spread",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="folder for the stores, on a disk and not in memory")
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line. The program ends if the number of questions is not positive."""
    options = parser.parse_args()
    if options.questions < 1:
        parser.error("--questions must be 1 or more")
    return options
