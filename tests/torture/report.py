"""The report of a run as JSON, and the tables of docs/reliability.md, which are made from the JSON."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from engine.base import __version__
from tests.torture.exercises import EXERCISES
from tests.torture.matrix import MATRIX

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "reliability.md"
LAST_RUN: Final = Path(__file__).with_name("last_run.json")
"""The report from which the page is made."""
FAILURES_MAX: Final = 200
TRIALS: Final = ("states", "damages", "trials")


def summarised(results: list[dict[str, Any]], seed: int, share: float, begin: datetime) -> dict[str, Any]:
    """Return the report of a run."""
    return {
        "date": begin.strftime("%Y-%m-%d %H:%M UTC"),
        "seed": seed,
        "share": share,
        "command": f"make torture SEED={seed} SHARE={share:g}",
        "version": __version__,
        "machine": _machine(),
        "seconds": round(sum(one["seconds"] for one in results)),
        "exercises": [
            row
            for name in EXERCISES
            if (of_it := [one for one in results if one["exercise"] == name])
            for row in _rows(name, of_it)
        ],
        "failures": [line for one in results for line in _told(one)][:FAILURES_MAX],
    }


def _machine() -> dict[str, str]:
    found = {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "sqlite": sqlite3.sqlite_version,
        "kernels": os.environ.get("MEMROOT_KERNELS", "auto"),
        "cores": str(os.cpu_count()),
    }
    if sys.platform == "linux":
        found["system"] = platform.release().split("-")[0]
    return found


def _rows(name: str, results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    exercise = EXERCISES[name]
    groups: dict[str, list[dict[str, Any]]] = {}
    for one in results:
        group = one["variant"].partition(" ")[0] if exercise.by_backend else one["variant"]
        groups.setdefault("all decoders" if name == "fuzz" else group, []).append(one)
    for group, members in groups.items():
        counts: Counter[str] = Counter()
        for one in members:
            counts.update(one.get("counts", {}))
        whole = name == "fuzz"
        variants = [one for one in exercise.variants if whole or one == group or one.startswith(f"{group} ")]
        yield {
            "exercise": name,
            "variant": group,
            "trials": sum(counts[name] for name in TRIALS),
            "release": exercise.release * len(variants),
            "counts": dict(sorted(counts.items())),
            "failed": {key: counts[key] for key in exercise.zero if counts[key]},
            "broken off": sum("failed" in one for one in members),
            "skipped": next((one["skipped"] for one in members if "skipped" in one), ""),
        }


def _told(one: dict[str, Any]) -> list[str]:
    where = f"{one['exercise']} {one['variant']}, slice {one['number']}"
    if "failed" in one:
        return [f"{where}: {one['failed']}"]
    return [f"{where}: {line}" for line in one.get("told", [])]


def write(report: dict[str, Any], folder: Path, *, page: bool) -> None:
    """Write the report as JSON and Markdown into a folder; with `page`, also where the page is made from."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    made = rendered(report, PAGE.read_text(encoding="utf-8"))
    (folder / "report.md").write_text(made, encoding="utf-8")
    if page:
        LAST_RUN.write_text(json.dumps(report, indent=1) + "\n")
        PAGE.write_text(made, encoding="utf-8")


def rendered(report: dict[str, Any], page: str) -> str:
    """Return the page with two new tables. The text around the tables does not change."""
    for name, lines in (("faults", _matrix()), ("last run", _last_run(report))):
        begin, _, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        page = "\n".join([f"{begin}<!-- {name} -->", "", *lines, f"{end}{after}"])
    return page


def _matrix() -> Iterator[str]:
    yield "| | fault | required answer | tests | exercises | not tested |"
    yield "|---|---|---|---|---|---|"
    for row in MATRIX:
        tests = "<br>".join(f"`{test}`" for test in row.tests)
        yield _line(row.number, row.fault, row.answer, tests, ", ".join(row.exercises), row.missing)
    yield ""


def _line(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _last_run(report: dict[str, Any]) -> Iterator[str]:
    machine = ", ".join(f"{name} {value}" for name, value in report["machine"].items())
    yield (
        f"{report['date']}, version {report['version']}, seed {report['seed']}, {report['share']:g} of the "
        f"release counts, {report['seconds']:,} seconds for all slices together; {machine}.\n"
    )
    yield f"```console\n$ {report['command']}\n```\n"
    yield "| exercise | on | trials | in a release | failures | outcomes |"
    yield "|---|---|---|---|---|---|"
    for one in report["exercises"]:
        failures = _counted(one["failed"]) or "0"
        if one["broken off"]:
            failures += f"; slices that broke off: {one['broken off']}"
        others = {k: v for k, v in one["counts"].items() if k not in one["failed"] and k not in TRIALS and v}
        outcomes = one["skipped"] or _counted(others)
        yield _line(
            one["exercise"], one["variant"], f"{one['trials']:,}", f"{one['release']:,}", failures, outcomes
        )
    yield ""
    yield "### What a trial is\n"
    yield from _described({one["exercise"] for one in report["exercises"]})
    yield ""


def _described(names: Iterable[str]) -> Iterator[str]:
    for name, exercise in EXERCISES.items():
        if name in names:
            zero = ", ".join(exercise.zero)
            yield f"- **{name}** ({exercise.title}; {exercise.faults}): {exercise.what}. Must be 0: {zero}."


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items())
