"""Which tests run a line of a module: the tests that may catch a mutant of that line, the fastest first.

As a plugin of pytest (`-p tests.mutants.reached`), it writes the duration of each test to the file that
MEMROOT_DURATIONS names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Final

import coverage
import pytest

from tests.mutants.sites import ROOT

FIRST_SECONDS: Final = 20.0
"""The fastest tests of a line, which take no longer than this in all, are run first."""

VARIANTS_MAX: Final = 3
"""The number of parameter sets of one test that are run first."""

ALL_SECONDS: Final = 400.0
"""All tests that are run for a line take no longer than this in all."""

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
    """What one run of the tests showed, with the kernels if they are there."""

    def __init__(self, lines: dict[str, dict[int, list[str]]], durations: dict[str, float]) -> None:
        self._lines = lines
        self._durations = durations

    def tests(self, module: str, first: int, last: int) -> list[list[str]]:
        """Return the tests that run a line from `first` to `last`: those to run first, and the others.

        Both begin with the fastest test, and have the limits above.
        """
        lines = self._lines[module]
        names = {context.partition("|")[0] for at in range(first, last + 1) for context in lines.get(at, ())}
        fastest = sorted(names & self._durations.keys(), key=lambda name: (self._durations[name], name))
        variants = Counter[str]()
        few = []
        for name in fastest:
            variants[name.partition("[")[0]] += 1
            if variants[name.partition("[")[0]] <= VARIANTS_MAX:
                few.append(name)
        chosen = self._within(few, FIRST_SECONDS)
        listed = set(chosen)
        return [chosen, self._within([name for name in fastest if name not in listed], ALL_SECONDS)]

    def seconds(self, tests: Sequence[str]) -> float:
        """Return the time, in seconds, that these tests took."""
        return sum(self._durations[name] for name in tests)

    def _within(self, names: Sequence[str], seconds: float) -> list[str]:
        """Return the first of these tests, which take no longer than that in all."""
        ends = accumulate(self._durations[name] for name in names)
        return [name for name, end in zip(names, ends, strict=True) if end <= seconds]


@cache
def reached(modules: Sequence[str], tests: Sequence[str], key: str) -> Reached:
    """Return which lines of `modules` the `tests` reach. A run under the same `key` is kept in `build`."""
    data, durations = ROOT / "build" / f"reached-{key}.coverage", ROOT / "build" / f"reached-{key}.json"
    if not durations.exists():
        data.parent.mkdir(exist_ok=True)
        watched = [f"--cov={module}" for module in modules]
        plugins = ["-p", "tests.mutants.reached", "-p", "no:cacheprovider", "-n", "2"]
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                *plugins,
                *watched,
                "--cov-config=/dev/null",
                "--cov-context=test",
                "--cov-report=",
                *tests,
            ],
            cwd=ROOT,
            env=os.environ | {"COVERAGE_FILE": str(data), "MEMROOT_DURATIONS": str(durations)},
            stdout=subprocess.DEVNULL,
            check=True,
        )
    found = coverage.CoverageData(str(data))
    found.read()
    lines = {
        module: found.contexts_by_lineno(str(ROOT / f"{module.replace('.', '/')}.py")) for module in modules
    }
    return Reached(lines, json.loads(durations.read_text(encoding="utf-8")))
