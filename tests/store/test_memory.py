"""The memory that rebuilding and verifying take does not grow with the journal."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.base import limits
from engine.commands import Add
from engine.engine import Engine
from engine.followers import base
from engine.store.maintenance import rebuild
from engine.store.replay import Progress
from engine.trust.audit.verify import verify
from proofs.events import Entry
from tests.support.engines import backend_of, engine_on

pytestmark = pytest.mark.slow

STEP = 50
"""The number of events that are read at once during these tests."""

SIZES = (400, 1600)

WORK: dict[str, Callable[[Engine, Progress], object]] = {
    "rebuild": lambda engine, progress: rebuild(backend_of(engine), progress),
    "verify": lambda engine, progress: verify(backend_of(engine), progress=progress),
}


def filled(size: int) -> Engine:
    """Return a memory with short texts, all projections up to date."""
    engine = engine_on()
    engine.apply([Add(f"note {number} of the sea", tags=[f"tag {number % 7}"]) for number in range(size)])
    engine.root()
    return engine


@pytest.fixture
def _without_earlier_objects() -> Iterator[None]:
    """Keep `entries_alive` from looking at each of the million objects that other tests left behind."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def entries_alive() -> int:
    """Return the number of decoded events in memory."""
    return sum(type(one) is Entry for one in gc.get_objects())


@pytest.mark.usefixtures("_without_earlier_objects")
@pytest.mark.parametrize("name", WORK)
def test_few_events_are_in_memory_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At no step are there more decoded events than three times those that are read at once."""
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", STEP)
    for size in SIZES:
        engine = filled(size)
        before = entries_alive()
        counts: list[int] = []
        WORK[name](engine, lambda done, total: counts.append(entries_alive() - before))  # noqa: B023
        assert len(counts) >= size // STEP
        assert 0 < max(counts) <= 3 * STEP + 10


def test_batches_do_not_grow_with_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebuild of a journal four times as long writes its rows in more batches, but not in larger ones."""
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", STEP)
    monkeypatch.setattr(base, "SWEEP_ROWS", STEP)
    largest = []
    for size in SIZES:
        engine = filled(size)
        sizes: list[int] = []
        write = MemoryBackend.write

        def counting(backend: MemoryBackend, batch: Batch, **options: Any) -> None:
            sizes.append(len(batch))  # noqa: B023
            write(backend, batch, **options)  # noqa: B023

        with monkeypatch.context() as patch:
            patch.setattr(MemoryBackend, "write", counting)
            rebuild(backend_of(engine))
        largest.append(max(sizes))
    assert largest[1] <= 1.5 * largest[0]
