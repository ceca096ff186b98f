"""Stores for tests to damage, and the code that children run on them."""

from __future__ import annotations

from pathlib import Path

from backends.base import Backend
from backends.leveldb.leveldb_backend import LevelDBBackend
from tests.backends.suite import batch_of

WRITE_ACKED = """
import os, sys
from backends import Batch, BackendInDoubt, open_backend
backend = open_backend(sys.argv[1])
def put(n, durable=True):
    batch = Batch()
    batch.put(b"%06d" % n, b"%d" % n * 20)
    batch.put(b"last", b"%d" % n)
    backend.write(batch, durable=durable)
for n in range(int(sys.argv[2])):
    try:
        put(n)
    except BackendInDoubt:
        os.write(1, b"doubt %d\\n" % n)
    else:
        os.write(1, b"ack %d\\n" % n)
"""
"""Writes argv[2] batches of two rows durably, and tells which were acknowledged."""


def acked(out: str) -> list[int]:
    """Return the numbers of the batches that WRITE_ACKED acknowledged."""
    return [int(line.split()[1]) for line in out.splitlines() if line.startswith("ack ")]


def assert_whole(backend: Backend, acknowledged: list[int]) -> int:
    """Check that no acknowledged batch is missing or torn; return the number of batches.

    The batches that were not acknowledged must continue them without a gap.
    """
    found = [int(key) for key, _ in backend.scan(b"0", b":")]
    assert found == list(range(len(found)))
    assert len(found) >= len(acknowledged)
    assert backend.get(b"last") == (b"%d" % found[-1] if found else None)
    return len(found)


def filled(path: Path, count: int, *, tables: bool = False) -> None:
    """Create and close a store of `count` rows, each written durably.

    With `tables`, the rows are moved out of the log.
    """
    with LevelDBBackend(path) as backend:
        for n in range(count):
            backend.write(batch_of([(b"%06d" % n, b"%d" % n * 20)]))
        if tables:
            backend._reads.database.compact_range()


def newest(path: Path, ending: str) -> Path:
    """Return the largest file of a kind in the store's LevelDB."""
    return max((path / "db").glob(f"*{ending}"), key=lambda file: (file.stat().st_size, file.name))


def flip_in_middle(file: Path) -> None:
    """Flip one bit in the middle of `file`."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x10
    file.write_bytes(data)
