"""The cache of the events that this process committed last stays within its bounds and has no gap."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.base import limits
from engine.store.commit import Recent
from proofs.events import Entry
from tests.support.engines import engine_on

COUNT = 40
"""The number of events in the journal of the tests."""


@pytest.fixture(scope="module")
def entries() -> Iterator[list[Entry]]:
    """The decoded events of a journal; the contents have ten characters each."""
    with engine_on() as engine:
        for number in range(COUNT - 1):
            engine.add(f"text {number:05}")
        with engine.store.backend.snapshot() as rows:
            yield list(engine.store.read(rows, 0, COUNT))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the bounds small: at most 30 events and 100 characters."""
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 10)
    monkeypatch.setattr(limits, "FOLLOW_BYTES_MAX", 100)


def cached(recent: Recent) -> list[int]:
    """Return the seqs of the cached events."""
    return [seq for seq in range(COUNT) if recent.get(seq, seq + 1)]


def test_contents_beyond_the_bound_are_dropped(entries: list[Entry]) -> None:
    """However the events come, their contents never exceed the bound, and the last events stay."""
    recent = Recent()
    for entry in entries[1:]:
        recent.add([entry])
        assert 1 <= len(cached(recent)) <= 10
        assert cached(recent)[-1] == entry.header.seq


def test_events_beyond_the_bound_are_dropped(entries: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    """If there are more than 30 events, the oldest are dropped, and at least 20 of the last stay."""
    monkeypatch.setattr(limits, "FOLLOW_BYTES_MAX", 10_000)
    recent = Recent()
    recent.add(entries[:30])
    assert cached(recent) == list(range(30))
    recent.add(entries[30:31])
    left = cached(recent)
    assert 20 <= len(left) < 30
    assert left == list(range(31 - len(left), 31))


def test_a_gap_drops_what_came_before_it(entries: list[Entry]) -> None:
    """Events after a gap replace the cached events, so that a range has no missing event."""
    recent = Recent()
    recent.add(entries[1:5])
    recent.add(entries[7:9])
    assert cached(recent) == [7, 8]
    assert recent.get(4, 8) == []


def test_a_cleared_cache_starts_again(entries: list[Entry]) -> None:
    """After clearing, the whole bound is free again."""
    recent = Recent()
    for start in (1, 11, 21):
        recent.add(entries[start : start + 10])
        assert cached(recent) == list(range(start, start + 10))
        recent.clear()
        assert cached(recent) == []
