"""The memory for recent events is bounded by bytes, not only by their number."""

from __future__ import annotations

from engine.base.limits import FOLLOW_BYTES_MAX
from engine.ledger.journal import read_entries
from engine.store.commit import Recent
from proofs.events import AtomBody
from tests.support.engines import backend_of, engine_on
from tests.support.workloads import commands


def test_recent_events_are_forgotten_by_size() -> None:
    """Events with large contents are evicted long before the limit on their number is reached."""
    engine = engine_on()
    engine.apply(commands(4))
    entry = next(e for e in read_entries(backend_of(engine), 0, engine.size) if isinstance(e.body, AtomBody))
    assert isinstance(entry.body, AtomBody)
    large = entry.body._replace(content="x" * (FOLLOW_BYTES_MAX // 8))
    recent = Recent()
    for seq in range(40):
        recent.add([entry._replace(header=entry.header._replace(seq=seq), body=large)])
    kept = [seq for seq in range(40) if recent.get(seq, seq + 1)]
    assert kept[-1] == 39
    assert len(kept) <= 8


def test_events_that_all_followers_have_are_forgotten() -> None:
    """After all followers have caught up, no recent events are cached."""
    engine = engine_on()
    engine.apply(commands(10))
    assert engine.store.recent.get(0, engine.size)
    engine.catch_up()
    assert not engine.store.recent.get(0, engine.size)
    assert engine.verify().ok


def test_one_event_larger_than_the_bound_is_not_kept() -> None:
    """An event larger than the limit is read from the journal instead of the cache."""
    engine = engine_on()
    engine.apply(commands(3))
    entry = next(e for e in read_entries(backend_of(engine), 0, engine.size) if isinstance(e.body, AtomBody))
    assert isinstance(entry.body, AtomBody)
    recent = Recent()
    recent.add([entry._replace(body=entry.body._replace(content="x" * (FOLLOW_BYTES_MAX + 1)))])
    assert not recent.get(entry.header.seq, entry.header.seq + 1)
