"""Several memories in one file keep to their models after any history."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.several import SeveralMachine
from tests.support.soak import times

pytestmark = pytest.mark.slow


def check(folder: Path, examples: int, steps: int) -> None:
    """Run the machine with this number of examples and steps, each in a new folder."""
    numbers = itertools.count()

    def machine() -> SeveralMachine:
        place = folder / str(next(numbers))
        place.mkdir()
        return SeveralMachine(place)

    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        machine,  # type: ignore[arg-type]
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=slow
        ),
    )


def test_any_history_of_two_memories(tmp_path: Path) -> None:
    """Erasing, dreaming, merging and superseding leave both memories as their models say."""
    check(tmp_path, examples=times(20), steps=15)


@pytest.mark.soak
def test_any_history_of_two_memories_for_long(tmp_path: Path) -> None:
    """The same holds for 300 histories of 40 steps."""
    check(tmp_path, examples=300, steps=40)
