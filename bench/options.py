"""The options that the measurements on sets of questions share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.retrieval.sets import BUILT_IN


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
