"""Mutation test of the verifier, commits and followers: `python -m tests.mutants [MODULE...]`.

Each mutant is tested in a process of its own, with the tests that run the changed line. A mutant that no test
catches must be listed in ARGUED. Results are kept in `build/mutants.jsonl`: a mutant that was caught is not
tested again, as long as the module is the same.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from tempfile import NamedTemporaryFile
from typing import Final

import pytest

from tests.mutants.argued import ARGUED
from tests.mutants.reached import Reached, reached
from tests.mutants.sites import ROOT, lines_of, sites, source_of

RESULTS: Final = ROOT / "build" / "mutants.jsonl"
"""One line for each mutant that was tested: its module, the SHA-256 of the code, its name, and the result."""

STORE_MODULES: Final = (
    "engine.store.bulk",
    "engine.store.commit",
    "engine.store.store",
    "engine.store.views",
    "engine.followers.base",
    "engine.followers.records",
    "engine.store.maintenance",
    "engine.erase.destroy",
)
"""The modules through which each commit and each update of a follower goes."""

STORE_TESTS: Final = (
    "tests/store",
    "tests/followers",
    "tests/erase",
    "tests/commands",
    "tests/commands/secrets",
    "tests/trust",
    "tests/exchange",
    "tests/query",
    "tests/backends/sqlite/test_sqlite_bit_rot.py",
    "tests/torture/test_simulation.py",
    "tests/kernels/test_folding.py",
)
"""The tests that a mutant has to pass to count as a survivor: those of them that run the changed line."""

VERIFIER_MODULES: Final = (
    "proofs.basis",
    "proofs.claims",
    "proofs.codec",
    "proofs.envelope",
    "proofs.forms",
    "proofs.leaves",
    "proofs.list_claims",
    "proofs.log",
    "proofs.log_claims",
    "proofs.proof_file",
    "proofs.rows",
    "proofs.smt",
    "proofs.verifier",
)
"""The modules that a verification runs."""

VERIFIER_TESTS: Final = ("tests/soundness", "tests/proofs", "tests/vectors")

GROUPS: Final = {
    **dict.fromkeys(STORE_MODULES, (STORE_MODULES, STORE_TESTS)),
    **dict.fromkeys(VERIFIER_MODULES, (VERIFIER_MODULES, VERIFIER_TESTS)),
}
"""Module → the modules whose tests are found together with its own, and the tests."""

PATIENCE: Final = 4
"""Tests that take this many times as long as usual, and START_SECONDS more, count as tests that hang."""

START_SECONDS: Final = 60


def caught(module: str, number: int) -> str:
    """Return how a mutant is caught: `test`, `hangs`, or an empty string if it survives."""
    site = sites(module)[number]
    found = _reached(module)
    rounds = found.tests(module, *lines_of(module, site))
    if site.name in ARGUED.get(module, {}):
        del rounds[1:]
    made = (_run(tests, START_SECONDS + PATIENCE * found.seconds(tests), module, number) for tests in rounds)
    return next(filter(None, made), "")


def _run(tests: Sequence[str], timeout: float, module: str, number: int) -> str:
    """Return how these tests catch a mutant: `test`, `hangs`, or an empty string if they do not."""
    if not tests:
        return ""
    plugins = ["-p", "tests.mutants.plugin", "-p", "no:cacheprovider"]
    environment = os.environ | {"MEMROOT_MUTANT": f"{module}:{number}"}
    with NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(tests))
        file.flush()
        command = [sys.executable, "-m", "pytest", "-x", "-q", *plugins, f"@{file.name}"]
        try:
            made = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            return "hangs"
    # A test that the mutant keeps from being collected is not found, either.
    if made.returncode == pytest.ExitCode.USAGE_ERROR and b"ERROR collecting" not in made.stdout:
        raise RuntimeError(f"the tests did not run: {made.stdout.decode()[-2000:]}{made.stderr.decode()}")
    return "test" if made.returncode else ""


def survivors(modules: list[str], workers: int = 2) -> tuple[int, list[tuple[str, str]]]:
    """Test every mutant of the modules; return their number, and the modules and names of survivors."""
    known = _known()
    for module in modules:
        _reached(module)
    jobs = [
        (module, number, (module, _digest(module), site.name))
        for module in modules
        for number, site in enumerate(sites(module))
    ]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(_test, [job for job in jobs if not known.get(job[2])]))
    known = _known()
    return len(jobs), [(key[0], key[2]) for _, _, key in jobs if not known[key]]


def _digest(*modules: str) -> str:
    """Return the SHA-256 of the code of modules, without comments and docstrings."""
    digest = hashlib.sha256()
    for module in modules:
        tree = ast.parse(source_of(module))
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = None
        digest.update(ast.unparse(tree).encode())
    return digest.hexdigest()


def _reached(module: str) -> Reached:
    """Return which tests reach which line of a module."""
    modules, tests = GROUPS[module]
    return reached(modules, tests, _state(modules))


@cache
def _state(modules: tuple[str, ...]) -> str:
    """Return a name for the code of the modules and the files of all tests, which changes if these change."""
    digest = hashlib.sha256(_digest(*modules).encode())
    for path in sorted((ROOT / "tests").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _known() -> dict[tuple[str, str, str], str]:
    """Return the results of earlier runs."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {(module, digest, name): how for module, digest, name, how in map(json.loads, lines)}


def _test(job: tuple[str, int, tuple[str, str, str]]) -> None:
    """Test one mutant and keep the result."""
    module, number, key = job
    line = json.dumps([*key, caught(module, number)])
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a") as file:
        file.write(f"{line}\n")


if __name__ == "__main__":
    tried, left = survivors(sys.argv[1:] or list(GROUPS))
    for module, name in left:
        why = ARGUED.get(module, {}).get(name, "SURVIVES")
        print(f"{module}: {name}\n    {why}")  # noqa: T201  a report for the terminal
    print(f"{tried} mutants, {tried - len(left)} caught")  # noqa: T201  as above
