"""A memory behind a server, for each test a new one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.engine import Engine
from tests.mcp.support import Memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    """An empty memory."""
    with Engine.open("memory:", actor="agent") as engine:
        yield Memory(engine)


@pytest.fixture
def kettle(memory: Memory) -> str:
    """The id of an atom about a kettle, among others."""
    memory.found("remember", text="Vinegar is kept below the sink.", tags=["kitchen"])
    memory.found("remember", text="The daemon listens on a unix socket.", title="Daemon")
    kept = memory.found(
        "remember",
        text="The kettle is descaled on Mondays with half a cup of vinegar.",
        title="Kettle",
        tags=["Kitchen", "chores"],
        source="notes/tea.md",
    )
    return str(kept["id"])
