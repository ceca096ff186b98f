"""The memory backend passes the suites, directly and behind a fault injector without faults."""

from pathlib import Path

import pytest
from sortedcontainers import SortedList

from backends.base import Backend, Batch, Capabilities
from backends.errors import BackendClosed
from backends.memory import MemoryBackend
from tests.backends.suite import BackendSuite
from tests.backends.suite_guards import GuardSuite
from tests.backends.suite_purge import PurgeSuite
from tests.backends.suite_threads import ThreadSuite
from tests.support.faults import FaultBackend
from tests.support.sealed import sealed


class TestMemory(BackendSuite, GuardSuite, ThreadSuite, PurgeSuite):
    capabilities = Capabilities(durable=False, multi_process=False, persistent=False)

    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open a store in `folder`."""
        return MemoryBackend()


class TestFaultless(TestMemory):
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the same store behind the fault injector."""
        return FaultBackend(MemoryBackend())


class TestSealed(TestMemory):
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the same store sealed."""
        return sealed(super().open(folder, create=create))


def test_after_an_interrupted_write_nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a write is interrupted half-way, the handle refuses all calls, because its rows may be torn."""
    backend = MemoryBackend()
    batch = Batch()
    for number in range(3):
        batch.put(b"%d" % number, b"value")

    class Interrupting(SortedList):  # type: ignore[misc]
        def add(self, value: bytes) -> None:
            if value == b"1":
                raise KeyboardInterrupt
            super().add(value)

    backend._rows.order = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        backend.write(batch)
    for call in (lambda: backend.get(b"0"), backend.snapshot, lambda: backend.write(batch)):
        with pytest.raises(BackendClosed, match="interrupted"):
            call()
