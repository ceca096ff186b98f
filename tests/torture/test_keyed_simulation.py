"""Several processes send calls with the same keys; whatever fails, each call is made once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent import futures
from typing import Any, Final

import pytest

from engine import Engine, Receipt
from engine.base.errors import EngineError, InDoubtError, VerificationError
from engine.commands import Add
from engine.ledger.journal import read_entries, read_log
from engine.trust.audit.verify import verify
from tests.support.soak import times
from tests.support.workloads import id_of
from tests.torture import simulation
from tests.torture.simulation import InTurn, Process, World

Call = Callable[[Engine], Any]

CALLS: Final[list[Call]] = [
    lambda memory: memory.add("first", id=id_of(1)),
    lambda memory: memory.add("second", id=id_of(2)),
    lambda memory: memory.revise(id_of(1), "first, revised"),
    lambda memory: memory.tombstone(id_of(1)),
    lambda memory: memory.revive(id_of(1)),
    lambda memory: memory.tag(id_of(2), "red"),
    lambda memory: memory.untag(id_of(2), "red"),
    lambda memory: memory.relate("a", "uses", "b"),
    lambda memory: memory.unrelate("a", "uses", "b"),
    lambda memory: memory.checkpoint(),
    lambda memory: memory.add("a text that is held", once=True),
    lambda memory: list(memory.apply_many([Add(f"line {number}") for number in range(9)])),
]
"""The calls. Each undoes what another one does, so that a call that is made twice is seen."""


class Sender(Process):
    """A process that sends calls of all processes again and again."""

    def __init__(self, world: World, name: int) -> None:
        super().__init__(world, name)
        self.told: list[tuple[int, Any]] = []
        """The numbers of calls that appended events, each with what it returned."""

    def _act(self, engine: Engine) -> None:
        number = self.world.chosen.randrange(len(CALLS))
        try:
            told = CALLS[number](engine.acting_as("ann", request=f"call {number}"))
        except (InDoubtError, VerificationError):
            raise
        except EngineError as error:
            self.world.counts[f"refused: {error.code}"] += 1
            return
        receipts = told if isinstance(told, list) else [told]
        if any(isinstance(one, Receipt) and one.events for one in receipts):
            self.told.append((number, told))


def simulated(seed: int) -> World:
    """Return the world after one history."""
    world = World(seed)
    world.run(3)
    return world


def test_each_call_is_made_once_whatever_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """All processes get the same receipts for a call, and the journal has no other events with its key."""
    monkeypatch.setattr(simulation, "Process", Sender)
    monkeypatch.setattr(futures, "ThreadPoolExecutor", InTurn)
    monkeypatch.setattr("engine.store.bulk.COMMIT_CHUNK", 3)
    total: Counter[str] = Counter()
    for seed in range(times(10)):
        world = simulated(seed)
        disk = world.disk
        assert not {name: world.counts[name] for name in simulation.FAILURES if world.counts[name]}, seed
        recorded: dict[str, list[int]] = {}
        for header, body, _ in read_entries(disk, 0, read_log(disk).size):
            if body is not None and body.request is not None:
                recorded.setdefault(body.request.partition("#")[0], []).append(header.seq)
        answers: dict[int, Any] = {}
        for process in world.processes:
            assert isinstance(process, Sender)
            for number, told in process.told:
                assert answers.setdefault(number, told) == told, (seed, number)
                total["answers"] += 1
        for number, told in answers.items():
            receipts = told if isinstance(told, list) else [told]
            seqs = [event.seq for one in receipts for event in one.events]
            assert recorded[f"call {number}"] == seqs, (seed, number)
        assert verify(disk).ok
        total += world.counts
    assert total["faults"] > 10
    assert total["answers"] > 50
