"""Tests of the fault injector `tests.support.faults`: each kind and mode has exactly the described effect."""

from contextlib import AbstractContextManager

import pytest

from backends.base import Batch, Guard
from backends.errors import BackendClosed, BackendError, BackendInDoubt, GuardFailed
from backends.memory import MemoryBackend
from tests.support.faults import Fault, FaultBackend, Kind, Mode, Operation

pytestmark = pytest.mark.slow

READS: frozenset[Operation] = frozenset({"get", "scan"})


def put(backend: FaultBackend, key: bytes, value: bytes, *, durable: bool = True) -> None:
    """Write one row."""
    batch = Batch()
    batch.put(key, value)
    backend.write(batch, durable=durable)


def faulty(kind: Kind, at: int, mode: Mode = "once", on: frozenset[Operation] | None = None) -> FaultBackend:
    """A memory store with one fault."""
    return FaultBackend(MemoryBackend(), Fault(kind, at, on or frozenset({"write"}), mode))


@pytest.mark.parametrize(("kind", "there"), [("before", None), ("after", b"2")])
def test_a_failed_write_is_applied_only_with_after(kind: Kind, there: bytes | None) -> None:
    """`before` does not apply the second write, `after` applies it, and both raise BackendInDoubt."""
    backend = faulty(kind, 2)
    put(backend, b"a", b"1")
    with pytest.raises(BackendInDoubt):
        put(backend, b"b", b"2")
    assert backend.get(b"b") == there


def test_once_fails_once() -> None:
    """After a fault in mode `once`, later writes succeed."""
    backend = faulty("before", 1)
    with pytest.raises(BackendInDoubt):
        put(backend, b"a", b"1")
    put(backend, b"a", b"2")
    assert backend.get(b"a") == b"2"


def test_persistent_fails_from_then_on() -> None:
    """In mode `persistent`, the k-th write and all later writes fail, and reads succeed."""
    backend = faulty("before", 2, "persistent")
    put(backend, b"a", b"1")
    for _ in range(3):
        with pytest.raises(BackendInDoubt):
            put(backend, b"a", b"2")
    assert backend.get(b"a") == b"1"


def test_a_crash_ends_the_handle_and_reopen_gives_the_rows() -> None:
    """After a crash all calls raise BackendClosed, and the reopened handle has the rows that were written."""
    backend = faulty("after", 1, "crash")
    with pytest.raises(BackendInDoubt):
        put(backend, b"a", b"1")
    with pytest.raises(BackendClosed):
        backend.get(b"a")
    assert backend.reopen().get(b"a") == b"1"


def test_loss_of_power_takes_back_what_was_not_synced() -> None:
    """`drop_unsynced` undoes all writes since the last durable write; the rows have their old values."""
    backend = faulty("drop_unsynced", 5)
    put(backend, b"a", b"1", durable=False)
    put(backend, b"b", b"1")
    put(backend, b"a", b"2", durable=False)
    put(backend, b"a", b"3", durable=False)
    with pytest.raises(BackendInDoubt):
        put(backend, b"c", b"1")
    assert list(backend.reopen().scan()) == [(b"a", b"1"), (b"b", b"1")]


@pytest.mark.parametrize(("kind", "seen"), [("flip", b"3"), ("stale", b"1"), ("missing", None)])
def test_a_read_fault_changes_one_read(kind: Kind, seen: bytes | None) -> None:
    """`flip`, `stale` and `missing` change only the result of the k-th read, in `get` and in scans."""
    for scanning in (False, True):
        backend = faulty(kind, 2, on=READS)
        put(backend, b"a", b"1")
        put(backend, b"a", b"2")
        reads = [dict(backend.scan()).get(b"a") if scanning else backend.get(b"a") for _ in range(3)]
        assert reads == [b"2", seen, b"2"]


def test_reads_of_snapshots_count() -> None:
    """The reads of a snapshot are counted and can fail, like the reads of the backend."""
    backend = faulty("before", 2, on=READS)
    snapshot = backend.snapshot()
    snapshot.get(b"a")
    with pytest.raises(BackendError):
        snapshot.get(b"a")
    assert backend.counts == {"snapshot": 1, "get": 2}


def test_a_failed_guard_comes_before_the_fault() -> None:
    """A write whose guard fails raises GuardFailed, not BackendInDoubt, and is not applied by `after`."""
    backend = faulty("after", 1)
    with pytest.raises(GuardFailed):
        backend.write(Batch(), guard=Guard(b"a", b"1"))
    assert list(backend.scan()) == []


def test_the_second_of_two_failed_guards_comes_before_the_fault_too() -> None:
    """All guards are checked before the fault occurs. If they hold, the fault occurs."""
    backend = faulty("after", 1, "persistent")
    with pytest.raises(GuardFailed, match="b'b'"):
        backend.write(Batch(), guard=[Guard(b"a", None), Guard(b"b", b"1")])
    with pytest.raises(BackendInDoubt):
        backend.write(Batch(), guard=[Guard(b"a", None), Guard(b"b", None)])


def test_being_exclusive_is_handed_on_until_the_crash() -> None:
    """`exclusive` enters the block of the wrapped backend; after a crash it raises BackendClosed."""
    entered: list[str] = []

    class Watched(MemoryBackend):
        def exclusive(self) -> AbstractContextManager[None]:
            entered.append("exclusive")
            return super().exclusive()

    backend = FaultBackend(Watched(), Fault("before", 1, mode="crash"))
    with backend.exclusive(), pytest.raises(BackendInDoubt):
        put(backend, b"a", b"1")
    with pytest.raises(BackendClosed):
        backend.exclusive()
    assert entered == ["exclusive"]
