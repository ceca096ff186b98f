"""The store into which the tests of this folder import."""

from __future__ import annotations

import pytest

from engine.engine import Engine
from tests.support.engines import engine_on


@pytest.fixture
def engine() -> Engine:
    """Return an empty store."""
    return engine_on()
