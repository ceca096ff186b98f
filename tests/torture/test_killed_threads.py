"""A process is killed while several of its threads add texts to one memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.engine import Engine
from tests.support.leveldb import needs_leveldb

ROUNDS = (40, 150)
"""The number of acknowledged texts after which the process is killed, in each round."""

WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from engine.engine import Engine

memory = Engine.open(sys.argv[1])
with ThreadPoolExecutor(8) as pool:
    def add(number):
        # One call of write, so that lines of two threads do not mix.
        sys.stdout.write(memory.add(f"text {number} of round {sys.argv[2]}").id + "\\n")
        sys.stdout.flush()
    list(pool.map(add, range(100_000)))
"""


@pytest.mark.parametrize("scheme", ["sqlite", pytest.param("leveldb", marks=needs_leveldb)])
def test_what_any_thread_was_told_is_there_after_a_kill(tmp_path: Path, scheme: str) -> None:
    """Each text that was acknowledged to a thread is in the memory, once, and the memory verifies."""
    url = f"{scheme}:{tmp_path / 'store'}"
    told: set[str] = set()
    for lines in ROUNDS:
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, url, str(lines)],
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        assert process.stdout is not None
        for _ in range(lines):
            told.add(process.stdout.readline().strip())
        process.kill()
        rest, _ = process.communicate()
        told.update(line for line in rest.split("\n")[:-1])
        with Engine.open(url) as memory:
            report = memory.verify()
            assert report.ok, report.differences
            assert {memory.get(one).id for one in told} == told
