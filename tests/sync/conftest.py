"""Fixtures of the devices of a family."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sync.devices import Family


@pytest.fixture
def family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Family]:
    """A family without devices, whose folder and keys are below the test's folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    family = Family(tmp_path / "folder")
    yield family
    for device in family.devices.values():
        device.close()
