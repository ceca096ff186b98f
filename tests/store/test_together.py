"""Followers are updated in a thread of their own while a bulk add commits further events."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from engine import Add, Engine
from engine.base import limits
from engine.store.bulk import Alongside

pytestmark = pytest.mark.slow


def test_the_block_ends_after_the_work() -> None:
    """No work is left running when the block ends, also if the block raises an error."""
    may_end, ended = threading.Event(), []

    def work() -> None:
        may_end.wait(10)
        ended.append(True)

    def fail() -> None:
        with Alongside(work) as alongside:
            alongside.begin()
            threading.Timer(0.02, may_end.set).start()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert ended == [True]


def test_work_is_never_done_twice_at_once() -> None:
    """Beginning the work again waits until it has ended."""
    running: list[None] = []
    most: list[int] = []

    def work() -> None:
        running.append(None)
        most.append(len(running))
        running.pop()

    with Alongside(work) as alongside:
        for _ in range(50):
            alongside.begin()
        alongside.wait()
    assert most == [1] * 50


def test_an_error_of_the_work_is_raised_once() -> None:
    """The error is raised by the next call, and only by that."""

    def work() -> None:
        raise ZeroDivisionError

    with Alongside(work) as alongside:
        alongside.begin()
        with pytest.raises(ZeroDivisionError):
            alongside.wait()
        alongside.wait()
        alongside.begin()
        with pytest.raises(ZeroDivisionError):
            alongside.begin()


def test_threads_switch_as_before_afterwards() -> None:
    """Threads take turns more often only while there is work."""
    before, during = sys.getswitchinterval(), []
    with Alongside(lambda: during.append(sys.getswitchinterval())) as alongside:
        assert sys.getswitchinterval() == before
        alongside.begin()
    assert during[0] < before == sys.getswitchinterval()


@pytest.mark.parametrize("url", ["memory:", "leveldb:s", "sqlite:s"])
def test_a_bulk_add_that_is_read_meanwhile_has_the_rows_of_a_replay(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads during a bulk add see what was added so far; at the end every row follows from the journal."""
    monkeypatch.chdir(str(tmp_path))
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 512)
    with Engine.open(url) as engine:
        added = engine.apply_many(
            Add(f"text {number} of many", tags=[f"t{number % 7}"]) for number in range(4000)
        )
        for number, receipt in enumerate(added):
            if number % 1009 == 500:
                assert receipt.id in {hit.id for hit in engine.recall(f"text {number}").hits}
        report = engine.verify()
        assert report.ok
        assert report.root == engine.root().root


def test_a_bulk_add_may_be_left_unfinished(tmp_path: Path) -> None:
    """What was acknowledged is stored if the caller stops reading and closes the memory."""
    with Engine.open(f"leveldb:{tmp_path}/s") as engine:
        added = engine.apply_many(Add(f"text {number}") for number in range(20_000))
        kept = [next(added).id for _ in range(9_000)]
    with Engine.open(f"leveldb:{tmp_path}/s") as engine:
        assert all(engine.get(atom) is not None for atom in kept)
        assert engine.verify().ok
    del added
