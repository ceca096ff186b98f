"""The PostgreSQL backend passes the suites."""

from hashlib import blake2b
from pathlib import Path

import pytest

from backends.base import Backend, Capabilities
from backends.postgresql.postgresql_backend import PostgreSQLBackend
from tests.backends.suite import BackendSuite
from tests.backends.suite_guards import GuardSuite
from tests.backends.suite_purge import SECRET, PurgeSuite
from tests.backends.suite_threads import ThreadSuite
from tests.support.postgresql import shared_server
from tests.support.sealed import sealed

pytestmark = pytest.mark.slow


class TestPostgreSQL(BackendSuite, GuardSuite, ThreadSuite, PurgeSuite):
    capabilities = Capabilities(durable=True, multi_process=True, persistent=True)

    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open a memory of its own for `folder`."""
        name = blake2b(bytes(folder), digest_size=8).hexdigest()
        path = shared_server().url.removeprefix("postgresql:")
        return PostgreSQLBackend(path, create=create, memory=name)

    def files_of(self, backend: Backend) -> tuple[Path, ...]:
        """Return the files of the server's tables; the write-ahead log is not among them."""
        assert backend.files() == ()
        return shared_server().table_files()

    def found_in(self, folder: Path) -> list[str]:
        """Return the names of the tables' files that contain the secret; all memories share the tables."""
        return [path.name for path in shared_server().table_files() if SECRET in path.read_bytes()]


class TestSealed(TestPostgreSQL):
    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open the same store sealed."""
        return sealed(super().open(folder, create=create))
