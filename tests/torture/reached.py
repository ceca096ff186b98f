"""Which tests run a line of a module: the tests that may catch a mutant of that line, the fastest first.

As a plugin of pytest (`-p tests.torture.reached`), it writes the duration of each test to the file that
MEMROOT_DURATIONS names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import coverage
import pytest

from tests.torture.mutants import MODULES, ROOT

SECONDS_MAX: Final = 20.0
"""The tests of one line take no longer than this in all."""

VARIANTS_MAX: Final = 3
"""The number of parameter sets of one test that are taken for a line."""

_DURATIONS: Final[dict[str, float]] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how long a test took that passed."""
    if report.when == "call" and report.passed:
        _DURATIONS[report.nodeid] = report.duration


def pytest_sessionfinish() -> None:
    """Write the durations."""
    if place := os.environ.get("MEMROOT_DURATIONS"):
        Path(place).write_text(json.dumps(_DURATIONS), encoding="utf-8")


class Reached:
    """What one run of the tests showed."""

    def __init__(self, lines: dict[str, dict[int, list[str]]], durations: dict[str, float]) -> None:
        self._lines = lines
        self._durations = durations

    def tests(self, module: str, first: int, last: int) -> list[str]:
        """Return the names of tests that run a line from `first` to `last`, within the limits above."""
        lines = self._lines[module]
        names = {context.partition("|")[0] for at in range(first, last + 1) for context in lines.get(at, ())}
        chosen, seconds = [], 0.0
        variants: dict[str, int] = defaultdict(int)
        for name in sorted(names & self._durations.keys(), key=lambda name: (self._durations[name], name)):
            function = name.partition("[")[0]
            if variants[function] == VARIANTS_MAX:
                continue
            seconds += self._durations[name]
            if seconds > SECONDS_MAX:
                break
            variants[function] += 1
            chosen.append(name)
        return chosen


@lru_cache(maxsize=1)
def reached(tests: Sequence[str], key: str) -> Reached:
    """Return what `tests` reach. A run under the same `key` is kept in `build`."""
    data, durations = ROOT / "build" / f"reached-{key}.coverage", ROOT / "build" / f"reached-{key}.json"
    if not durations.exists():
        data.parent.mkdir(exist_ok=True)
        watched = [f"--cov={module}" for module in MODULES]
        plugins = ["-p", "tests.torture.reached", "-p", "no:cacheprovider", "--cov-config=/dev/null"]
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                *plugins,
                *watched,
                "--cov-context=test",
                "--cov-report=",
                *tests,
            ],
            cwd=ROOT,
            env=os.environ | {"COVERAGE_FILE": str(data), "MEMROOT_DURATIONS": str(durations)},
            capture_output=True,
            check=True,
        )
    found = coverage.CoverageData(str(data))
    found.read()
    lines = {
        module: found.contexts_by_lineno(str(ROOT / f"{module.replace('.', '/')}.py")) for module in MODULES
    }
    return Reached(lines, json.loads(durations.read_text(encoding="utf-8")))
