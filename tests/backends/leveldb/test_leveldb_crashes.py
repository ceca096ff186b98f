"""Tests of LevelDB stores whose process is killed, and of the order in which data reaches the disk."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from backends import open_backend, store_exists
from backends.leveldb.leveldb_backend import LevelDBBackend
from tests.backends.damage import WRITE_ACKED, acked, assert_whole, filled
from tests.backends.suite import batch_of
from tests.support.children import run_traced
from tests.support.leveldb import needs_leveldb

pytestmark = [needs_leveldb, pytest.mark.slow]

CREATE = """
import sys
from backends.leveldb.leveldb_backend import LevelDBBackend
LevelDBBackend(sys.argv[1]).close()
"""

BIG_WRITES = """
import os, sys
from backends import Batch, open_backend
backend = open_backend(sys.argv[1])
for n in range(120):
    batch = Batch()
    batch.put(b"%03d" % n, os.urandom(1 << 20))
    backend.write(batch, durable=sys.argv[2] == "durable" or n % 20 == 19)
    os.write(1, b"ack\\n")
"""


@pytest.mark.parametrize(
    ("call", "when"),
    [("mkdir", 1), ("mkdir", 3), ("openat", 0), ("write", 1), ("fdatasync", 1), ("fsync", 1), ("fsync", 5),
     ("rename", 1), ("rename", 2), ("rename", 3), ("unlink", 1)],
)  # fmt: skip
def test_r9_a_crash_while_creating_leaves_a_whole_store_or_none(tmp_path: Path, call: str, when: int) -> None:
    """L9: after a kill at any system call of a creation, the next one succeeds and cleans up."""
    path = tmp_path / "store"
    # The interpreter itself opens many files: only the calls on our own folder count.
    only = ("-P", str(tmp_path)) if call in ("openat", "mkdir") and when == 0 else ()
    inject = f"inject={call}:signal=SIGKILL:when={max(when, 1)}"
    run_traced(CREATE, path, options=("-e", f"trace={call}", "-e", inject, "-o", "/dev/null", *only))
    whole = store_exists(str(path))
    assert whole or not path.exists()
    with open_backend(f"leveldb:{path}") as backend:
        assert list(backend.scan()) == []
    assert whole or list(tmp_path.iterdir()) == [path]


def test_r9_a_store_is_synced_before_it_gets_its_name_and_its_name_after(tmp_path: Path) -> None:
    """A new store is synced, then renamed into place, and then its parent folder is synced."""
    path, log = tmp_path / "store", tmp_path / "trace"
    run_traced(CREATE, path, options=("-y", "-e", "trace=fsync,rename", "-o", str(log)))
    before, _, after = log.read_text().partition(f', "{path}")')
    synced = set(re.findall(r"fsync\(\d+<[^>]*/\.store\.new-\w+/([^>]*)>", before))
    assert synced >= {"store", "store/lock", "store/db", "store/db/CURRENT"}
    assert any(name.endswith(".log") for name in synced)
    assert f"<{tmp_path}>) = 0" in re.sub(r"\s+", " ", after)


@pytest.mark.parametrize("call", ["write", "fdatasync"])
@pytest.mark.parametrize("when", [12, 19, 27, 40])
def test_l10_a_kill_at_a_system_call_loses_nothing_acknowledged(tmp_path: Path, call: str, when: int) -> None:
    """L10: after SIGKILL during a write all acknowledged batches are there and none is torn."""
    path = tmp_path / "store"
    filled(path, 0)
    inject = f"inject={call}:signal=SIGKILL:when={when}"
    code, out = run_traced(
        WRITE_ACKED, path, 100, options=("-e", f"trace={call}", "-e", inject, "-o", "/dev/null")
    )
    assert code != 0
    with LevelDBBackend(path) as backend:
        assert assert_whole(backend, acked(out)) < 100


def events(trace: str) -> list[str]:
    """Return the relevant events of a trace, in order: `new N`, `sync N` for a log, `folder`, `ack`."""
    found = []
    for line in trace.splitlines():
        if match := re.search(r"openat\(.*/db/(\d+)\.log\", [^)]*O_CREAT", line):
            found.append(f"new {match[1]}")
        elif match := re.search(r"f(?:data)?sync\(\d+<[^>]*/db/(\d+)\.log>", line):
            found.append(f"sync {match[1]}")
        elif re.search(r"fsync\(\d+<[^>]*/db>", line):
            found.append("folder")
        elif "write(1<" in line:
            found.append("ack")
    return found


def trace_of(tmp_path: Path, how: str) -> list[str]:
    """Return the events of BIG_WRITES on an existing store."""
    path, log = tmp_path / "store", tmp_path / "trace"
    filled(path, 0)
    options = ("-y", "-e", "trace=openat,fsync,fdatasync,write", "-e", "signal=none", "-o", str(log))
    run_traced(BIG_WRITES, path, how, options=options)
    return events(log.read_text())


def test_r11_the_folder_is_synced_before_a_write_into_a_new_log_is_acknowledged(tmp_path: Path) -> None:
    """L12: after a new log was started, the folder is synced before the next acknowledgement."""
    owed = False
    rotations = 0
    for event in trace_of(tmp_path, "durable"):
        if event.startswith("new"):
            owed, rotations = True, rotations + 1
        elif event == "folder":
            owed = False
        assert not (event == "ack" and owed)
    assert rotations >= 3


def test_r11_an_older_log_is_synced_before_a_newer_one(tmp_path: Path) -> None:
    """The log that holds unsynced rows is synced before a newer log, so no newer row survives them."""
    logs: list[str] = []
    synced: set[str] = set()
    for event in trace_of(tmp_path, "mixed"):
        kind, _, number = event.partition(" ")
        if kind == "new":
            logs.append(number)
        elif kind == "sync":
            synced.add(number)
            assert synced >= set(logs[: logs.index(number)]), event
    assert len(logs) >= 3


def test_closing_a_store_writes_a_long_log_to_a_table(tmp_path: Path) -> None:
    """The next opening need not read it. A short log stays as it is, and nothing is lost."""
    for megabytes, is_short in ((1, True), (6, False)):
        path = tmp_path / f"store{megabytes}"
        rows = {b"%03d" % n: os.urandom(1 << 20) for n in range(megabytes)}
        with LevelDBBackend(path) as backend:
            for key, value in rows.items():
                backend.write(batch_of([(key, value)]))
        logs = [file.stat().st_size for file in (path / "db").glob("*.log")]
        assert (sum(logs) > len(rows) << 20) == is_short
        with LevelDBBackend(path) as backend:
            assert dict(backend.scan()) == rows
