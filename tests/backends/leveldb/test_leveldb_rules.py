"""Tests that reproduce the losses measured with plain LevelDB, and show how the backend prevents each.

L1 to L13 are the measured facts, R1 to R13 the rules that follow from them.
"""

from __future__ import annotations

import ast
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

import backends
from backends.base import Backend, Batch
from backends.errors import BackendBusy, BackendClosed, BackendCorrupt, BackendInDoubt, BackendUnusable
from backends.leveldb.leveldb_backend import LevelDBBackend
from tests.backends.damage import WRITE_ACKED, acked, assert_whole, filled, flip_in_middle, newest
from tests.backends.suite import batch_of
from tests.backends.suite_threads import in_forked_process
from tests.support.children import run, run_traced
from tests.support.leveldb import needs_leveldb

pytestmark = needs_leveldb

FILE_TOO_LARGE = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
""" + WRITE_ACKED.replace(
    "for n in",
    """
limit = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limit[1]))
for n in""",
).replace("    else:", "        resource.setrlimit(resource.RLIMIT_FSIZE, limit)\n    else:")

OPEN = """
import sys
from backends import BackendBusy, open_backend
try:
    open_backend(sys.argv[1]).close()
except BackendBusy as error:
    print("busy", error.holder)
else:
    print("opened")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a store that does not exist yet."""
    return tmp_path / "store"


def test_r1_after_a_torn_record_nothing_more_is_acknowledged(path: Path) -> None:
    """L1: after a failed write all later writes are refused, although LevelDB would accept them."""
    filled(path, 0)
    _, out = run(FILE_TOO_LARGE, path, 300)
    acknowledged = acked(out)
    assert 0 < len(acknowledged) < 300
    assert acknowledged == list(range(len(acknowledged)))
    with LevelDBBackend(path) as backend:
        assert_whole(backend, acknowledged)
        backend.write(batch_of([(b"later", b"1")]))
    with LevelDBBackend(path) as backend:
        assert_whole(backend, acknowledged)
        assert backend.get(b"later") == b"1"


def test_r2_a_failed_sync_leaves_the_write_in_doubt(path: Path) -> None:
    """L2: EIO in fdatasync raises BackendInDoubt, and so do all later writes until reopening."""
    filled(path, 0)
    _, out = run_traced(
        WRITE_ACKED,
        path,
        40,
        options=("-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=15", "-o", "/dev/null"),
    )
    acknowledged = acked(out)
    assert 0 < len(acknowledged) < 40
    assert out.count("doubt") == 40 - len(acknowledged)
    with LevelDBBackend(path) as backend:
        assert assert_whole(backend, acknowledged) <= len(acknowledged) + 1


def test_r2_any_exception_in_a_write_poisons_the_handle(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt in the middle of a write passes through, and leaves the handle read-only."""
    with LevelDBBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))

        def interrupted() -> NoReturn:
            raise KeyboardInterrupt

        monkeypatch.setattr(backend, "_sync_names", interrupted)
        with pytest.raises(KeyboardInterrupt):
            backend.write(batch_of([(b"b", b"1")]))
        monkeypatch.undo()
        with pytest.raises(BackendInDoubt, match="reopen"):
            backend.write(batch_of([(b"c", b"1")]))
        assert backend.get(b"a") == b"1"


def test_r3_the_lock_outlives_a_copy_of_the_folder(path: Path, tmp_path: Path) -> None:
    """L3: after all files, LOCK included, were opened and closed here, other processes still get busy."""
    with LevelDBBackend(path) as backend:
        backend.write(batch_of([(b"a", b"1")]))
        with pytest.raises(BackendBusy, match=f"pid {os.getpid()} \\(this process\\)") as busy:
            LevelDBBackend(path)
        assert "use a sqlite: store" in busy.value.hint
        shutil.copytree(path, tmp_path / "copy")
        assert run(OPEN, path) == (0, f"busy pid {os.getpid()}\n")
    assert run(OPEN, path) == (0, "opened\n")


def test_r4_a_forked_process_writes_nothing(path: Path) -> None:
    """L4: if parent and child both try 300 writes, all writes of the parent and none of the child succeed."""
    with LevelDBBackend(path) as backend:
        backend.write(batch_of([(b"x", b"1")]))

        def write_all() -> None:
            for n in range(300):
                with pytest.raises(BackendClosed):
                    backend.write(batch_of([(b"child%d" % n, b"1")]))

        assert in_forked_process(write_all) == ""
        for n in range(300):
            backend.write(batch_of([(b"p%03d" % n, b"1")]))
    with LevelDBBackend(path) as backend:
        assert sum(1 for _ in backend.scan()) == 301


def test_r4_a_forked_process_does_not_keep_the_lock(path: Path) -> None:
    """A forked process does not keep the lock: the parent can close and reopen the store while it lives."""
    reading, writing = os.pipe()
    backend = LevelDBBackend(path)
    child = os.fork()
    if child == 0:
        os.read(reading, 1)
        os._exit(0)
    try:
        backend.close()
        LevelDBBackend(path).close()
    finally:
        os.write(writing, b"x")
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
    assert run(OPEN, path) == (0, "opened\n")


def test_r4_a_forked_process_never_frees_what_the_parent_uses(path: Path) -> None:
    """In a forked process the LevelDB and its open scans get a permanent reference and are never freed."""
    with LevelDBBackend(path) as backend:
        scan = backend.scan()
        parts = [backend._reads.database, *backend._reads.live]
        before = [sys.getrefcount(part) for part in parts]

        def compare() -> None:
            assert [sys.getrefcount(part) for part in parts] == [count + 1 for count in before]

        assert len(parts) == 2
        assert in_forked_process(compare) == ""
        assert list(scan) == []


def test_r4_a_forked_process_that_ends_leaves_the_files_alone(path: Path) -> None:
    """A forked process that runs Python's whole shutdown changes no row of the parent's store."""
    code = """
import os, sys
from backends import Batch, open_backend
backend = open_backend(sys.argv[1])
batch = Batch(); batch.put(b"a", b"1"); backend.write(batch)
scan = backend.scan(); snapshot = backend.snapshot()
child = os.fork()
if child == 0:
    del backend, scan, snapshot
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
batch.put(b"b", b"2"); backend.write(batch)
assert len(list(snapshot.scan())) == 1
backend.close()
"""
    assert run(code, path)[0] == 0
    with LevelDBBackend(path) as backend:
        assert list(backend.scan()) == [(b"a", b"1"), (b"b", b"2")]


def test_r4_a_forked_process_cannot_open_what_was_open(path: Path) -> None:
    """A forked process cannot open the parent's store: busy while it is open, then a hint at 'spawn'."""
    backend = LevelDBBackend(path)
    assert in_forked_process(lambda: LevelDBBackend(path)) == "BackendBusy"
    reading, writing = os.pipe()

    def open_when_closed() -> None:
        os.read(reading, 1)
        LevelDBBackend(path)

    child = os.fork()
    if child == 0:
        try:
            open_when_closed()
        except BackendUnusable as error:
            os._exit(7 if "spawn" in str(error) else 1)
        finally:
            os._exit(2)
    backend.close()
    os.write(writing, b"x")
    status = os.waitpid(child, 0)[1]
    os.close(reading)
    os.close(writing)
    assert os.waitstatus_to_exitcode(status) == 7


def test_r5_and_r12_a_flipped_bit_in_the_log_is_refused_and_nothing_is_repaired(path: Path) -> None:
    """L5: opening a log with a flipped bit raises BackendCorrupt each time and changes no file."""
    filled(path, 500)
    flip_in_middle(newest(path, ".log"))
    before = {file.name: file.read_bytes() for file in (path / "db").glob("*[0-9].*")}
    for _ in range(2):
        with pytest.raises(BackendCorrupt, match="damaged"):
            LevelDBBackend(path)
    assert {file.name: file.read_bytes() for file in (path / "db").glob("*[0-9].*")} == before


def test_r12_no_code_of_ours_repairs() -> None:
    """L13: repair_db and destroy_db are named nowhere in the package."""
    sources = sorted(Path(str(backends.__file__)).parent.rglob("*.py"))
    names = {
        node.attr
        for file in sources
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
    }
    assert sources
    assert not names & {"repair_db", "destroy_db"}


@pytest.mark.parametrize("share", [0, 0.5], ids=["to-nothing", "to-half"])
def test_r6_a_cut_log_is_not_noticed_here(path: Path, share: float) -> None:
    """L6: a truncated log opens with fewer rows and no error; only a head kept elsewhere shows the loss."""
    filled(path, 500)
    log = newest(path, ".log")
    os.truncate(log, int(log.stat().st_size * share))
    with LevelDBBackend(path) as backend:
        found = [key for key, _ in backend.scan()]
    assert len(found) < 500
    assert found == [b"%06d" % n for n in range(len(found))]


@pytest.mark.parametrize(
    "read",
    [
        lambda backend: [backend.get(b"%06d" % n) for n in range(500)],
        lambda backend: backend.multi_get([b"%06d" % n for n in range(500)]),
        lambda backend: list(backend.scan()),
        lambda backend: list(backend.scan(reverse=True)),
        lambda backend: list(backend.snapshot().scan()),
        lambda backend: [backend.snapshot().get(b"%06d" % n) for n in range(500)],
    ],
    ids=["get", "multi_get", "scan", "reverse", "snapshot-scan", "snapshot-get"],
)
def test_r7_a_flipped_bit_in_a_table_is_never_served(path: Path, read: Callable[[Backend], object]) -> None:
    """L7: reading a table with a flipped bit raises BackendCorrupt in each way of reading."""
    filled(path, 500, tables=True)
    flip_in_middle(newest(path, ".ldb"))
    with LevelDBBackend(path) as backend, pytest.raises(BackendCorrupt):
        read(backend)


def test_r8_a_batch_that_fails_while_it_is_built_writes_nothing(path: Path) -> None:
    """L8: an exception while a batch is built leaves none of its rows, and the handle stays usable."""

    class Broken(dict[bytes, bytes | None]):
        def items(self) -> NoReturn:
            raise RuntimeError

    with LevelDBBackend(path) as backend:
        batch = Batch()
        batch.rows = Broken({b"a": b"1", b"b": b"2"})
        with pytest.raises(RuntimeError):
            backend.write(batch)
        backend.write(batch_of([(b"c", b"3")]))
        assert list(backend.scan()) == [(b"c", b"3")]
