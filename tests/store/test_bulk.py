"""Bulk work: any number of commands in batches, with followers that catch up on the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.memory import MemoryBackend
from engine.base import limits
from engine.base.errors import LimitError, NotFoundError
from engine.base.model import Receipt
from engine.commands import Add, Command, Tag
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.store.bulk import COMMIT_CHUNK, Alongside
from tests.support.engines import BEGIN, backend_of, engine_on, fresh_rows, refuses
from tests.support.faults import FaultBackend
from tests.support.workloads import commands, id_of


def test_bulk_is_the_same_as_one_by_one() -> None:
    """`apply_many` gives the same receipts, root and rows as applying each command alone."""
    made = commands(400, seed=21)
    bulk, plain = (engine_on(clock=lambda: BEGIN) for _ in range(2))
    assert list(bulk.apply_many(iter(made))) == [plain.apply([command])[0] for command in made]
    plain.catch_up()
    assert dict(backend_of(bulk).scan()) == dict(backend_of(plain).scan())


def test_the_followers_come_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """During bulk work followers build large segments only; the final rows are those of a single catch-up."""
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 200)
    monkeypatch.setattr("engine.store.bulk.COMMIT_CHUNK", 90)
    monkeypatch.setattr("engine.index.index_follower.BULK_DOCUMENTS", 512)
    engine = engine_on()
    made = [Add(f"text {number} of many", id=id_of(number), tags=["red"]) for number in range(1500)]
    assert sum(receipt.changed for receipt in engine.apply_many(made)) == 1500
    rows = dict(backend_of(engine).scan())
    monkeypatch.undo()
    assert rows == fresh_rows(backend_of(engine))


def test_receipts_come_when_their_batch_is_durable() -> None:
    """A receipt is yielded when its event is in the journal, before the next batch is read."""
    backend = FaultBackend(MemoryBackend())
    engine = engine_on(backend)
    taken = 0

    def endless() -> Iterator[Command]:
        nonlocal taken
        while True:
            taken += 1
            yield Add(f"text {taken}")

    receipts = engine.apply_many(endless())
    first = next(receipts)
    assert taken == COMMIT_CHUNK
    assert engine.was_kept(first.events[0].seq, first.events[0].event_id)
    assert read_log(backend).size == 1 + COMMIT_CHUNK


def test_a_command_that_fails_keeps_the_batches_before_it() -> None:
    """A batch with a failing command is not written at all; the batches before it stay."""
    engine = engine_on()
    made: list[Command] = [Add(f"text {number}") for number in range(COMMIT_CHUNK + 5)]
    with pytest.raises(NotFoundError):
        list(engine.apply_many([*made, Tag(id_of(99), ["red"])]))
    assert read_log(backend_of(engine)).size == 1 + COMMIT_CHUNK


def test_receipts_of_a_half_are_out_before_the_other_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every durable event has its receipt, even if a later part of a halved batch fails."""
    monkeypatch.setattr(limits, "BATCH_BYTES_MAX", 5000)
    engine = engine_on()
    made: list[Command] = [Add("x" * 1000 + str(number)) for number in range(7)]
    receipts: list[Receipt] = []
    with pytest.raises(NotFoundError):
        receipts.extend(engine.apply_many([*made, Tag(id_of(99), ["red"])]))
    assert receipts
    assert read_log(backend_of(engine)).size == 1 + len(receipts)


def test_a_batch_too_large_in_bytes_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that are too large for one batch are split; a single command that is too large is refused."""
    monkeypatch.setattr(limits, "BATCH_BYTES_MAX", 5000)
    engine = engine_on()
    made = [Add("x" * 1000 + str(number)) for number in range(20)]
    assert len(list(engine.apply_many(made))) == 20
    assert read_log(backend_of(engine)).size == 21
    assert refuses(engine, LimitError, lambda: list(engine.apply_many([Add("x" * 6000)])))


def test_nothing_to_do_is_no_event() -> None:
    """No commands, or commands without effect, append no event."""
    engine = engine_on()
    list(engine.apply_many(commands(30)))
    size = read_log(backend_of(engine)).size
    assert list(engine.apply_many([])) == []
    assert engine.apply([]) == []
    assert not any(receipt.changed for receipt in engine.apply_many(commands(30)[:2]))
    assert read_log(backend_of(engine)).size == size


@pytest.mark.parametrize("shared", [True, False])
def test_a_store_that_others_write_is_followed_by_the_calling_thread(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shared: bool
) -> None:
    """Another thread would wait for the lock of this thread, and this thread for the other."""
    begun = []
    begin = Alongside.begin

    def noted(self: Alongside) -> None:
        begun.append(self)
        begin(self)

    monkeypatch.setattr(Alongside, "begin", noted)
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 20)
    monkeypatch.setattr("engine.store.bulk.COMMIT_CHUNK", 10)
    engine = Engine.open(f"sqlite:{tmp_path / 'store.db'}" if shared else "memory:")
    assert engine.store.backend.capabilities.multi_process == shared
    list(engine.apply_many(Add(f"text {number}") for number in range(40)))
    assert bool(begun) != shared
    engine.close()
