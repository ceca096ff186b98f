"""What another process does between deciding and writing: the write must not rest on what is gone."""

from __future__ import annotations

from collections.abc import Callable

from backends.base import Batch, Guards
from backends.memory import MemoryBackend
from engine import Engine
from engine.followers.base import drop
from engine.followers.records import Records
from engine.layout import RECORD_PREFIXES
from engine.store import projections


class Interrupted(MemoryBackend):
    """A backend on which something happens right before the next write."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Callable[[], None] | None = None

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Let it happen, then write."""
        happening, self.first = self.first, None
        if happening is not None:
            happening()
        super().write(batch, guard=guard, durable=durable)

    def sweep_records(self) -> None:
        """What a rebuild elsewhere does first: all cursors go, then the records."""
        drop(self, projections())
        batch = Batch()
        for prefix in RECORD_PREFIXES:
            for key, _ in self.scan_prefix(prefix):
                batch.delete(key)
        self.write(batch)


def test_a_commit_does_not_rest_on_records_that_a_rebuild_has_swept_away() -> None:
    """The command is decided again once the records are whole, and everything verifies."""
    backend = Interrupted()
    with Engine(backend) as memory:
        known = memory.add("known", tags=["one"]).subject
        backend.first = backend.sweep_records
        assert memory.tag(known, "two").changed
        assert memory.get(known).tags == ("one", "two")
        assert not memory.add("known", tags=["one"]).changed
        assert memory.verify().ok


def _add(memory: Engine) -> None:
    memory.add("the same")


def test_a_commit_is_decided_again_when_the_head_has_moved() -> None:
    """An atom that somebody else has just added is not added twice."""
    backend = Interrupted()
    with Engine(backend) as memory, Engine(backend) as other:
        backend.first = lambda: _add(other)
        assert not memory.add("the same").changed
        assert [item.kind.name for item in memory.log()] == ["GENESIS", "ATOM_ADDED"]


def test_records_left_behind_are_finished_before_the_next_command() -> None:
    """A store whose rebuild was killed after sweeping answers from whole records."""
    backend = Interrupted()
    known = Engine(backend).add("known").subject
    backend.sweep_records()
    with Engine(backend) as memory:
        assert memory.get(known).content == "known"
        assert memory.status().followers[Records.name] == 2
