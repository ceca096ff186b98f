"""No command is misled by a row that was changed behind the engine's back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.soak import seed, times
from tests.torture.tampered import FAULTS, torture

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("part", range(4))
def test_no_changed_row_misleads_a_command(part: int, tmp_path: Path) -> None:
    """After any change of one row, a command is refused, or it does what it does in the untouched store."""
    counts, told = torture("memory", seed(100 + part), times(120), tmp_path)
    assert counts["refused"] > 0
    assert {name: counts[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0), told


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("scheme", ["memory", "sqlite", "leveldb"])
def test_no_changed_row_misleads_a_command_on_any_backend(scheme: str, part: int, tmp_path: Path) -> None:
    """The same holds on every backend, with many more changes."""
    counts, told = torture(scheme, seed(200 + part), times(2000), tmp_path)
    assert {name: counts[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0), told
