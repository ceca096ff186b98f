"""Writes that fail, at every k of every workload: nothing acknowledged is lost, and the root is correct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import get_args

import pytest

from backends.base import Backend, Batch, Guards
from backends.errors import GuardFailed
from backends.memory import MemoryBackend
from engine.base.errors import EngineError, InDoubtError
from engine.base.model import Receipt
from engine.commands import Add, Tag
from engine.engine import Engine
from engine.ledger.journal import read_header, read_log
from engine.ledger.layout import JOURNAL, LOG, PAYLOAD
from engine.store.maintenance import copy
from engine.trust.audit.verify import verify
from proofs.events import EventKind
from tests.support.engines import BEGIN, backend_of, engine_on, fresh_rows, rows_of
from tests.support.faults import Fault, FaultBackend, Kind
from tests.support.soak import FACTOR
from tests.support.workloads import ONE_AT_A_TIME, WORKLOADS, id_of

pytestmark = pytest.mark.slow

WRITE_FAULTS = [kind for kind in get_args(Kind) if kind in ("before", "after", "drop_unsynced")]


def opened(backend: Backend) -> Engine:
    """Return an engine whose clock stands still, so that a repeated command gives the same event."""
    return engine_on(backend, clock=lambda: BEGIN)


@cache
def undisturbed(workload: str) -> tuple[dict[bytes, bytes], str, int]:
    """Return journal and payload rows, root, and number of writes of the workload without failures."""
    backend = FaultBackend(MemoryBackend())
    engine = opened(backend)
    for step in WORKLOADS[workload]:
        step(engine)
    writes = backend.counts["write"]
    return rows_of(backend, "journal", "payload"), engine.root().root, writes


@dataclass
class Run:
    """A workload on a failing backend, with its progress and the receipts it got."""

    workload: str
    backend: FaultBackend
    acknowledged: int = 0
    """The events in receipts."""
    step: int = 0
    """The step that failed."""
    error: InDoubtError | None = None
    engine: Engine | None = field(default=None, repr=False)

    def go(self) -> None:
        """Carry out the steps up to the failing one."""
        try:
            self.engine = opened(self.backend)
            self.acknowledged = 1
            for number, step in enumerate(WORKLOADS[self.workload]):
                self.step = number
                told = step(self.engine)
                for receipt in told if isinstance(told, list) else [told]:
                    if isinstance(receipt, Receipt):
                        self.acknowledged += len(receipt.events)
        except InDoubtError as error:
            self.error = error

    def finish(self, engine: Engine) -> str:
        """Repeat the failing step, carry out the remaining steps, and return the root.

        A batch that tombstones and revives the same atom must not be repeated blindly, so for batches
        `was_kept` decides whether to repeat.
        """
        error, first = self.error, self.step
        if self.workload not in ONE_AT_A_TIME and error is not None and error.seq >= 0:
            first += engine.was_kept(error.seq, error.event_id)
        for step in WORKLOADS[self.workload][first:]:
            step(engine)
        return engine.root().root


def runs(workload: str, kind: Kind, mode: str) -> Iterator[Run]:
    """Yield the workload with its k-th write failing, for every k; in a normal run, for every third.

    Each kind of fault begins with another k. A failed write of a follower ends no step if reads still work.
    """
    first, step = (1, 1) if FACTOR else (1 + WRITE_FAULTS.index(kind), 3)
    for at in range(first, undisturbed(workload)[2] + 1, step):
        run = Run(workload, FaultBackend(MemoryBackend(), Fault(kind, at, mode=mode)))  # type: ignore[arg-type]
        run.go()
        assert run.error is not None or (mode == "once" and run.engine is not None), at
        yield run


@pytest.mark.parametrize("kind", WRITE_FAULTS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_crash_at_any_write_loses_nothing_acknowledged(workload: str, kind: Kind) -> None:
    """After reopening, the journal is a prefix of what was attempted, with every acknowledged event.

    After repeating the failed step, root and rows are those of a run without failure.
    """
    journal, root, _ = undisturbed(workload)
    for run in runs(workload, kind, "crash"):
        left = run.backend.reopen()
        rows = rows_of(left, "journal", "payload")
        # What the undisturbed run destroyed in the end may still be there.
        destroyed = [key for key in rows if key[:2] == PAYLOAD and JOURNAL + key[2:] in journal]
        rows = {key: row for key, row in rows.items() if key in journal or key not in destroyed}
        assert rows.items() <= journal.items()
        assert read_log(left).size >= run.acknowledged
        engine = opened(left)
        assert run.finish(engine) == root
        assert dict(backend_of(engine).scan()) == fresh_rows(backend_of(engine))


@pytest.mark.parametrize("kind", ["before", "after"])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_repeating_on_the_same_handle_gives_the_undisturbed_root(workload: str, kind: Kind) -> None:
    """If the backend recovers by itself, the failed step can be repeated without reopening."""
    _, root, _ = undisturbed(workload)
    for run in runs(workload, kind, "once"):
        engine = run.engine or opened(run.backend)
        assert (engine.root().root if run.error is None else run.finish(engine)) == root


@pytest.mark.parametrize("kind", WRITE_FAULTS)
@pytest.mark.parametrize("workload", ["adds", "mixed", "links", "checkpoints"])
def test_was_kept_tells_the_truth(workload: str, kind: Kind) -> None:
    """The error of a failed commit names its first event, and `was_kept` returns whether it was written."""
    settled = 0
    for run in runs(workload, kind, "crash"):
        error = run.error
        assert error is not None
        if error.seq < 0:
            continue  # not a commit: the genesis, or a follower
        engine = opened(run.backend.reopen())
        there = read_log(backend_of(engine)).size > error.seq
        assert engine.was_kept(error.seq, error.event_id) is there
        assert there is (kind == "after")
        if there:
            assert read_header(backend_of(engine), error.seq)[0].commitment.hex() == error.event_id
        assert not engine.was_kept(error.seq, bytes(32).hex())
        settled += 1
    assert settled >= 2


@pytest.mark.parametrize("kind", WRITE_FAULTS)
def test_a_crash_leaves_a_store_that_verifies(kind: Kind) -> None:
    """Directly after a crash during any write, `verify` finds no difference."""
    for run in list(runs("reads between", kind, "crash"))[1:]:
        report = verify(run.backend.reopen())
        assert report.ok, report.differences


@pytest.mark.parametrize("kind", WRITE_FAULTS)
def test_a_copy_killed_anywhere_is_continued(kind: Kind) -> None:
    """A copy whose target fails at its k-th write, for every k, is finished by copying again."""
    source = opened(MemoryBackend())
    for step in WORKLOADS["batches"]:
        step(source)
    expected = source.root()
    for at in range(1, 100):
        target = FaultBackend(MemoryBackend(), Fault(kind, at, mode="crash"))
        try:
            copy(backend_of(source), target)
        except Exception:  # noqa: BLE001  whichever it is: the process is dead
            assert copy(backend_of(source), target.reopen()) == expected
        else:
            assert at > 3
            return
    raise AssertionError("there was no end to the writes")


def test_a_finished_copy_survives_loss_of_power() -> None:
    """When `copy` returns, every byte of the target is synced."""
    source = opened(MemoryBackend())
    for step in WORKLOADS["batches"]:
        step(source)
    target = FaultBackend(MemoryBackend())
    roots = copy(backend_of(source), target)
    target.fault = Fault("drop_unsynced", target.counts["write"] + 1)
    with pytest.raises(EngineError):
        opened(target).add("one more")
    assert opened(target.reopen()).root() == roots


@pytest.mark.parametrize("mode", ["once", "persistent"])
def test_a_failed_write_is_in_doubt_and_never_acknowledged(mode: str) -> None:
    """A failed commit raises InDoubtError with a hint, and reading stays possible."""
    backend = FaultBackend(MemoryBackend())
    engine = opened(backend)
    engine.add("before", id=id_of(1))
    backend.fault = Fault("before", backend.counts["write"] + 1, mode=mode)  # type: ignore[arg-type]
    with pytest.raises(InDoubtError, match="fault") as caught:
        engine.add("text", id=id_of(2))
    assert caught.value.hint == "reopen the store and repeat the command"
    assert engine.get(id_of(1)).content == "before"


class Crowded(MemoryBackend):
    """A memory store that another process creates before or after this one reads the log state."""

    def __init__(self, *, before: bool) -> None:
        super().__init__()
        self.created, self.before = False, before

    def get(self, key: bytes) -> bytes | None:
        """Return the row; at the first read of the log state, let the other process create the store."""
        found = super().get(key)
        if key == LOG and not self.created:
            self.created = True
            opened(self).add("by the other process", id=id_of(9))
            return super().get(key) if self.before else found
        return found


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_two_processes_may_create_a_store_at_once(before: bool) -> None:
    """If two processes create a store at once, one creates it and the other uses it."""
    backend = Crowded(before=before)
    engine = opened(backend)
    assert engine.get(id_of(9)).content == "by the other process"
    assert [item.kind for item in engine.log()].count(EventKind.GENESIS) == 1
    assert verify(backend).ok


class Overtaken(MemoryBackend):
    """A memory store in which another process adds and reads before each guarded write of this one."""

    others = 3
    busy = False

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Let the other process act, then write."""
        if guard is not None and self.others and not self.busy and super().get(LOG) is not None:
            self.busy, self.others = True, self.others - 1
            other = opened(self)
            other.add(f"after event {read_log(self).size}", tags=["red"])
            other.root()
            self.busy = False
        super().write(batch, guard=guard, durable=durable)


def test_a_process_that_is_overtaken_overwrites_nothing() -> None:
    """Nothing is lost if others write between this process's decision and its write."""
    backend = Overtaken()
    engine = opened(backend)
    engine.add("mine")
    assert read_log(backend).size == 5
    backend.others = 3
    engine.root()
    assert {item.kind for item in list(engine.log())[1:]} == {EventKind.ATOM_ADDED}
    assert read_log(backend).size > 5
    assert dict(backend.scan()) == fresh_rows(backend)
    assert verify(backend).ok


class Losing(MemoryBackend):
    """A memory store on which the first `times` guarded writes fail, because another process was faster."""

    times = 0

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Write as MemoryBackend does, unless the guard is to fail."""
        if guard is not None and self.times:
            self.times -= 1
            raise GuardFailed("another process was faster")
        super().write(batch, guard=guard, durable=durable)


def test_a_lost_guard_decides_again() -> None:
    """A commit whose guard failed is decided again and appends one event."""
    backend = Losing()
    engine = opened(backend)
    backend.times = 3
    assert len(engine.add("text").events) == 1
    assert read_log(backend).size == 2


def test_deciding_again_sees_the_same_command() -> None:
    """Tags that are given as an iterator survive a commit that is decided twice."""
    backend = Losing()
    engine = opened(backend)
    backend.times = 1
    engine.apply([Add("text", id=id_of(1), tags=iter(["red", "blue"]))])
    backend.times = 1
    engine.apply([Tag(id_of(1), tags=iter(["green"]))])
    assert engine.get(id_of(1)).tags == ("blue", "green", "red")
