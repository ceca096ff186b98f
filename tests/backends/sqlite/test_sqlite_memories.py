"""A named memory passes the suites of a backend, beside others in the same file."""

import contextlib
from pathlib import Path

from backends.base import Backend, Capabilities
from backends.sqlite.sqlite_backend import SQLiteBackend
from backends.sqlite.sqlite_memories import delete_memory, rename_memory
from tests.backends.suite import BackendSuite, batch_of
from tests.backends.suite_guards import GuardSuite
from tests.backends.suite_threads import ThreadSuite


class TestNamed(BackendSuite, GuardSuite, ThreadSuite):
    capabilities = Capabilities(durable=True, multi_process=True, persistent=True)

    def open(self, folder: Path, *, create: bool = True) -> Backend:
        """Open a memory in `folder`, in a file with two others that have rows of the same keys."""
        if create:
            for name in (None, "other"):
                with SQLiteBackend(folder / "store", memory=name) as other:
                    other.write(batch_of([(b"a", b"of another"), (b"zz", b"of another")]))
        return SQLiteBackend(folder / "store", create=create, memory="mine")


def test_a_change_leaves_no_file_open(tmp_path: Path) -> None:
    """After a memory was renamed and deleted, this process has no file of the store open."""
    path = tmp_path / "memories.db"
    SQLiteBackend(path, memory="work").close()
    rename_memory(str(path), "work", "home")
    delete_memory(str(path), "home")
    opened = []
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the folder itself, which is open while it is listed
            opened.append(str(entry.readlink()))
    assert not [target for target in opened if target.startswith(str(tmp_path))]
