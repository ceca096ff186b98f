"""A write that would put events into the future is refused, and the clock that is compared is not stored."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from backends.memory import MemoryBackend
from engine import Engine, RefusedError
from engine.engine import wall_clock
from engine.store.commit import AHEAD_SECONDS

DAY = 86_400 * 1_000_000
BOUND = int(AHEAD_SECONDS * 1_000_000)


def away(by: int) -> Callable[..., int]:
    """Return a clock that differs from that of the machine by some µs."""
    return lambda *_: wall_clock() + by


def salt(seq: int) -> bytes:
    """Return a salt that follows from the seq."""
    return bytes([seq % 251]) * 32


@pytest.mark.parametrize("existing", [False, True])
def test_a_process_ahead_of_the_database_writes_nothing(
    existing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process whose clock is 30 days ahead creates no store, and adds nothing to one that exists."""
    backend = MemoryBackend()
    if existing:
        Engine(backend, clock=away(-31 * DAY))
    monkeypatch.setattr(MemoryBackend, "clock", away(-30 * DAY))
    before = dict(backend.scan())
    with pytest.raises(RefusedError, match=r"the clock of this process is 2,59\d,\d{3} seconds ahead"):
        Engine(backend).add("The kettle is descaled with vinegar.")
    assert dict(backend.scan()) == before


def test_events_from_the_future_are_named_and_not_followed_by_others() -> None:
    """After a clock was wrong, writes say so, `status` names the events, and a given clock goes on."""
    backend = MemoryBackend()
    Engine(backend, clock=away(0)).add("one")
    Engine(backend, clock=away(30 * DAY)).add("two")
    memory = Engine(backend)
    assert memory.status().ahead == 2
    with pytest.raises(RefusedError, match=r"the last event is from .* ahead of this machine") as refusal:
        memory.add("three")
    assert "docs/durability.md" in refusal.value.hint
    assert memory.size == 3
    Engine(backend, clock=away(0)).add("three")
    assert memory.status().events == 4


def test_a_small_difference_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks that are a minute apart do no harm, and no event counts as one from the future."""
    monkeypatch.setattr(MemoryBackend, "clock", away(-BOUND + 60_000_000))
    memory = Engine(MemoryBackend())
    memory.add("one")
    assert memory.status().ahead is None


def test_the_database_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes do not cost a question each, as long as the first answer allows them."""
    asked: list[int] = []

    def clock(_: MemoryBackend) -> int:
        asked.append(1)
        return wall_clock()

    monkeypatch.setattr(MemoryBackend, "clock", clock)
    memory = Engine(MemoryBackend())
    for text in ("one", "two", "three"):
        memory.add(text)
    assert len(asked) == 1


def test_a_clock_that_jumps_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that runs while its clock is set forward writes nothing more."""
    machine = time.time_ns
    monkeypatch.setattr(MemoryBackend, "clock", lambda _: machine() // 1000)
    memory = Engine(MemoryBackend())
    memory.add("one")
    monkeypatch.setattr(time, "time_ns", lambda: machine() + 30 * DAY * 1000)
    with pytest.raises(RefusedError, match="the clock of this process"):
        memory.add("two")


def test_no_byte_depends_on_the_clock_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever time the database tells, the same commands at the same times give the same rows."""
    now = wall_clock()
    monkeypatch.setattr(time, "time_ns", lambda: now * 1000)
    stores = []
    for told in (now, now + DAY, now - BOUND):
        monkeypatch.setattr(MemoryBackend, "clock", lambda _, told=told: told)
        stores.append(MemoryBackend())
        Engine(stores[-1], salts=salt).add("one", tags=["red"])
    assert len({tuple(store.scan()) for store in stores}) == 1
