"""Run the measurements and print one table: `python -m bench` (bench/README.md).

Question: how fast and how large is memroot on this machine, compared with the simplest fair alternative
    (`bench.rivals`), with a full-text library and with another memory?
Data: 10,000, 100,000 and 1,000,000 generated texts (`--quick`: 1,000 and 10,000), and shared data if present.
Seed: `--seed`, by default 1. How: each measurement runs in a separate process, one after another. The
stores are in a temporary folder that is removed at the end. No other program should be running.
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
from bench.groups import GROUPS, Run, with_and_without_kernels
from bench.table import Row, lost, markdown


def main() -> None:
    """Parse the command line, run the measurements and print the table."""
    options = _options()
    work = Path(tempfile.mkdtemp(prefix="memroot-bench-", dir=options.folder))
    try:
        about = machine.describe(work)
        about["date"] = datetime.now(UTC).isoformat(timespec="seconds")
        about["seed"] = options.seed
        about["kernels"] = options.kernels if options.kernels != "auto" else machine.kernels()
        _warn(about)
        kernels = "native" if options.kernels == "both" else options.kernels
        run = Run(str(work), options.seed, options.sizes, quick=options.quick, kernels=kernels)
        begin = time.monotonic()
        names = [name for name in GROUPS if name in options.only]
        rows = list(with_and_without_kernels(run, names, both=options.kernels == "both"))
        about["minutes"] = round((time.monotonic() - begin) / 60, 1)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{heading(about)}\n\n{markdown(rows)}\n\n{lost(rows)}")
    if options.json:
        raw = {"machine": about, "rows": [_plain(row) for row in rows], "measurements": run.results}
        options.json.write_text(json.dumps(raw, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute")
    parser.add_argument("--only", choices=GROUPS, action="append", metavar="NAME", help=", ".join(GROUPS))
    parser.add_argument("--sizes", type=_sizes, metavar="N,N", help="numbers of atoms, ascending")
    parser.add_argument(
        "--kernels",
        choices=("auto", "native", "python", "both"),
        default="auto",
        help="which kernels memroot uses; `both` adds a column for those in plain Python",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all raw figures to FILE")
    parser.add_argument("--folder", type=Path, help="folder for the stores, on a disk and not in memory")
    options = parser.parse_args()
    options.only = options.only or list(GROUPS)
    if options.folder is None and machine.file_system(Path(tempfile.gettempdir())) in ("tmpfs", "ramfs"):
        options.folder = Path.cwd()
    return options


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(map(int, text.replace("_", "").split(",")))
    if not sizes or min(sizes) < 100 or list(sizes) != sorted(set(sizes)):
        raise argparse.ArgumentTypeError("give ascending numbers of atoms, 100 or more, separated by commas")
    return sizes


def _warn(about: dict[str, Any]) -> None:
    if about["busy"]:
        print(
            f"WARNING: the load is {about['load']}, so rates will be too low and times too long",
            file=sys.stderr,
        )
    if about["file_system"] in ("tmpfs", "ramfs"):
        print("WARNING: the stores are in memory, where syncing costs nothing; use --folder", file=sys.stderr)


def heading(about: dict[str, Any]) -> str:
    """Return a paragraph that describes the machine and the run, to be pasted above the table."""
    libraries = ", ".join(f"{name} {number}" for name, number in about["libraries"].items())
    busy = " **The machine was busy: rates are too low and times too long.**" if about["busy"] else ""
    return (
        f"{about['date']}, commit {about['commit'] or 'unknown'}, seed {about['seed']}, "
        f"{about['minutes']} minutes. {about['cpu']}, {about['cores']} cores, {about['ram_mb']:,} MB; "
        f"{about['system']}; {about['file_system']}, one fsync {about['fsync_us']} µs; "
        f"Python {about['python']}, {libraries}, kernels {about['kernels']}. "
        f"Load at the start {about['load']}.{busy}"
    )


def _plain(row: Row) -> dict[str, Any]:
    values = {name: value for name, value in asdict(row).items() if name != "unit"}
    return values | {"unit_example": row.cells()["memroot"], "ratio": row.ratio, "reached": row.reached}


if __name__ == "__main__":
    main()
