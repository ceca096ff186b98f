"""All tests of this folder need Node."""

from __future__ import annotations

import pytest

from tests.javascript.node import needs_node


@pytest.fixture(autouse=True, scope="package")
def _node() -> None:
    """Skip the tests of this folder where Node is missing or too old."""
    needs_node()
