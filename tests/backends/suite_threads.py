"""Tests of threads and forks that every backend must pass."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from backends.base import Backend, Batch, Guard
from backends.errors import BackendClosed, GuardFailed
from tests.backends.suite import Opening, batch_of

THREADS = 4


@contextmanager
def quick_switching() -> Iterator[None]:
    """Make threads switch as often as the interpreter allows."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def run_threads(*works: Callable[[], object]) -> list[BaseException]:
    """Run all functions at once to their ends and return the exceptions that they raised."""
    raised: list[BaseException] = []
    begun = threading.Barrier(len(works))

    def guarded(work: Callable[[], object]) -> None:
        begun.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    with quick_switching():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    return raised


def in_forked_process(work: Callable[[], object]) -> str:
    """Return the name of the exception that `work` raises in a forked process, or an empty text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        name = b""
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the parent
            name = type(error).__name__.encode()
        finally:
            os.write(writing, name)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read().decode()
    os.waitpid(child, 0)
    return found


class ThreadSuite(Opening):
    """Tests of threads, of closing during calls, and of forks."""

    def test_counting_under_a_guard_loses_nothing(self, backend: Backend) -> None:
        """Threads that increment a guarded counter, and retry after a failed guard, lose no increment."""
        begun = threading.Barrier(THREADS)

        def count() -> None:
            begun.wait()
            done = 0
            while done < 150:
                now = backend.get(b"n")
                try:
                    backend.write(
                        batch_of([(b"n", b"%d" % (int(now or b"0") + 1))]),
                        guard=Guard(b"n", now),
                        durable=False,
                    )
                except GuardFailed:
                    continue
                done += 1

        assert run_threads(*[count] * THREADS) == []
        assert backend.get(b"n") == b"%d" % (150 * THREADS)

    def test_nobody_sees_half_a_batch(self, backend: Backend) -> None:
        """Snapshots and scans taken while batches are written show each batch whole or not at all."""
        keys = [b"%02d" % n for n in range(40)]
        done = threading.Event()

        def write() -> None:
            for turn in range(60):
                backend.write(batch_of([(key, b"%d" % turn) for key in keys]), durable=False)
            done.set()

        def read() -> None:
            while not done.is_set():
                with backend.snapshot() as snapshot:
                    assert len(set(snapshot.multi_get(keys))) == 1
                assert len({value for _, value in backend.scan()}) <= 1

        assert run_threads(write, read, read) == []

    def test_closing_under_readers_and_writers_is_safe(self, backend: Backend) -> None:
        """During a close, calls of other threads return or raise BackendClosed, and close returns."""
        backend.write(batch_of([(b"%04d" % n, b"v" * 100) for n in range(300)]))
        begun = threading.Barrier(6)

        def reader() -> None:
            begun.wait()
            while backend.get(b"0007") == b"v" * 100:
                backend.multi_get([b"0001", b"0002"])

        def scanner() -> None:
            begun.wait()
            while sum(1 for _ in backend.scan(b"", b"9")) == 300:
                pass

        def snapshots() -> None:
            begun.wait()
            while True:
                with backend.snapshot() as snapshot:
                    next(snapshot.scan(reverse=True))

        def writer() -> None:
            begun.wait()
            while True:
                backend.write(batch_of([(b"9", b"1")]), durable=False)

        def closer() -> None:
            begun.wait()
            backend.multi_get([b"0001"] * 1000)
            backend.close()

        raised = run_threads(reader, reader, scanner, snapshots, writer, closer)
        assert [type(error) for error in raised] == [BackendClosed] * 5

    def test_a_scan_left_open_does_not_hold_up_closing(self, backend: Backend) -> None:
        """Closing does not wait for unfinished scans of this and another thread; they raise BackendClosed."""
        backend.write(batch_of([(b"%04d" % n, b"1") for n in range(200)]))
        here = backend.scan()
        next(here)
        elsewhere: list[Iterator[tuple[bytes, bytes]]] = []

        def start() -> None:
            elsewhere.append(backend.scan(reverse=True))
            next(elsewhere[0])

        assert run_threads(start) == []
        backend.close()
        for scan in (here, *elsewhere):
            with pytest.raises(BackendClosed):
                next(scan)

    def test_a_forked_process_cannot_use_the_handle(self, backend: Backend) -> None:
        """After a fork every call in the child raises BackendClosed, and the parent is not affected."""
        backend.write(batch_of([(b"%04d" % n, b"1") for n in range(200)]))
        snapshot, scan = backend.snapshot(), backend.scan()
        next(scan)

        def close_and_read() -> None:
            snapshot.close()
            backend.close()
            backend.get(b"a")

        for use in (
            lambda: backend.get(b"a"),
            lambda: list(backend.scan()),
            lambda: backend.write(Batch()),
            lambda: list(scan),
            lambda: snapshot.get(b"a"),
            close_and_read,
        ):
            assert in_forked_process(use) == "BackendClosed"
        backend.write(batch_of([(b"x", b"1")]))
        assert sum(1 for _ in scan) == 199
        assert len(list(snapshot.scan())) == 200
        assert backend.get(b"x") == b"1"
