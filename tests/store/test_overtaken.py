"""Changes by other processes between deciding and writing do not corrupt the write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from backends.base import Batch, Guards, Snapshot
from backends.memory import MemoryBackend
from engine import Engine, EngineError, copy
from engine.base import limits
from engine.followers.base import drop
from engine.followers.records import Records
from engine.ledger.layout import RECORD_PREFIXES
from engine.store.views import projections


class Interrupted(MemoryBackend):
    """A backend on which a callback runs directly before the next write."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Callable[[], None] | None = None

    def write(self, batch: Batch, *, guard: Guards = None, durable: bool = True) -> None:
        """Run the callback, then write."""
        happening, self.first = self.first, None
        if happening is not None:
            happening()
        super().write(batch, guard=guard, durable=durable)

    def sweep_records(self) -> None:
        """Mark all cursors as void and delete the records, as a rebuild in another process begins."""
        drop(self, projections())
        batch = Batch()
        for prefix in RECORD_PREFIXES:
            for key, _ in self.scan_prefix(prefix):
                batch.delete(key)
        self.write(batch)


def test_a_commit_does_not_rest_on_records_that_a_rebuild_has_swept_away() -> None:
    """The command is decided again once the records are complete, and the store verifies."""
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
    """An atom that another process has just added is not added twice."""
    backend = Interrupted()
    with Engine(backend) as memory, Engine(backend) as other:
        backend.first = lambda: _add(other)
        assert not memory.add("the same").changed
        assert [item.kind.name for item in memory.log()] == ["GENESIS", "ATOM_ADDED"]


def test_records_left_behind_are_finished_before_the_next_command() -> None:
    """A store whose rebuild was killed answers from complete records."""
    backend = Interrupted()
    known = Engine(backend).add("known").subject
    backend.sweep_records()
    with Engine(backend) as memory:
        assert memory.get(known).content == "known"
        assert memory.status().followers[Records.name] == 2


class Copying(Interrupted):
    """A target on which another process acts directly before the n-th snapshot, in the middle of a copy."""

    def __init__(self, acts: Callable[[Copying], None], at: int) -> None:
        super().__init__()
        self.acts, self.at = acts, at
        self.active = False

    def snapshot(self) -> Snapshot:
        """Run the callback, then take the snapshot."""
        if self.active:
            self.at -= 1
            if not self.at:
                self.active = False
                self.acts(self)
        return super().snapshot()


def _foreign_add(target: Copying) -> None:
    Engine(target).add("somebody else's")


@pytest.mark.parametrize("at", range(1, 9))
@pytest.mark.parametrize("acts", [_foreign_add, Interrupted.sweep_records], ids=["add", "rebuild"])
def test_a_copy_that_somebody_disturbs_overwrites_nothing(
    acts: Callable[[Copying], None], at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever another process does to the target during a copy, its journal stays complete and verifies."""
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 8)
    source = MemoryBackend()
    memory = Engine(source)
    for number in range(12):
        memory.add(f"text {number}")
    target = Copying(acts, at)
    copy(source, target)
    for number in range(12, 40):
        memory.add(f"text {number}")
    target.active = True
    with suppress(EngineError):
        copy(source, target)
    with Engine(target) as copied:
        copied.root()
        assert copied.verify().ok
        added = [item for item in copied.log() if item.detail.get("content") == "somebody else's"]
        assert len(added) == (acts is _foreign_add and not target.active)
