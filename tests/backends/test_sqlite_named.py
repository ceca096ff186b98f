"""A named memory passes the suites of a backend, beside others in the same file."""

from pathlib import Path

from backends.base import Backend, Batch, Capabilities
from backends.sqlite import SQLiteBackend
from tests.backends.suite import BackendSuite
from tests.backends.suite_guards import GuardSuite
from tests.backends.suite_threads import ThreadSuite


class TestNamed(BackendSuite, GuardSuite, ThreadSuite):
    capabilities = Capabilities(durable=True, multi_process=True, persistent=True)

    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open a memory in `folder`, in a file with two others that have rows of the same keys."""
        if create:
            for name in (None, "other"):
                with SQLiteBackend(folder / "store", memory=name) as other:
                    batch = Batch()
                    batch.put(b"a", b"of another")
                    batch.put(b"zz", b"of another")
                    other.write(batch)
        return SQLiteBackend(folder / "store", create=create, memory="mine")
