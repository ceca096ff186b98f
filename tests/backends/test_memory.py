"""The memory backend passes the suites, directly and behind a fault injector without faults."""

from pathlib import Path

from backends.base import Backend, Capabilities
from backends.memory import MemoryBackend
from tests.backends.suite import BackendSuite
from tests.backends.suite_guards import GuardSuite
from tests.backends.suite_purge import PurgeSuite
from tests.backends.suite_threads import ThreadSuite
from tests.support.faults import FaultBackend


class TestMemory(BackendSuite, GuardSuite, ThreadSuite, PurgeSuite):
    capabilities = Capabilities(durable=False, multi_process=False, persistent=False)

    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open a store in `folder`."""
        return MemoryBackend()


class TestFaultless(TestMemory):
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the same store behind the fault injector."""
        return FaultBackend(MemoryBackend())
