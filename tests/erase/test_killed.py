"""An erasure that fails or is killed is finished when the store is opened, before any answer."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from backends import open_backend
from backends.base import Backend
from backends.memory import MemoryBackend
from engine.base.errors import BusyError, ConflictError, EngineError
from engine.base.validation import atom_id
from engine.engine import Engine
from engine.erase.destroy import Destroy, Pending, carry_out
from engine.ledger.layout import ERASING
from engine.trust.audit.verify import verify
from proofs.leaves import State
from tests.erase.support import SECRET, erased, rows_made, small
from tests.support.engines import backend_of, copied_rows, engine_on
from tests.support.faults import Fault, FaultBackend, Kind
from tests.support.leveldb import LEVELDB
from tests.support.workloads import id_of

pytestmark = pytest.mark.slow

UNDISTURBED = rows_made(erased())
BEFORE = rows_made(small())


def writes_of_an_erasure() -> int:
    """Return the number of writes of an erasure, including the rewriting of files."""
    backend = FaultBackend(copied_rows(backend_of(small())))
    engine = still(backend)
    engine.catch_up()
    first = backend.counts["write"]
    engine.erase(id_of(1), "asked for")
    return backend.counts["write"] - first


def still(backend: Backend) -> Engine:
    """Return an engine with a fixed clock, so that repeating an event gives the same event."""
    return engine_on(backend, clock=lambda: 2_000_000_000_000_000)


@pytest.mark.parametrize("kind", ["before", "after", "drop_unsynced"])
@pytest.mark.parametrize("lag", [False, True])
def test_a_failure_at_any_write_is_finished_on_opening(kind: Kind, lag: bool) -> None:
    """After a failure of any write, opening the store leaves the atom unchanged or completely erased."""
    tried = 0
    for at in range(1, 40):
        inner = copied_rows(backend_of(small()))
        if not lag:
            engine_on(inner).catch_up()
        backend = FaultBackend(inner, Fault(kind, at, mode="crash"))
        try:
            still(backend).erase(id_of(1), "asked for")
            break
        except EngineError:
            tried += 1
        again = still(backend.reopen())
        assert inner.get(ERASING) is None
        state = again.get(id_of(1)).state
        assert state in (State.LIVE, State.ERASED)
        if state is State.LIVE:
            assert rows_made(again) == BEFORE
            again.erase(id_of(1), "asked for")
        again.catch_up()
        assert verify(inner).ok
        root = again.root()
        assert again.rebuild() == root
    assert tried >= 4


def test_before_it_is_finished_a_verification_says_so() -> None:
    """Verification reports an unfinished erasure, and succeeds after the store was opened."""
    inner = copied_rows(backend_of(small()))
    engine_on(inner).catch_up()
    backend = FaultBackend(inner, Fault("after", 1, mode="crash"))
    with pytest.raises(EngineError):
        still(backend).erase(id_of(1), "asked for")
    report = verify(inner)
    assert not report.ok
    assert "not finished" in report.differences[0].problem
    still(inner)
    assert verify(inner).ok


def test_a_hub_that_was_erased_in_part_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening the store continues an erasure that was killed between commits of a many-edged atom."""
    monkeypatch.setattr("engine.erase.destroy.EDGES_AT_ONCE", 2)
    engine = engine_on()
    for number in range(9):
        engine.add(f"text {number}", id=id_of(number))
    for number in range(1, 9):
        engine.link(id_of(0), "references", id_of(number))
    engine.catch_up()
    for at in range(1, 6):
        inner = copied_rows(backend_of(engine))
        backend = FaultBackend(inner, Fault("after", at, mode="crash"))
        with pytest.raises(EngineError):
            still(backend).erase(id_of(0), "asked for")
        again = still(inner)
        assert again.get(id_of(0)).state is State.ERASED
        assert again.edges(id_of(0), direction="both", tombstoned=True) == []
        assert verify(inner).ok


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
@pytest.mark.parametrize("stage", ["events", "followers", "files", "after"])
def test_killed_at_each_stage_nothing_is_left_in_the_files(scheme: str, stage: str, tmp_path: Path) -> None:
    """Opening the store finishes an erasure that was killed at the start of any stage."""
    url = f"{scheme}:{tmp_path / 'store'}"
    with open_backend(url) as backend:
        small(backend).catch_up()
    in_child(lambda: erase_and_die(url, stage))
    with Engine.open(url, create=False) as engine:
        if engine.get(id_of(1)).state is State.LIVE:
            assert stage == "events"
            engine.erase(id_of(1), "asked for")
        assert engine.verify().ok
    left = [
        path.name for path in tmp_path.rglob("*") if path.is_file() and b"Quillfeather" in path.read_bytes()
    ]
    assert left == []


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_killed_at_any_moment_nothing_is_left_in_the_files(scheme: str, tmp_path: Path) -> None:
    """After SIGKILL at any time, opening the store leaves the atom unchanged or removed from all files."""
    for number, seconds in enumerate((0.002, 0.005, 0.01, 0.02, 0.04, 0.08)):
        folder = tmp_path / str(number)
        folder.mkdir()
        url = f"{scheme}:{folder / 'store'}"
        with open_backend(url) as backend:
            small(backend).catch_up()
        in_child(partial(erase_for, url, seconds))
        with Engine.open(url, create=False) as engine:
            state = engine.get(id_of(1)).state
            assert engine.verify().ok
        found = [
            path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
        ]
        assert bool(found) is (state is State.LIVE)


def test_a_snapshot_that_is_kept_open_leaves_it_to_be_finished(tmp_path: Path) -> None:
    """With an open snapshot, answers omit the content, and the next erasure or opening purges the files."""
    from backends.sqlite.sqlite_backend import SQLiteBackend

    backend = SQLiteBackend(tmp_path / "store", busy_seconds=0.2)
    engine = small(backend)
    engine.catch_up()
    with backend.snapshot(), pytest.raises(BusyError):
        engine.erase(id_of(1), "asked for", probe=False)
    assert engine.get(id_of(1)).state is State.ERASED
    assert engine.recall("passport").hits == ()
    assert backend.get(ERASING) is not None
    receipt = engine.erase(id_of(1), "asked for", probe=False)
    assert (receipt.events, receipt.purged) == ((), True)
    assert backend.get(ERASING) is None
    engine.close()
    assert all(b"Quillfeather" not in path.read_bytes() for path in tmp_path.iterdir())


def erase_and_die(url: str, stage: str) -> None:
    """Erase the atom, and kill the process when `stage` begins."""

    def told(what: str) -> None:
        if what == stage:
            os.kill(os.getpid(), signal.SIGKILL)

    Engine.open(url, create=False).erase(id_of(1), "asked for", probe=False, progress=told)


def erase_for(url: str, seconds: float) -> None:
    """Erase the atom, and kill the process after some time."""
    engine = Engine.open(url, create=False)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    engine.erase(id_of(1), "asked for", probe=False)


def in_child(work: Callable[[], None]) -> None:
    """Run it in a child process until it ends or is killed."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_memory_has_nothing_pending() -> None:
    """In a memory backend, too, no row of a pending erasure remains."""
    engine = erased(MemoryBackend())
    assert backend_of(engine).get(ERASING) is None
    assert writes_of_an_erasure() >= 4
    assert rows_made(engine) == UNDISTURBED


def test_one_that_failed_is_finished_before_the_next() -> None:
    """After a failed erasure, erasing another atom on the same handle finishes the first one, too."""
    inner = copied_rows(backend_of(small()))
    engine_on(inner).catch_up()
    backend = FaultBackend(inner)
    engine = still(backend)
    backend.fault = Fault("after", backend.counts["write"] + 1, mode="once")
    with pytest.raises(EngineError):
        engine.erase(id_of(1), "asked for", probe=False)
    assert inner.get(ERASING) is not None
    receipt = engine.erase(id_of(2), "asked for", probe=False)
    assert receipt.ids == (id_of(2),)
    assert [engine.get(id_of(number)).state for number in (1, 2)] == [State.ERASED] * 2
    assert inner.get(ERASING) is None
    assert verify(inner).ok


def unfinished(backend: Backend) -> Engine:
    """Leave an erasure unfinished in a new store, and return a handle that was opened before."""
    engine = small(backend)
    engine.catch_up()
    killed = FaultBackend(backend, Fault("after", 1, mode="crash"))
    with pytest.raises(EngineError):
        still(killed).erase(id_of(1), "asked for", probe=False)
    assert backend.get(ERASING) is not None
    return engine


def test_it_stays_unfinished_where_the_store_can_only_be_read(tmp_path: Path) -> None:
    """The store can be opened and read, and no answer contains the content."""
    from backends.files import Location
    from backends.read_only import ReadOnlyBackend
    from backends.sqlite.sqlite_backend import SQLiteBackend

    with SQLiteBackend(tmp_path / "store") as backend:
        unfinished(backend)
    with ReadOnlyBackend(Location("sqlite", str(tmp_path / "store")), errno.EROFS) as backend:
        engine = engine_on(backend)
        assert engine.get(id_of(1)).state is State.ERASED
        assert engine.recall("passport").hits == ()
        assert backend.get(ERASING) is not None


class FinishedMeanwhile(FaultBackend):
    """A handle that waits for the lock while another process finishes an erasure."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Let the other process act."""
        still(self.inner)
        return super().exclusive()


def test_one_that_another_process_finishes_meanwhile_is_left_alone() -> None:
    """Opening the store begins nothing then."""
    inner = MemoryBackend()
    unfinished(inner)
    engine = still(FinishedMeanwhile(inner))
    assert engine.get(id_of(1)).state is State.ERASED
    assert rows_made(engine) == rows_made(still(inner))
    assert verify(inner).ok


def test_an_erasure_that_another_process_was_faster_with_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one finds the atom erased, adds no event and leaves nothing to be finished."""
    inner = MemoryBackend()
    engine = small(inner)

    def overtaken(*given: Any) -> Any:
        monkeypatch.undo()
        still(inner).erase(id_of(1), "asked for", probe=False)
        return carry_out(*given)

    monkeypatch.setattr("engine.erase.erasure.carry_out", overtaken)
    receipt = engine.erase(id_of(1), "asked for", probe=False)
    assert receipt.events == ()
    assert inner.get(ERASING) is None


def test_two_erasures_do_not_mix() -> None:
    """While the erasure of one atom is unfinished, no event of another one is added."""
    inner = MemoryBackend()
    engine = unfinished(inner)
    before = dict(inner.scan())
    other = atom_id(id_of(2))
    with pytest.raises(ConflictError, match="is unfinished"):
        engine.store.commit([Destroy(Pending(other, "asked for", "me", 1), other, [])], "me")
    assert dict(inner.scan()) == before
