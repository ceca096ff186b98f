"""The SQLite backend passes the suites, directly and behind a fault injector without faults."""

from pathlib import Path

import pytest

from backends.base import Backend, Capabilities
from backends.sqlite.sqlite_backend import SQLiteBackend
from tests.backends.suite import BackendSuite
from tests.backends.suite_guards import GuardSuite
from tests.backends.suite_purge import PurgeSuite
from tests.backends.suite_threads import ThreadSuite
from tests.support.faults import FaultBackend
from tests.support.sealed import sealed

pytestmark = pytest.mark.slow


class TestSQLite(BackendSuite, GuardSuite, ThreadSuite, PurgeSuite):
    capabilities = Capabilities(durable=True, multi_process=True, persistent=True)

    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open a store in `folder`."""
        return SQLiteBackend(folder / "store", create=create)


class TestFaultless(TestSQLite):
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the same store behind the fault injector."""
        return FaultBackend(super().open(folder, create=create))


class TestSealed(TestSQLite):
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the same store sealed."""
        return sealed(super().open(folder, create=create))
