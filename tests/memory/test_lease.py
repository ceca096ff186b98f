"""The lease: opens the store when needed, shares it between threads, closes it for other processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.base.errors import BusyError, ClosedError, InDoubtError, NotFoundError
from engine.engine import Engine
from engine.memory import lease as leases
from engine.memory.lease import Lease
from tests.support.leveldb import needs_leveldb


class Opening:
    """Opens a store, and counts how often it was opened."""

    def __init__(self, url: str, *, create: bool = True) -> None:
        self.url = url
        self.create = create
        self.count = 0

    def __call__(self) -> Engine:
        """Return a new handle."""
        engine = Engine.open(self.url, create=self.create)
        self.count += 1
        return engine


def soon(holds: Callable[[], bool]) -> bool:
    """Return True if the condition becomes true within a short time."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.005)
    return False


def is_free(place: Path) -> bool:
    """Return True if another process can open the store."""
    try:
        Engine.open(str(place)).close()
    except BusyError:
        return False
    return True


def test_nothing_is_opened_before_it_is_needed(tmp_path: Path) -> None:
    """Creating and closing a lease does not open the store."""
    opening = Opening(str(tmp_path / "store"))
    Lease(opening).close()
    assert opening.count == 0


@needs_leveldb
def test_the_store_is_given_up_a_while_after_the_last_use(tmp_path: Path) -> None:
    """During a call no other process can open the store; soon after, it can."""
    lease = Lease(Opening(str(tmp_path / "store")))
    with lease.memory():
        assert not is_free(tmp_path / "store")
    assert soon(lambda: is_free(tmp_path / "store"))
    lease.close()


@needs_leveldb
def test_calls_that_follow_one_another_find_it_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call within the linger time does not reopen the store."""
    monkeypatch.setattr(leases, "LINGER_SECONDS", 60)
    monkeypatch.setattr(leases, "HOLD_SECONDS", 60)
    opening = Opening(str(tmp_path / "store"))
    lease = Lease(opening)
    for _ in range(5):
        with lease.memory() as engine:
            engine.add("kettle")
    assert opening.count == 1
    lease.close()
    assert is_free(tmp_path / "store")


@needs_leveldb
def test_a_store_in_constant_use_is_given_up_all_the_same(tmp_path: Path) -> None:
    """Overlapping calls of many threads do not lock out another process forever."""
    lease = Lease(Opening(str(tmp_path / "store")))
    stop = threading.Event()

    def hammer() -> None:
        while not stop.is_set():
            with lease.memory() as engine:
                engine.status()

    threads = [threading.Thread(target=hammer) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            assert soon(lambda: is_free(tmp_path / "store"))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        lease.close()


@pytest.mark.parametrize("url", ["memory:", "sqlite:store"])
def test_what_keeps_nobody_out_stays_open(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores that several processes can open, and stores in memory, stay open."""
    monkeypatch.setattr(leases, "LINGER_SECONDS", 0)
    monkeypatch.setattr(leases, "HOLD_SECONDS", 0)
    monkeypatch.chdir(tmp_path)
    opening = Opening(url)
    lease = Lease(opening)
    for _ in range(3):
        with lease.memory() as engine:
            engine.add("kettle")
        time.sleep(0.01)
    assert opening.count == 1
    lease.close()


@needs_leveldb
def test_a_call_waits_for_a_store_that_is_in_use_and_no_longer_than_it_may(tmp_path: Path) -> None:
    """A call gets the store when it becomes free, and raises BusyError after the waiting time."""
    holder = Engine.open(str(tmp_path / "store"))
    with pytest.raises(BusyError), Lease(Opening(str(tmp_path / "store")), wait=0.05).memory():
        pass
    threading.Timer(0.1, holder.close).start()
    lease = Lease(Opening(str(tmp_path / "store")), wait=30)
    with lease.memory() as engine:
        assert engine.size == 1
    lease.close()


def test_a_store_that_cannot_be_opened_is_tried_again_by_the_next_call(tmp_path: Path) -> None:
    """A failure to open leaves no state behind."""
    lease = Lease(Opening(str(tmp_path / "store"), create=False))
    with pytest.raises(NotFoundError), lease.memory():
        pass
    Engine.open(str(tmp_path / "store")).close()
    with lease.memory() as engine:
        assert engine.size == 1
    lease.close()


def test_after_a_write_in_doubt_the_store_is_opened_anew(tmp_path: Path) -> None:
    """After a failed write, the next call opens a new handle."""
    opening = Opening(f"sqlite:{tmp_path / 'store'}")
    lease = Lease(opening)
    with pytest.raises(InDoubtError), lease.memory() as first:
        raise InDoubtError("the disk is full")
    with lease.memory() as second:
        assert second is not first
    assert opening.count == 2
    lease.close()


def test_a_closed_lease_opens_nothing(tmp_path: Path) -> None:
    """Calls after `close` are refused."""
    lease = Lease(Opening(str(tmp_path / "store")))
    lease.close()
    lease.close()
    with pytest.raises(ClosedError), lease.memory():
        pass


def test_closing_waits_for_calls_in_flight(tmp_path: Path) -> None:
    """`close` waits for running calls; after its timeout it returns False."""
    lease = Lease(Opening(f"sqlite:{tmp_path / 'store'}"))
    inside, leave = threading.Event(), threading.Event()
    found: list[int] = []

    def work() -> None:
        with lease.memory() as engine:
            inside.set()
            leave.wait(30)
            found.append(engine.size)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(30)
    assert lease.close(0.01) is False
    leave.set()
    assert lease.close(30) is True
    thread.join()
    assert found == [1]


@needs_leveldb
def test_a_store_that_nobody_wants_stays_open_between_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the time that the lease is told, even if calls follow each other slowly and for long."""
    monkeypatch.setattr(leases, "LINGER_SECONDS", 0)
    monkeypatch.setattr(leases, "HOLD_SECONDS", 0)
    opening = Opening(str(tmp_path / "store"))
    lease = Lease(opening, keep=60)
    for _ in range(5):
        with lease.memory() as engine:
            engine.status()
        time.sleep(0.01)
    assert opening.count == 1
    lease.close()


@needs_leveldb
def test_a_store_that_is_kept_is_given_to_whoever_wants_it(tmp_path: Path) -> None:
    """An attempt to open it is enough, and the next call opens it again."""
    opening = Opening(str(tmp_path / "store"))
    lease = Lease(opening, keep=600)
    with lease.memory():
        pass
    assert soon(lambda: is_free(tmp_path / "store"))
    with lease.memory():
        pass
    assert opening.count == 2
    lease.close()


@needs_leveldb
def test_a_long_call_keeps_nobody_of_its_own_process_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one call runs on, others are answered, as long as no other process wants the store."""
    monkeypatch.setattr(leases, "HOLD_SECONDS", 0)
    lease = Lease(Opening(str(tmp_path / "store")), wait=0)
    with lease.memory() as engine, lease.memory() as same:
        assert engine is same
    lease.close()
