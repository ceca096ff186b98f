"""Measure the tokens that agents receive over MCP, and print Markdown: `python -m bench.agents`.

Question: how many tokens does an agent receive until it has the evidence for a question? How does this number
    compare with ten whole texts? How much evidence does the agent find for its tokens? A token is four
    characters.
Data: the sets of `bench.retrieval` that the command line names, or the shared sets. Seed: `--seed`, by
    default 1, for the salts.
How: no language model is used. `bench.agents.ways` calls the tools. With `--stdio`, every call goes through
    a session of the official client with a server process; without `--stdio`, the same tools are called in
    this process. Both ways give the same figures.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from bench import machine
from bench.__main__ import heading
from bench.agents.agents_table import section
from bench.agents.asking import Results, measure
from bench.data import SHARED
from bench.question_sets import parsed, parser_for, sets_of
from bench.retrieval.sets import QuestionSet
from engine.base.errors import EngineError

SETS = ("locomo", "hotpotqa", str(SHARED / "data" / "cacm"), str(SHARED / "data" / "npl"))


def main() -> None:
    """Parse the command line, run the measurements and print the results."""
    options = _options()
    work = Path(tempfile.mkdtemp(prefix="memroot-agents-", dir=options.folder))
    try:
        _run(options, work)
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _options() -> argparse.Namespace:
    parser = parser_for("bench.agents", __doc__)
    parser.add_argument("--stdio", action="store_true", help="use sessions of the official client over stdio")
    return parsed(parser)


def _run(options: argparse.Namespace, work: Path) -> None:
    about = machine.describe(work)
    about |= {"date": datetime.now(UTC).isoformat(timespec="seconds"), "seed": options.seed}
    begin = time.monotonic()
    parts = [
        section(_measured(one, options, work)) for one in sets_of(options.sets or SETS, work, options.seed)
    ]
    about["minutes"] = round((time.monotonic() - begin) / 60, 1)
    print("\n\n".join([heading(about | {"busy": False}), *parts]))


def _measured(found: QuestionSet, options: argparse.Namespace, work: Path) -> Results:
    return measure(found.thinned(options.questions), work, options.seed, _say, stdio=options.stdio)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
