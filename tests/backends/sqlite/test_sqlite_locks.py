"""Tests of exclusive blocks in a SQLite store, across processes, forks and accidents."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from backends import open_backend, store_exists
from backends.base import Batch, Guard
from backends.errors import BackendBusy, BackendClosed, BackendUnusable
from backends.sqlite.sqlite_backend import SQLiteBackend
from tests.backends.suite import batch_of
from tests.backends.suite_threads import in_forked_process, run_threads
from tests.support.children import TIMEOUT_SECONDS, run, start

TRY = """
import sys
from backends import Batch, BackendBusy
from backends.sqlite.sqlite_backend import SQLiteBackend
with SQLiteBackend(sys.argv[1], busy_seconds=0.02) as backend:
    batch = Batch(); batch.put(b"child", b"1")
    try:
        backend.write(batch)
    except BackendBusy:
        print("busy", backend.get(b"child"))
    else:
        print("written")
"""

HOLD = """
import os, sys
from backends.sqlite.sqlite_backend import SQLiteBackend
backend = SQLiteBackend(sys.argv[1])
with backend.exclusive():
    if sys.argv[2] == "fork" and os.fork():
        os._exit(0)
    print("ready", flush=True)
    sys.stdin.readline()
"""

FORK = """
import os, sys
from backends import BackendBusy, Batch
from backends.sqlite.sqlite_backend import SQLiteBackend
one, other = SQLiteBackend(sys.argv[1]), SQLiteBackend(sys.argv[1], busy_seconds=0.02)
batch = Batch(); batch.put(b"a", b"1")
with one.exclusive():
    child = os.fork()
    if not child:
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    try:
        other.write(batch)
    except BackendBusy:
        print("still busy")
    one.write(batch)
other.write(batch)
one.close(); other.close()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a store that does not exist yet."""
    return tmp_path / "store"


def lock_of(path: Path) -> Path:
    """Return the lock file of the store at `path`."""
    return Path(f"{path}-lock")


def open_locks() -> list[str]:
    """Return the lock files that this process has open."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except FileNotFoundError:
            continue
        if target.removesuffix(" (deleted)").endswith("-lock"):
            found.append(target)
    return found


def test_who_is_exclusive_keeps_others_from_writing_until_the_end_of_the_block(path: Path) -> None:
    """Another handle's writes raise BackendBusy during the block and succeed after it."""
    with SQLiteBackend(path) as one, SQLiteBackend(path, busy_seconds=0.02) as other:
        with one.exclusive():
            for before, now in ((None, b"1"), (b"1", b"2"), (b"2", b"3")):
                with pytest.raises(BackendBusy):
                    other.write(batch_of([(b"k", b"other")]))
                assert other.get(b"k") == before
                one.write(batch_of([(b"k", now)]), guard=Guard(b"k", before), durable=now == b"2")
            with pytest.raises(BackendBusy) as busy, other.exclusive():
                pass
            assert busy.value.hint == "try again later, or close the store there"
        other.write(batch_of([(b"k", b"4")]), guard=Guard(b"k", b"3"))
        assert one.get(b"k") == b"4"


def test_another_process_is_busy_until_the_end_of_the_block(path: Path) -> None:
    """Another process cannot write until the end of the block, also after the holder's first write."""
    with SQLiteBackend(path) as backend:
        with backend.exclusive():
            backend.write(batch_of([(b"a", b"1")]))
            assert run(TRY, path) == (0, "busy None\n")
            backend.write(batch_of([(b"a", b"2")]), guard=Guard(b"a", b"1"))
        assert run(TRY, path) == (0, "written\n")


def test_an_exclusive_block_that_fails_gives_the_lock_back(path: Path) -> None:
    """The lock is released at the end of the outermost block, also after an error."""
    with SQLiteBackend(path) as one, SQLiteBackend(path, busy_seconds=0.02) as other:
        with pytest.raises(KeyError), one.exclusive(), one.exclusive():
            raise KeyError
        other.write(batch_of([(b"k", b"v")]))
        assert one.get(b"k") == b"v"


def test_the_end_of_an_inner_block_keeps_the_lock(path: Path) -> None:
    """Only the end of the outermost block lets others write."""
    with SQLiteBackend(path) as one, SQLiteBackend(path, busy_seconds=0.02) as other, one.exclusive():
        with one.exclusive():
            pass
        with pytest.raises(BackendBusy):
            other.write(batch_of([(b"k", b"v")]))


def test_threads_of_one_handle_wait_for_the_block(path: Path) -> None:
    """Threads of one handle wait for the block: no other write comes between two writes of a block."""
    with SQLiteBackend(path) as backend:

        def add() -> None:
            for _ in range(20):
                with backend.exclusive():
                    for _ in range(2):
                        now = backend.get(b"n")
                        more = b"%d" % (int(now or b"0") + 1)
                        backend.write(batch_of([(b"n", more)]), guard=Guard(b"n", now), durable=False)

        assert run_threads(add, add, add) == []
        assert backend.get(b"n") == b"120"


def test_a_killed_holder_leaves_the_lock_free(path: Path) -> None:
    """The lock of a process that died in its block is free without any cleanup."""
    with start(HOLD, path, "alone") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        assert run(TRY, path) == (0, "busy None\n")
        child.kill()
        child.communicate(timeout=TIMEOUT_SECONDS)
    assert run(TRY, path) == (0, "written\n")


def test_a_forked_process_does_not_keep_the_lock(path: Path) -> None:
    """If the holder dies in its block, a process that it forked does not keep the lock."""
    with start(HOLD, path, "fork") as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.wait(timeout=TIMEOUT_SECONDS)
        assert run(TRY, path) == (0, "written\n")
        child.communicate("\n", timeout=TIMEOUT_SECONDS)


def test_a_forked_process_does_not_give_the_parents_lock_back(path: Path) -> None:
    """A forked process that leaves the block does not release the parent's lock."""
    assert run(FORK, path) == (0, "still busy\n")


def test_a_forked_process_cannot_be_exclusive(path: Path) -> None:
    """An exclusive block in a forked process raises BackendClosed, and no lock file stays open there."""

    def none_is_open() -> None:
        assert open_locks() == []

    with SQLiteBackend(path) as backend, backend.exclusive():
        assert in_forked_process(lambda: backend.exclusive().__enter__()) == "BackendClosed"
        assert in_forked_process(none_is_open) == ""


def test_the_lock_file_is_closed_with_the_store(path: Path) -> None:
    """After closing, no descriptor of the lock file remains, and started programs inherit none."""
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))
        assert backend._lock._descriptor is not None
        assert not os.get_inheritable(backend._lock._descriptor)
        assert open_locks() == [str(lock_of(path))]
    assert open_locks() == []


def test_closing_in_the_block_ends_it(path: Path) -> None:
    """Closing the handle inside the block releases the lock at once."""
    one = SQLiteBackend(path)
    with SQLiteBackend(path, busy_seconds=0.02) as other, one.exclusive():
        one.close()
        other.write(batch_of([(b"a", b"1")]))
        with pytest.raises(BackendClosed):
            one.write(Batch())


def test_a_lock_file_removed_by_hand_is_made_again(path: Path) -> None:
    """After a lock file is removed by hand, open handles exclude each other through a new one."""
    with SQLiteBackend(path) as one, SQLiteBackend(path, busy_seconds=0.02) as other:
        for backend in (one, other):
            backend.write(batch_of([(b"a", b"1")]))
        lock_of(path).unlink()
        with one.exclusive(), pytest.raises(BackendBusy):
            other.write(batch_of([(b"a", b"2")]))
        other.write(batch_of([(b"b", b"2")]))
        with other.exclusive():
            assert run(TRY, path) == (0, "busy None\n")
        assert list(one.scan()) == [(b"a", b"1"), (b"b", b"2")]


def test_removing_the_lock_file_under_its_holder_costs_only_exclusivity(path: Path) -> None:
    """If the lock file is removed under its holder, others can write; guards notice it and no row is lost."""
    with SQLiteBackend(path) as one, SQLiteBackend(path, busy_seconds=0.02) as other:
        with one.exclusive():
            one.write(batch_of([(b"a", b"1")]))
            lock_of(path).unlink()
            other.write(batch_of([(b"a", b"2")]), guard=Guard(b"a", b"1"))
            one.write(batch_of([(b"b", b"3")]), guard=Guard(b"a", b"2"))
        with one.exclusive(), pytest.raises(BackendBusy):
            other.write(batch_of([(b"c", b"4")]))
        assert list(one.scan()) == [(b"a", b"2"), (b"b", b"3")]


def test_reading_makes_no_lock_file(path: Path) -> None:
    """The lock file is created at the first write, with the permissions of the store."""
    with SQLiteBackend(path) as backend:
        path.chmod(0o660)
        assert list(backend.scan()) == []
        backend.write(Batch())
        assert not lock_of(path).exists()
        backend.write(batch_of([(b"a", b"1")]))
        assert stat.S_IMODE(lock_of(path).stat().st_mode) == 0o660


def test_a_lock_file_is_no_store(path: Path) -> None:
    """The path of a lock file is refused with and without a scheme, and the lock file stays unchanged."""
    with SQLiteBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))
    for url in (f"{path}-lock", f"sqlite:{path}-lock"):
        assert not store_exists(url)
        with pytest.raises(BackendUnusable):
            open_backend(url)
    assert lock_of(path).read_bytes() == b""
    assert store_exists(str(path))


@pytest.mark.parametrize("kind", ["file", "folder", "link", "pipe"])
def test_what_is_no_lock_file_is_left_alone(path: Path, kind: str) -> None:
    """Another file at the lock's path makes writes refused with a hint and stays unchanged; reads work."""
    lock = lock_of(path)
    with SQLiteBackend(path) as backend:
        if kind == "file":
            lock.write_text("dear")
        elif kind == "folder":
            lock.mkdir()
        elif kind == "link":
            lock.symlink_to("elsewhere")
        else:
            os.mkfifo(lock)
        before = lock.lstat()
        for _ in range(2):
            with pytest.raises(BackendUnusable, match="rename one of the two files"):
                backend.write(batch_of([(b"a", b"1")]))
        assert backend.get(b"a") is None
        assert lock.lstat() == before
        assert not Path(path.parent, "elsewhere").exists()
        lock.rmdir() if kind == "folder" else lock.unlink()
        backend.write(batch_of([(b"a", b"1")]))


def test_a_store_named_like_the_lock_file_keeps_its_locks(path: Path) -> None:
    """A store named like a lock file is refused without being opened: closing it would release its locks."""
    with SQLiteBackend(lock_of(path)) as named, SQLiteBackend(path) as backend:
        named.write(batch_of([(b"a", b"1")]))
        wal = Path(f"{lock_of(path)}-wal").stat().st_ino
        with pytest.raises(BackendUnusable, match="not an empty file"):
            backend.write(batch_of([(b"a", b"1")]))
        assert run(TRY, lock_of(path)) == (0, "written\n")
        assert Path(f"{lock_of(path)}-wal").stat().st_ino == wal


def test_the_lock_of_a_memory_in_use_has_the_permissions_of_the_store(path: Path) -> None:
    """Another user of the store can open the memory, too."""
    SQLiteBackend(path).close()
    path.chmod(0o660)
    with SQLiteBackend(path, memory="work"):
        assert stat.S_IMODE(Path(f"{path}-use-work").stat().st_mode) == 0o660
