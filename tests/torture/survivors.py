"""Mutation test of commits and followers: `python -m tests.torture.survivors [MODULE...]`.

Each mutant is tested in a process of its own. A mutant that no test catches must be listed in ARGUED.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from tests.torture.mutants import MODULES, ROOT, Site, sites

BATTERY: Final = (
    "tests/store/test_faults.py",
    "tests/store/test_overtaken.py",
    "tests/store/test_sequence.py",
    "tests/followers/test_followers.py",
    "tests/torture/test_simulation.py",
    "tests/erase/test_killed.py",
    "tests/erase/test_laws.py",
    "tests/trust/audit/test_tamper.py",
    "tests/store/test_bulk.py",
    "tests/store/test_threads.py",
    "tests/store/test_startup.py",
    "tests/commands/test_bulk.py",
)
"""The tests that a mutant has to pass to survive, the fastest first."""

TIMEOUT_SECONDS: Final = 400
"""The time after which a mutant counts as one that hangs; all tests together take about one minute."""

ARGUED: Final[dict[str, str]] = {}
"""Surviving mutant, as `MODULE: NAME` → why nothing has to catch it."""


def caught(module: str, number: int) -> str:
    """Return how a mutant is caught: `test`, `hangs`, or an empty string if it survives."""
    plugins = ["-p", "tests.torture.mutated", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-x", "-q", *plugins]
    try:
        made = subprocess.run(
            [*command, *BATTERY], cwd=ROOT, env=os.environ | {"MEMROOT_MUTANT": f"{module}:{number}"},
            capture_output=True, check=False, timeout=TIMEOUT_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "hangs"
    return "test" if made.returncode else ""


def survivors(modules: list[str], workers: int = 2) -> tuple[int, list[str]]:
    """Try every mutant of the modules; return their number, and the names of those that survive."""
    jobs: list[tuple[str, int, Site]] = [
        (module, number, site) for module in modules for number, site in enumerate(sites(module))
    ]
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(lambda job: caught(job[0], job[1]), jobs))
    return len(jobs), [
        f"{module}: {site.name}" for (module, _, site), how in zip(jobs, found, strict=True) if not how
    ]


if __name__ == "__main__":
    tried, left = survivors(sys.argv[1:] or list(MODULES))
    for name in left:
        print(f"{name}\n    {ARGUED.get(name, 'SURVIVES')}")  # noqa: T201  a report for the terminal
    print(f"{tried} mutants, {tried - len(left)} caught")  # noqa: T201  as above
