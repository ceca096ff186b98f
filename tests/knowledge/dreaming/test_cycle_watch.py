"""Dreaming in idle time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from backends.memory import MemoryBackend
from engine.base.errors import BusyError, InvalidInputError
from engine.knowledge.dreaming.cycle import STEP, DreamReport, StopSignal, until_signalled, watch
from engine.store.store import Store
from tests.knowledge.dreaming.support import EAGER, LETTERS, added, dreamt
from tests.support.engines import engine_on


class Looks(StopSignal):
    """A signal that is set after this many checks, without waiting, and that acts in between."""

    def __init__(self, looks: int, between: Callable[[int], None] = lambda _look: None) -> None:
        super().__init__()
        self.looks, self.between, self.waited, self.over = looks, between, 0, False

    def wait(self, seconds: float) -> None:
        """Another look is over."""
        self.waited += 1
        self.between(self.waited)
        if self.waited == self.looks:
            self.over = True

    def is_set(self) -> bool:
        """Whether there were enough looks."""
        return self.over


class Opened:
    """A store that is opened and closed, with a count of the openings."""

    def __init__(self) -> None:
        self.engine = engine_on(MemoryBackend())
        self.open = 0
        self.busy = False

    @contextmanager
    def __call__(self) -> Iterator[Store]:
        """Open it."""
        if self.busy:
            raise BusyError("held elsewhere")
        self.open += 1
        try:
            yield self.engine.store
        finally:
            self.open -= 1


def test_a_quiet_store_is_dreamt_over() -> None:
    """A cycle runs if no event was added between two checks."""
    store, reports = Opened(), list[DreamReport]()
    added(store.engine, *LETTERS)
    watch(store, reports.append, quiet=1, stop=Looks(2), config=EAGER)
    assert [report.looked_at for report in reports] == [4]
    assert dreamt(store.engine)


def test_a_store_that_is_written_to_is_left_alone() -> None:
    """No cycle begins while there are new events at each check."""
    store, reports = Opened(), list[DreamReport]()

    def write(look: int) -> None:
        added(store.engine, f"text {look}")

    watch(
        store,
        reports.append,
        quiet=1,
        stop=Looks(4, write),
        config=EAGER,
    )
    assert not reports
    assert not dreamt(store.engine)


def test_it_goes_on_a_cycle_at_a_time() -> None:
    """Each further idle check runs another cycle until nothing is left to report."""
    store, reports = Opened(), list[DreamReport]()
    added(store.engine, *LETTERS)
    watch(store, reports.append, quiet=1, stop=Looks(6), budget=4, config=EAGER)
    assert [(report.read, report.looked_at, report.left) for report in reports] == [(4, 0, 4), (0, 4, 0)]


def test_the_store_is_released_between_cycles() -> None:
    """The store is closed while the watcher waits."""
    store, held = Opened(), list[int]()
    added(store.engine, *LETTERS)
    watch(store, lambda _report: None, quiet=1, stop=Looks(3, lambda _look: held.append(store.open)))
    assert held == [0, 0, 0]


def test_a_store_in_use_is_waited_for() -> None:
    """A store that another process holds is not an error, and is dreamt over after two more checks."""
    store, reports = Opened(), list[DreamReport]()
    added(store.engine, *LETTERS)
    store.busy = True

    def release(look: int) -> None:
        store.busy = look < 2

    watch(store, reports.append, quiet=1, stop=Looks(3, release), config=EAGER)
    assert not reports
    watch(store, reports.append, quiet=1, stop=Looks(2), config=EAGER)
    assert len(reports) == 1


def test_a_store_that_was_in_use_has_to_be_quiet_anew() -> None:
    """After a check that found the store in use, a further check precedes a cycle."""
    store, reports = Opened(), list[DreamReport]()
    added(store.engine, *LETTERS)

    def hold(look: int) -> None:
        store.busy = look == 1

    watch(store, reports.append, quiet=1, stop=Looks(3, hold), config=EAGER)
    assert not reports


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(number: signal.Signals) -> None:
    """SIGINT and SIGTERM set the signal, and are restored afterwards."""
    before = signal.getsignal(number)
    with until_signalled() as ended:
        assert not ended.is_set()
        os.kill(os.getpid(), number)
        ended.wait(5)
        assert ended.is_set()
    assert signal.getsignal(number) is before


def test_a_cycle_ends_at_its_next_step_when_told() -> None:
    """A signal during a cycle ends it at the next step and leaves the rest."""
    store = Opened()
    added(store.engine, *(f"text number {number}" for number in range(2 * STEP)))
    ended = threading.Event()
    report = store.engine.dream(stop=ended.is_set, progress=lambda _done, _total: ended.set(), config=EAGER)
    assert 0 < report.read < 2 * STEP
    assert report.left


@pytest.mark.parametrize("quiet", [0, -1, True, "1"])
def test_idle_time_without_sense_is_refused(quiet: object) -> None:
    """Seconds that are not a number above 0 raise an error."""
    with pytest.raises(InvalidInputError):
        watch(Opened(), lambda _report: None, quiet=quiet, stop=Looks(1))  # type: ignore[arg-type]
