"""Tests that the engine uses no network: it works in a process in which opening a socket raises an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.children import run

pytestmark = pytest.mark.slow

OFFLINE = """
import socket, sys

def refuse(*arguments, **options):
    raise AssertionError("a socket was asked for")

socket.socket.__init__ = refuse
socket.create_connection = refuse
socket.getaddrinfo = refuse

from pathlib import Path
from engine import Engine

notes = Path(sys.argv[1]) / "notes"
notes.mkdir()
(notes / "a.md").write_text("# Kettle\\n\\nDescale it. See [[b]]. #kitchen\\n")
(notes / "b.md").write_text("# Vinegar\\n\\nHalf a cup.\\n")
with Engine.open(f"{sys.argv[1]}/store") as memory:
    memory.ingest([notes])
    print(len(memory.recall("kettle").hits), len(memory.find(limit=9)), memory.verify().ok)
"""


def test_everything_works_without_a_socket(tmp_path: Path) -> None:
    """Ingesting, recalling and verifying never open a socket."""
    assert run(OFFLINE, tmp_path) == (0, "2 2 True\n")
