"""Tests of several processes at one store: SQLite shares it, LevelDB names the holder."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends import open_backend, store_exists
from backends.errors import BackendBusy
from tests.backends.suite import batch_of
from tests.support.children import TIMEOUT_SECONDS, run, start
from tests.support.leveldb import LEVELDB, needs_leveldb

COUNT = """
import sys
from backends import Batch, Guard, GuardFailed, open_backend
with open_backend(sys.argv[1]) as backend:
    done = 0
    while done < int(sys.argv[3]):
        now = backend.get(b"n") or b"0"
        batch = Batch()
        batch.put(b"n", b"%d" % (int(now) + 1))
        batch.put(sys.argv[2].encode() + b"%d" % done, b"")
        try:
            backend.write(batch, guard=Guard(b"n", None if now == b"0" else now), durable=done % 10 == 0)
        except GuardFailed:
            continue
        done += 1
"""

HOLD = """
import sys
from backends import open_backend
backend = open_backend(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
"""

PUT = """
import sys
from backends import Batch, open_backend
with open_backend(sys.argv[1]) as backend:
    batch = Batch(); batch.put(b"child", b"1"); backend.write(batch)
"""

STRANGE_NAME = "a b%20c?mode=memory#ü日本 'x' \"y\" %s{0}"


def test_three_processes_count_in_sqlite_and_lose_nothing(tmp_path: Path) -> None:
    """Three processes that create one store and add to a guarded counter lose no addition."""
    url = f"sqlite:{tmp_path / 'store'}"
    children = [start(COUNT, url, name, 40) for name in "abc"]
    for child in children:
        _, err = child.communicate(timeout=TIMEOUT_SECONDS)
        assert child.returncode == 0, err
    with open_backend(url) as backend:
        assert backend.get(b"n") == b"120"
        assert sum(1 for _ in backend.scan(b"a", b"d")) == 120
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["store", "store-lock", "store-wal-mark"]


@needs_leveldb
def test_one_of_three_gets_a_new_leveldb_store(tmp_path: Path) -> None:
    """Processes that create one LevelDB store at once leave one complete store and no leftovers."""
    url = f"leveldb:{tmp_path / 'store'}"
    children = [start(PUT, url) for _ in range(3)]
    for child in children:
        _, err = child.communicate(timeout=TIMEOUT_SECONDS)
        assert child.returncode == 0 or "BackendBusy" in err
    with open_backend(url) as backend:
        assert list(backend.scan()) == [(b"child", b"1")]
    assert list(tmp_path.iterdir()) == [tmp_path / "store"]


@needs_leveldb
def test_the_second_process_is_told_who_has_the_leveldb_store(tmp_path: Path) -> None:
    """BackendBusy names the pid of the holder; after that process is killed, the store can be opened."""
    url = f"leveldb:{tmp_path / 'store'}"
    child = start(HOLD, url)
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    with pytest.raises(BackendBusy) as busy:
        open_backend(url)
    assert busy.value.holder == f"pid {child.pid}"
    child.kill()
    child.communicate(timeout=TIMEOUT_SECONDS)
    with open_backend(url) as backend:
        backend.write(batch_of([(b"a", b"1")]))
        assert backend.get(b"a") == b"1"


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_any_path_will_do(tmp_path: Path, scheme: str) -> None:
    """Spaces, quotes, percent signs, question marks and other scripts in a path are used literally."""
    url = f"{scheme}:{tmp_path / STRANGE_NAME / STRANGE_NAME}"
    assert not store_exists(url)
    with open_backend(url) as backend:
        backend.write(batch_of([(b"a", b"1")]))
    assert run(PUT, url)[0] == 0
    with open_backend(url, create=False) as backend:
        assert list(backend.scan()) == [(b"a", b"1"), (b"child", b"1")]
    assert store_exists(url)
    assert [entry.name for entry in tmp_path.iterdir()] == [STRANGE_NAME]
    ends = ("", "-lock", "-wal-mark") if scheme == "sqlite" else ("",)
    assert sorted(entry.name for entry in (tmp_path / STRANGE_NAME).iterdir()) == [
        STRANGE_NAME + end for end in ends
    ]


def test_looking_at_an_open_sqlite_file_keeps_its_locks(tmp_path: Path) -> None:
    """Another process that opens and closes the file must not take itself for the last one.

    It would, had this process closed a descriptor of the file to look what it is: then the other
    one removes the WAL that this one goes on writing into.
    """
    path = tmp_path / "store"
    with open_backend(f"sqlite:{path}") as backend:
        backend.write(batch_of([(b"a", b"1")]))
        wal = Path(f"{path}-wal").stat().st_ino
        assert store_exists(f"sqlite:{path}")
        open_backend(str(path)).close()
        assert run(PUT, f"sqlite:{path}")[0] == 0
        assert Path(f"{path}-wal").stat().st_ino == wal
        assert backend.get(b"child") == b"1"
