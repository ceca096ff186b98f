"""Past states that are kept between queries."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import Backend, Reader
from backends.errors import BackendClosed
from engine.base.errors import RefusedError
from engine.engine import Engine
from engine.ledger.journal import read_log
from engine.store import past_states as module
from engine.store.past import memory_bytes
from engine.store.past_states import KEPT_MAX, PastStates
from engine.store.replay import replay
from tests.support.engines import engine_on
from tests.support.workloads import commands, id_of

pytestmark = pytest.mark.slow

SECRET = "The vault opens at midnight."  # noqa: S105  a text of a memory


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def states(clock: Clock) -> Iterator[PastStates]:
    """The kept states."""
    made = PastStates(clock=clock)
    yield made
    made.close()


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The replays from here on: the events that the state had, and those that it has then."""
    found: list[tuple[int, int]] = []

    def counted(source: Reader, target: Backend, stop: int, *, head: bytes | None) -> None:
        found.append((read_log(target).size, stop))
        replay(source, target, stop, head=head)

    monkeypatch.setattr(module, "replay", counted)
    return found


def opened(states: PastStates, url: str = "memory:", memory: str = "notes") -> Engine:
    """Open a store whose past states are kept."""
    engine = Engine.open(url)
    engine.store.past_states = states.of(memory)
    return engine


def filled(states: PastStates, count: int = 9) -> Engine:
    """A store in memory with some atoms, whose past states are kept."""
    engine = opened(states)
    for number in range(1, count + 1):
        engine.add(f"Text {number}.", id=id_of(number))
    return engine


def contents(engine: Engine, moment: int) -> list[str | None]:
    """Return the texts of a moment."""
    with engine.as_of(moment) as past:
        return [past.get(found.id).content for found in past.find()]


def test_a_text_that_another_process_erased_is_not_served(tmp_path: Path, states: PastStates) -> None:
    """A kept state is not used after an erasure, whoever erased."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    with opened(states, url) as engine, Engine.open(url) as other:
        engine.add("Tea.", id=id_of(1))
        engine.add(SECRET, id=id_of(2))
        assert contents(engine, 2) == ["Tea.", SECRET]
        other.erase(id_of(2), "asked for")
        assert contents(engine, 2) == ["Tea."]
        assert engine.recall("vault midnight", as_of=2).hits == ()


def test_an_erasure_empties_the_kept_states_at_once(states: PastStates) -> None:
    """Not only when the next query asks."""
    engine = filled(states)
    contents(engine, 5)
    assert len(states) == 1
    engine.erase(id_of(9), "asked for")
    assert len(states) == 0


def test_a_state_that_is_being_used_during_an_erasure_serves_nobody_else(states: PastStates) -> None:
    """It is deleted when its user leaves."""
    engine = filled(states)
    with engine.as_of(5) as before:
        engine.erase(id_of(2), "asked for")
        assert "Text 2." not in contents(engine, 5)
        assert before.store.backend.get(b"meta/log")
    assert [state.users for state in states._states.values()] == [0]


def test_the_roots_of_a_kept_moment_are_refused_if_a_text_was_erased_later(states: PastStates) -> None:
    """Going forward beyond the erasure, there are roots again."""
    engine = filled(states)
    engine.erase(id_of(2), "asked for")
    with pytest.raises(RefusedError, match="event 10 erased content"):
        engine.root(as_of=3)
    assert engine.root(as_of=10).size == 11


def test_a_query_that_waits_for_a_state_does_not_use_it_after_an_erasure(
    states: PastStates, replays: list[tuple[int, int]]
) -> None:
    """The state was dropped while it waited, so it replays its own."""
    engine = filled(states)
    contents(engine, 5)
    (state,) = states._states.values()
    answers: list[Any] = []
    waiting = threading.Thread(target=lambda: answers.append(contents(engine, 5)))
    with state.lock:
        waiting.start()
        while not state.users:
            time.sleep(0.001)
        states.forget("notes")
    waiting.join()
    assert replays == [(0, 6)] * 2
    assert [len(answer) for answer in answers] == [5]
    with pytest.raises(BackendClosed):
        state.backend.get(b"")  # type: ignore[union-attr]  # it was replayed


def test_a_copy_of_a_store_is_not_answered_from_the_states_of_the_original(
    tmp_path: Path, states: PastStates
) -> None:
    """Even under the name of the original, and if the copy erased a text before the original was asked."""
    original, copy = tmp_path / "original.db", tmp_path / "copy.db"
    with Engine.open(f"sqlite:{original}") as engine:
        engine.add(SECRET, id=id_of(1))
    shutil.copy(original, copy)
    with Engine.open(f"sqlite:{copy}") as engine:
        engine.erase(id_of(1), "asked for")
    with opened(states, f"sqlite:{original}") as engine:
        for number in range(2, 9):
            engine.add(f"Text {number}.", id=id_of(number))
        assert contents(engine, 1) == [SECRET]
    with opened(states, f"sqlite:{copy}") as engine:
        assert contents(engine, 1) == []


def test_memories_do_not_share_states(states: PastStates, replays: list[tuple[int, int]]) -> None:
    """A moment of one memory is not the moment of another, and each is dropped alone."""
    one, two = opened(states, memory="one"), opened(states, memory="two")
    one.add("One.")
    two.add("Two.")
    assert (contents(one, 1), contents(two, 1)) == (["One."], ["Two."])
    states.forget("one")
    assert (contents(two, 1), contents(one, 1)) == (["Two."], ["One."])
    assert replays == [(0, 2)] * 3


def test_a_moment_is_replayed_once(states: PastStates, replays: list[tuple[int, int]]) -> None:
    """For queries and proofs alike, also after later events."""
    engine = filled(states)
    contents(engine, 5)
    engine.add("Later.")
    engine.recall("text", as_of=5)
    engine.prove([["event", "2", "sealed"]], as_of=5)
    assert engine.root(as_of=5).size == 6
    assert replays == [(0, 6)]


def test_going_forward_replays_only_the_events_between(
    states: PastStates, replays: list[tuple[int, int]]
) -> None:
    """Going back replays from the beginning, and both moments are then kept."""
    engine = filled(states)
    for moment in (3, 7, 3, 7, 3):
        assert len(contents(engine, moment)) == moment
    assert replays == [(0, 4), (4, 8), (0, 4)]


@given(st.integers(0, 10_000), st.lists(st.integers(0, 29), min_size=2, max_size=6))
def test_a_kept_state_answers_as_one_replayed_from_the_beginning(seed: int, moments: list[int]) -> None:
    """The roots of all moments, in any order, are those of the memory without kept states."""
    engine, states = engine_on(), PastStates()
    for command in commands(20, seed):
        engine.apply([command])
    expected = [engine.root(as_of=moment % engine.size) for moment in moments]
    engine.store.past_states = states.of("notes")
    found = []
    for moment in moments:
        engine.recall("kettle", as_of=moment % engine.size)
        found.append(engine.root(as_of=moment % engine.size))
    assert found == expected
    states.close()


def test_threads_that_ask_for_one_moment_wait_for_one_replay(
    states: PastStates, replays: list[tuple[int, int]]
) -> None:
    """All of them get the same answer."""
    engine = filled(states)
    answers: list[Any] = []
    threads = [threading.Thread(target=lambda: answers.append(contents(engine, 5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [contents(engine, 5)] * 8
    assert replays == [(0, 6)]


def test_the_number_of_states_is_bounded(states: PastStates) -> None:
    """The state that was used longest ago is dropped first."""
    engine = filled(states)
    for moment in range(9, 0, -1):
        contents(engine, moment)
        assert len(states) <= KEPT_MAX
    assert [size for _, size in states._states] == [5, 4, 3, 2]


def test_the_bytes_of_the_states_are_bounded(states: PastStates, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two states whose payloads together are too large are not both kept."""
    engine = filled(states)
    monkeypatch.setattr(module, "KEPT_BYTES_MAX", memory_bytes(engine.store.backend, 8))
    contents(engine, 7)
    contents(engine, 6)
    assert [size for _, size in states._states] == [7]


def test_a_state_is_dropped_when_it_was_not_used_for_a_time(states: PastStates, clock: Clock) -> None:
    """The time since its last use counts."""
    engine = filled(states)
    contents(engine, 7)
    clock.now = 50
    contents(engine, 5)
    clock.now = 61
    states.drop_unused()
    assert [size for _, size in states._states] == [6]
    clock.now = 111
    states.drop_unused()
    assert len(states) == 0


def test_a_state_that_is_too_large_for_memory_is_in_a_folder_that_is_deleted(
    states: PastStates, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also if a smaller state grows into it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("engine.store.past.MEMORY_EVENTS_MAX", 6)
    engine = filled(states)
    contents(engine, 5)
    assert list(tmp_path.iterdir()) == []
    assert len(contents(engine, 7)) == 7
    assert len(list(tmp_path.iterdir())) == 1
    assert len(contents(engine, 8)) == 8
    assert len(list(tmp_path.iterdir())) == len(states) == 1
    states.close()
    assert list(tmp_path.iterdir()) == []


def test_a_replay_that_fails_leaves_no_state(states: PastStates, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next query replays again."""
    engine = filled(states)
    with monkeypatch.context() as broken:
        broken.setattr(module, "replay", lambda *args, **options: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            contents(engine, 5)
    assert len(states) == 0
    assert len(contents(engine, 5)) == 5
