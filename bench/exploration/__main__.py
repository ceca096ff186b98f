"""Measure how much explorations find for their tokens, and print Markdown: `python -m bench.exploration`.

Question: for the same number of tokens, does an exploration without a language model find as much as recall
    of whole atoms, and how much of the relevant text does the context contain per token?
Data: the sets of `bench.retrieval` that are named, or all available ones. Seed: `--seed`, by default 1, for
    the salts and for the garden's questions.
How: one process, one question after another. No other program should be running.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import machine
from bench.__main__ import heading
from bench.exploration.exploration_table import section
from bench.exploration.explorations import measure
from bench.question_sets import parsed, parser_for, sets_of
from engine.base.errors import EngineError


def main() -> None:
    """Parse the command line, run the measurements and print the results."""
    options = _options()
    work = Path(tempfile.mkdtemp(prefix="memroot-exploration-", dir=options.folder))
    try:
        report = _run(options, work)
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = parser_for("bench.exploration", __doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all raw figures to FILE")
    return parsed(parser)


def _run(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    about = machine.describe(work)
    about |= {"date": datetime.now(UTC).isoformat(timespec="seconds"), "seed": options.seed}
    begin = time.monotonic()
    results = [
        measure(found.thinned(options.questions), work, options.seed, _say)
        for found in sets_of(options.sets, work, options.seed)
    ]
    about["minutes"] = round((time.monotonic() - begin) / 60, 1)
    busy = "**The machine was busy, so the times are too long. The other figures are not affected.**"
    parts = [heading(about | {"busy": False}) + (f" {busy}" if about["busy"] else "")]
    print("\n\n".join([*parts, *map(section, results)]))
    return {"machine": about, "sets": [asdict(one) for one in results]}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
