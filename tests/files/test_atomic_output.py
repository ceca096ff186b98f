"""A new store gets its name only if it is complete."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from engine.base.errors import SystemFailureError
from engine.files.atomic_output import new_store
from tests.backends.suite import batch_of


def filled_and_read(url: str) -> sqlite3.Connection:
    """Make a new store; return a connection that keeps SQLite from moving the WAL into the database."""
    with new_store(url) as backend:
        backend.write(batch_of([(b"a", b"1")]))
        new = next(path for path in backend.files() if path.name == "store")
        other = sqlite3.connect(new)
        other.execute("SELECT * FROM rows").fetchone()
    return other


def test_a_file_without_its_last_transactions_gets_no_name(tmp_path: Path) -> None:
    """If SQLite leaves transactions in the WAL when it closes the new file, there is no store."""
    with pytest.raises(SystemFailureError, match="store cannot be created"):
        filled_and_read(f"sqlite:{tmp_path / 'store'}")
    assert list(tmp_path.iterdir()) == []
