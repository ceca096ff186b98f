"""Dry runs: a store reports what commands would do and discards their effects."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import Backend, Batch, Capabilities, Row
from backends.memory import MemoryBackend
from engine.store.dry_run import dry_run_store
from engine.store.layers import LayeredBackend
from tests.backends.suite import ROWS, BackendSuite, batch_of
from tests.backends.suite_guards import GuardSuite
from tests.support.engines import engine_on, rows_of
from tests.support.workloads import commands


class TestLayers(BackendSuite, GuardSuite):
    """A layered backend is read as if it were one store."""

    capabilities = Capabilities(durable=False, multi_process=False, persistent=False)

    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open an empty layer on top of an empty one."""
        return LayeredBackend(MemoryBackend(), MemoryBackend())


SOME = st.sets(st.sampled_from(ROWS)).map(sorted)


@given(SOME, SOME, SOME)
def test_what_is_written_covers_what_is_below(below: list[Row], put: list[Row], gone: list[Row]) -> None:
    """Rows that are put or deleted above hide those below in every kind of read, and those below stay."""
    lower = MemoryBackend()
    lower.write(batch_of(below))
    layers, batch = LayeredBackend(lower, MemoryBackend()), Batch()
    for key, value in put:
        batch.put(key, b"new " + value)
    for key, _ in gone:
        batch.delete(key)
    layers.write(batch)
    expected = dict(lower.scan()) | batch.rows
    rows = sorted((key, value) for key, value in expected.items() if value is not None)
    with layers.snapshot() as snapshot:
        for reader in (layers, snapshot):
            assert list(reader.scan()) == rows
            assert list(reader.scan(reverse=True)) == rows[::-1]
            assert {key: reader.get(key) for key, _ in ROWS} == {key: dict(rows).get(key) for key, _ in ROWS}
    assert list(lower.scan()) == below


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 20))
def test_a_dry_run_reports_what_the_run_does(seed: int, count: int) -> None:
    """A dry run gives the subjects, event kinds and states of the real run and leaves the store unchanged."""
    engine = engine_on()
    made = list(commands(count, seed))
    for command in made[: count // 2]:
        engine.apply([command])
    before = rows_of(engine.store.backend)
    with dry_run_store(engine.store) as store:
        said = [store.commit([command], "user")[0] for command in made[count // 2 :]]
    assert rows_of(engine.store.backend) == before
    done = [engine.apply([command])[0] for command in made[count // 2 :]]
    assert [(one.subject, one.state, [event.kind for event in one.events]) for one in said] == [
        (one.subject, one.state, [event.kind for event in one.events]) for one in done
    ]
