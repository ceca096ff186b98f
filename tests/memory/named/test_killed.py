"""Killing a process while it renames or deletes leaves the memory complete under one name, or deleted."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from engine import Engine, memories
from engine.memory.named_memories import create, delete
from tests.memory.named.support import ROOTS, begin, root_url
from tests.support.children import start

pytestmark = pytest.mark.slow

CHILD = """
import os, signal, sys
from pathlib import Path
import sqlite3

steps = int(sys.argv[3])

def die_at_step(*given):
    global steps
    steps -= 1
    if steps < 0:
        os.kill(os.getpid(), signal.SIGKILL)

def watched(kind, name):
    inner = getattr(kind, name)
    def call(*args, **options):
        die_at_step()
        found = inner(*args, **options)
        die_at_step()
        return found
    setattr(kind, name, call)

import engine.memory.named_memories
import backends.sqlite.sqlite_memories as tables
from engine.memory.named_memories import delete, rename

for name in ("rename", "unlink", "rmdir", "mkdir"):
    watched(Path, name)
for name in ("rename", "drop", "number_of"):
    watched(tables, name)
watched(engine.memory.named_memories, "fsync_path")

if sys.argv[2] == "rename":
    rename(sys.argv[1], "work", "office")
else:
    delete(sys.argv[1], "work")
print("done", flush=True)
"""

WRITER = """
import os, signal, sys
from engine import Engine

memory = Engine.open(sys.argv[1], memory="work")
memory.add("of work")
print(memory.root().root, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
"""A program that leaves a write-ahead log with acknowledged writes."""

STEPS = range(0, 40, 3)


@pytest.mark.parametrize("action", ["rename", "delete"])
@pytest.mark.parametrize("kind", ROOTS)
def test_a_killed_change_is_whole_or_nothing(tmp_path: Path, kind: str, action: str) -> None:
    """After a kill at any point, the memory exists complete under exactly one name, or not at all.

    Leftovers do not prevent creating and deleting memories.
    """
    finished = False
    (tmp_path / "start").mkdir()
    begin(kind, root_url(kind, tmp_path / "start"), "work")
    with start(WRITER, root_url(kind, tmp_path / "start")) as writer:
        root = writer.communicate(timeout=60)[0].strip()
    for step in STEPS:
        url = root_url(kind, tmp_path / str(step))
        copytree(tmp_path / "start", tmp_path / str(step))
        with start(CHILD, url, action, step) as child:
            finished = child.communicate(timeout=60)[0] == "done\n"
        there = memories(url)
        assert there in (["work"], ["office"] if action == "rename" else [])
        for name in there:
            with Engine.open(url, memory=name, create=False) as memory:
                assert memory.root().root == root
                assert memory.verify().ok
        assert not finished or there == (["office"] if action == "rename" else [])
        assert create(url, "work") == ("work" not in there)
        delete(url, "work")
        if kind != "file":
            assert not list((tmp_path / str(step) / "memories").glob("*.new-*"))
        if finished:
            break
    assert finished, "the change has more steps than were tried"
