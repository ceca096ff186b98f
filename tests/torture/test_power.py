"""A loss of power at any moment of a run loses nothing acknowledged, and leaves a store that opens."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import pytest

from tests.support.leveldb import LEVELDB, needs_leveldb
from tests.support.soak import often
from tests.torture.calls import Call, why_not
from tests.torture.disk import Disk
from tests.torture.oracle import BROKEN, LOST, NOT_OPENED, WRONG
from tests.torture.power import Run, State, explore, recorded, states

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(memory: Path) -> Callable[[str], Run]:
    """Return a function that records the run of a backend once."""
    if reason := why_not():
        pytest.skip(reason)
    return cache(lambda scheme: recorded(scheme, 1, 60, memory / scheme))


@pytest.mark.parametrize("number", often(60, 500))
@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_no_loss_of_power_loses_an_acknowledged_event(
    runs: Callable[[str], Run], scheme: str, number: int, memory: Path
) -> None:
    """In every state that opens, the journal is a prefix with every acknowledged event, and it replays."""
    run = runs(scheme)
    counts, told = explore(run, states(run, 1, number), memory / scheme)
    assert counts["states"] == number
    assert counts["opened"] + counts["rescued"] > number * 0.8
    assert (counts[LOST], counts[WRONG], counts[BROKEN]) == (0, 0, 0), told
    assert counts[NOT_OPENED] == 0, told


@needs_leveldb
def test_a_log_with_a_missing_block_is_opened_or_rescued(runs: Callable[[str], Run], memory: Path) -> None:
    """A store whose log lacks a block that was not synced is not out of reach of every command."""
    run = runs("leveldb")
    tried = [one for one in states(run, 2, 500) if one.mode == "blocks of 512"]
    counts, told = explore(run, tried, memory / "leveldb")
    assert counts[NOT_OPENED] == 0, told


@needs_leveldb
def test_an_opening_that_loses_names_in_any_order_loses_no_event(
    runs: Callable[[str], Run], memory: Path
) -> None:
    """Where names reach the disk in any order, no event is lost, and the store opens or is rescued.

    The first opening of a new store is among these: there is nothing to rescue yet, so the store must open.
    """
    run = runs("leveldb")
    renamed = [at for at, call in enumerate(run.calls) if call.to.endswith("db/CURRENT")]
    tried = [
        State(at + 1 + later, "names", ordered=False, number=number)
        for at in renamed[2:]
        for later in range(8)
        for number in range(8)
        if at + 1 + later <= len(run.calls)
    ]
    counts, told = explore(run, tried, memory / "leveldb")
    assert (counts[LOST], counts[NOT_OPENED]) == (0, 0), told


RUN = [
    Call("open", "a", flags="O_CREAT"),
    Call("write", "a", data=b"one"),
    Call("sync", "a", begun=2),
    Call("write", "a", data=b"two"),
    Call("rename", "a", "b"),
]


def left_of(run: list[Call], mode: str, *, ordered: bool, seed: int = 0) -> dict[str, bytes | None]:
    """Return what a loss of power leaves after a run."""
    disk = Disk(ordered=ordered)
    for call in run:
        disk.apply(call)
    return disk.after_power_loss(mode, Random(seed))  # type: ignore[arg-type]


def test_what_was_synced_stays_and_the_rest_may_go() -> None:
    """The model keeps synced bytes, and the name of a synced file where names are ordered."""
    assert left_of(RUN, "dropped", ordered=True) == {"a": b"one"}
    assert left_of(RUN, "dropped", ordered=False) == {}
    assert left_of([*RUN, Call("sync", "", begun=5)], "dropped", ordered=False) == {"b": b"one"}


def test_a_torn_write_keeps_its_beginning() -> None:
    """The model keeps any beginning of the bytes that were not synced, and the new name."""
    found = {left_of(RUN, "prefix", ordered=True, seed=seed)["b"] for seed in range(50)}
    assert {b"one", b"onet", b"onetw", b"onetwo"} == found


def test_a_write_during_a_sync_is_not_taken_for_synced() -> None:
    """Bytes that another thread wrote after a sync began are not durable when the sync ends."""
    run = [*RUN[:2], Call("write", "a", data=b"late"), Call("sync", "a", begun=2)]
    assert left_of(run, "dropped", ordered=True) == {"a": b"one"}


def test_names_are_lost_in_any_order_or_from_the_end() -> None:
    """The model loses any changes of names that no sync covers, or the newest where they are ordered."""
    run = [
        call
        for name in "ab"
        for call in (Call("open", name, flags="O_CREAT"), Call("write", name, data=b"x"))
    ]
    found = {frozenset(left_of(run, "names", ordered=False, seed=seed)) for seed in range(50)}
    assert found == {frozenset(), frozenset("a"), frozenset("b"), frozenset("ab")}
    in_order = {frozenset(left_of(run, "names", ordered=True, seed=seed)) for seed in range(50)}
    assert in_order == {frozenset(), frozenset("a"), frozenset("ab")}
