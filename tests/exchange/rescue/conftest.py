"""The place of the store that the tests of rescues damage."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The path of a store to damage."""
    return tmp_path / "store"
