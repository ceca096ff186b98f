"""The program on the page about memories on a service runs and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.memory import named_memories as changing
from tests.clients.support import serving
from tests.support.pages import SERVICE, Block, blocks, run

PROGRAMS = [block for block in blocks("python") if block.note == SERVICE]
ADDRESS = "https://memory.example.com"


@pytest.mark.parametrize("block", PROGRAMS, ids=lambda block: block.name)
def test_the_program_runs_beside_a_service(block: Block, forked: Path, tmp_path: Path) -> None:
    """With the address of a service and a token, the program prints the `output` block that follows it."""
    url = f"sqlite:{tmp_path / 'memories.db'}"
    assert changing.create(url, "team", actor="admin")
    with serving(url) as address:
        program = tmp_path / "example.py"
        assert ADDRESS in block.text
        text = block.text.replace(ADDRESS, address).replace('os.environ["MEMROOT_TOKEN"]', '"writer"')
        program.write_text(text, encoding="utf-8")
        code, printed = run(forked, tmp_path, "python", str(program))
    assert (code, printed) == (0, block.output)


def test_there_is_such_a_program() -> None:
    """At least one page shows a program that uses a service."""
    assert PROGRAMS
