"""Several processes on one SQLite store: no command is lost, and the journal verifies."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from backends.base import Batch, Guards
from backends.errors import GuardFailed
from backends.memory import MemoryBackend
from engine import Add, Engine
from engine.base.errors import RefusedError
from tests.support.children import run_at_once

WRITER = """
import sys
from engine import Engine

with Engine.open(sys.argv[1], actor=f"writer{sys.argv[2]}") as memory:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(40):
        memory.add(f"note {number} of writer {sys.argv[2]}", tags=["shared"])
        if number % 10 == 0:
            memory.recall("note")
"""


def test_three_writers_lose_nothing(tmp_path: Path) -> None:
    """A hundred and twenty additions by three processes are all in the store, which verifies."""
    url = f"sqlite:{tmp_path / 'store'}"
    with Engine.open(url):
        pass
    run_at_once(WRITER, *((url, number) for number in range(3)))
    with Engine.open(url, create=False) as memory:
        assert len(memory.find(limit=1000)) == 120
        assert {item.actor for item in memory.log()} == {"engine", "writer0", "writer1", "writer2"}
        assert memory.verify().ok


def test_what_another_handle_erased_is_refused(tmp_path: Path) -> None:
    """A handle that knows that nothing was erased looks again after another handle has written."""
    url = f"sqlite:{tmp_path / 'store'}"
    with Engine.open(url) as memory, Engine.open(url) as other:
        secret = memory.add("a secret", source="one").id
        memory.add("a text")
        other.erase(secret, "asked")
        with pytest.raises(RefusedError):
            memory.apply([Add("a secret", source="two")])


class Contended(MemoryBackend):
    """A backend on which another process is always faster, except during exclusive access."""

    def __init__(self) -> None:
        super().__init__()
        self.contended = False
        self.alone = False
        self.lost = 0

    def exclusive(self) -> AbstractContextManager[None]:
        """Stop the interference."""
        self.alone = True
        return super().exclusive()

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Fail the guard, except during exclusive access."""
        if self.contended and guard is not None and not self.alone:
            self.lost += 1
            raise GuardFailed("somebody else was faster")
        super().write(batch, guard=guard, durable=durable)


def test_after_three_losses_a_writer_makes_the_others_wait() -> None:
    """A command is decided again three times; then it takes the writer lock and succeeds."""
    backend = Contended()
    with Engine(backend) as memory:
        backend.contended = True
        assert memory.add("patience").changed
        assert backend.lost == 3
