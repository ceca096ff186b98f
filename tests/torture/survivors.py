"""Mutation test of commits and followers: `python -m tests.torture.survivors [MODULE...]`.

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

from tests.torture.mutants import MODULES, ROOT, lines_of, sites, source_of
from tests.torture.reached import reached

RESULTS: Final = ROOT / "build" / "mutants.jsonl"
"""One line for each mutant that was tested: its module, the SHA-256 of the code, its name, and the result."""

TESTS: Final = (
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

PATIENCE: Final = 4
"""Tests that take this many times as long as usual, and START_SECONDS more, count as tests that hang."""

START_SECONDS: Final = 60

_ORDER: Final = "writes are lost from the end only, and what is lost is done again"

_LOCKED: Final = "no other process writes while the store is locked"

_LAG: Final = "followers that lag are updated before they are read"

_MEMORY: Final = "only memory is kept for longer, or filled again"

_TOLD: Final = "only the person who waits is told less"

ARGUED: Final = {
    "engine.followers.base": {
        "_is_at: _decode_cursor(raw, follower.name): no call": "catching up decodes it, too",
        "catch_up: cursor.size >= stop: never": "no entries are left, and none end the loop, too",
        "catch_up: reached >= stop: never": "the next round finds nothing to do",
        "drop: backend.write(batch, durable=True): not durable": _ORDER,
        "catch_up_at_once: guards: always": "an empty batch changes nothing",
        "catch_up_at_once: log.size - cursor.size > AT_ONCE_EVENTS_MAX: never": (
            "more events are processed in one batch, with the same rows"
        ),
    },
    "engine.store.maintenance": {
        "_check_journal: erased: always": "the events are checked as well, only more slowly",
        "_check_journal: progress(at // 2, log.size): no call": _TOLD,
        "_check_journal: backend.write(corrected, guard=guard, durable=True): not durable": _ORDER,
        "_correct_erasures: backend.write(batch, guard=guard, durable=True): not durable": _ORDER,
        "_later_erasures: len(row) == len(encode_seq(size)) and row >= encode_seq(size): always": (
            "the row of an earlier event explains no missing payload, so the rebuild still fails"
        ),
        "_later_erasures: not named: never": "the payloads are read, and nothing is looked up in them",
        "check_copy: progress(size, size): no call": _TOLD,
        "copy: erased: always": "the files are rewritten although nothing in them was destroyed",
        "rebuild: progress((size + at) // 2, size): no call": _TOLD,
        "rebuild: progress(size, size): no call": _TOLD,
        "rebuild: store.follow_together(*store.projections, stop=at): no call": (
            "`follow` computes the same rows, one projection after the other"
        ),
        "rebuild: store.recent.add(entries): no call": _MEMORY,
    },
    "engine.erase.destroy": {
        "carry_out: edges: always": _LAG,
        "carry_out: edges: never": _LAG,
        "carry_out: progress('events'): no call": _TOLD,
        "carry_out: store.follow(more=True): no call": _LAG,
        "carry_out: store.recent.clear(): no call": (
            "followers that read the content from memory remove it again, as those that were not behind do"
        ),
        "finish: progress('files'): no call": _TOLD,
        "finish: progress('followers'): no call": _TOLD,
        "finish: store.backend.write(done, guard=Guard(ERASING, row), durable=True): no guard": _LOCKED,
        "finish: store.backend.write(done, guard=Guard(ERASING, row), durable=True): not durable": _ORDER,
    },
    "engine.store.commit": {
        "_drop: count == len(self._entries): never": "the sum is the same, only slower",
        "_write: store.head.trust(log): no call": "the head is checked once more",
        "_answer: self._request_keys is None: always": _MEMORY,
    },
    "engine.store.bulk": {
        "_follow_more: store.follow(more=True): no call": _LAG,
        "commit_many: followers.wait(): no call": _LAG,
        "commit_many: _follow_more(store): no call": _LAG,
        "commit_many: behind < limits.FOLLOW_EVENTS_MAX // 2: never": _LAG,
    },
    "engine.store.views": {
        "_catch_up_all: followers: always": "more followers are updated than are needed",
        "follow: more and (not followers): never": _LAG,
        "follow: catch_up_together(self.backend, self.read, self.followers, stop=stop): no call": _LAG,
        "follow: not followers and stop is None and (not more): always": _MEMORY,
        "unless_unwritable: self._missing_rows is not None: never": _MEMORY,
        "unless_unwritable: self._missing_rows.drop(): no call": _MEMORY,
        "_view_in_memory: self._missing_rows is None: always": _MEMORY,
        "view: not are_current(rows, read_log(rows), (self.records, *followers)): never": (
            "no other process appends while the store is locked"
        ),
    },
}
"""Module → the name of a surviving mutant → why nothing has to catch it. Only the tests that run its line are
tried on it."""


def caught(module: str, number: int) -> str:
    """Return how a mutant is caught: `test`, `hangs`, or an empty string if it survives."""
    site = sites(module)[number]
    found = reached(TESTS, _state())
    rounds = found.tests(module, *lines_of(module, site))
    if site.name in ARGUED.get(module, {}):
        del rounds[1:]
    made = (_run(tests, START_SECONDS + PATIENCE * found.seconds(tests), module, number) for tests in rounds)
    return next(filter(None, made), "")


def _run(tests: Sequence[str], timeout: float, module: str, number: int) -> str:
    """Return how these tests catch a mutant: `test`, `hangs`, or an empty string if they do not."""
    if not tests:
        return ""
    plugins = ["-p", "tests.torture.mutated", "-p", "no:cacheprovider"]
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
    reached(TESTS, _state())
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


@cache
def _state() -> str:
    """Return a name for the code of the modules and the files of all tests, which changes if these change."""
    digest = hashlib.sha256(_digest(*MODULES).encode())
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
    tried, left = survivors(sys.argv[1:] or list(MODULES))
    for module, name in left:
        why = ARGUED.get(module, {}).get(name, "SURVIVES")
        print(f"{module}: {name}\n    {why}")  # noqa: T201  a report for the terminal
    print(f"{tried} mutants, {tried - len(left)} caught")  # noqa: T201  as above
