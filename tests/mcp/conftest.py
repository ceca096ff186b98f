"""Fixtures: an empty memory behind a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.engine import Engine
from tests.mcp.support import Memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    """Return an empty memory."""
    with Engine.open("memory:", actor="agent") as engine:
        yield Memory(engine)


@pytest.fixture
def kettle(memory: Memory) -> str:
    """Return the id of an atom about a kettle in a store with other atoms."""
    memory.found("remember", content="Vinegar is kept below the sink.", tags=["kitchen"])
    memory.found("remember", content="The daemon listens on a unix socket.", title="Daemon")
    kept = memory.found(
        "remember",
        content="The kettle is descaled on Mondays with half a cup of vinegar.",
        title="Kettle",
        tags=["Kitchen", "chores"],
        source="notes/tea.md",
    )
    return str(kept["id"])
