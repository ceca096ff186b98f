"""The LevelDB backend passes the suites, directly and behind a fault injector without faults."""

from pathlib import Path

import pytest

from backends.base import Backend, Capabilities
from tests.backends.suite import BackendSuite
from tests.backends.suite_guards import GuardSuite
from tests.backends.suite_purge import PurgeSuite
from tests.backends.suite_threads import ThreadSuite
from tests.support.faults import FaultBackend
from tests.support.sealed import sealed

pytest.importorskip("plyvel")


class TestLevelDB(BackendSuite, GuardSuite, ThreadSuite, PurgeSuite):
    capabilities = Capabilities(durable=True, multi_process=False, persistent=True)

    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open a store in `folder`."""
        from backends.leveldb.leveldb_backend import LevelDBBackend

        return LevelDBBackend(folder / "store", create=create)


class TestFaultless(TestLevelDB):
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the same store behind the fault injector."""
        return FaultBackend(super().open(folder, create=create))


class TestSealed(TestLevelDB):
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the same store sealed."""
        return sealed(super().open(folder, create=create))
