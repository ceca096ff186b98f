"""Several processes on one store lose nothing, whatever fails, and a history follows from its seed."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.torture.simulation import FAILURES, simulate

pytestmark = pytest.mark.slow

HISTORIES = 20
REFUSED = (56, 71, 99, 247, 5065)
"""Histories in which a sound row is taken for damaged."""
REBUILT_TWICE = 2026112400025235
"""A history in which one rebuild is overtaken by another while it deletes rows."""


@pytest.mark.parametrize("processes", [2, 3])
def test_several_processes_lose_nothing_whatever_fails(processes: int) -> None:
    """Every receipt is in the journal at its place, `was_kept` tells the truth, and the store replays."""
    total: Counter[str] = Counter()
    for seed in range(HISTORIES):
        counts, _ = simulate(seed, processes)
        assert {name: counts[name] for name in FAILURES} == dict.fromkeys(FAILURES, 0), (seed, counts)
        total += counts
    assert total["faults"] > HISTORIES
    assert total["acknowledged"] > 5 * HISTORIES


def test_a_history_follows_from_its_seed() -> None:
    """The same seed gives the same steps and faults in the same order; another seed gives others."""
    assert simulate(3) == simulate(3)
    assert simulate(3)[1] != simulate(4)[1]


def test_sound_rows_are_not_taken_for_damaged() -> None:
    """No process refuses rows that nothing but processes of the same kind have written."""
    total: Counter[str] = Counter()
    for seed in REFUSED:
        total += simulate(seed, 3)[0]
    assert {name: total[name] for name in FAILURES} == dict.fromkeys(FAILURES, 0), total


def test_a_rebuild_that_was_overtaken_voids_no_rows() -> None:
    """A process whose rebuild another one has finished does not set a cursor back before rows that exist."""
    counts, _ = simulate(REBUILT_TWICE, 3)
    assert {name: counts[name] for name in FAILURES} == dict.fromkeys(FAILURES, 0), counts
