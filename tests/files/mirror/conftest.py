"""The store that the tests of mirrors share."""

from __future__ import annotations

import pytest

from engine.engine import Engine
from tests.support.engines import engine_on


@pytest.fixture
def engine() -> Engine:
    """Return a store of two atoms."""
    found = engine_on()
    found.add("one", source="s", tags=["t"])
    found.add("two", source="s")
    return found
