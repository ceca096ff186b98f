"""Commands of several threads in one batch: what each thread gets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from backends.errors import BackendEnvironment
from engine import Engine
from engine.base.errors import ConflictError, InDoubtError, NotFoundError
from engine.store.commit import TOGETHER_MAX, GroupCommit


class Batches:
    """A writer of batches whose first batch waits until `go` is called."""

    def __init__(self, fails: Callable[[list[Any]], BaseException | None] = lambda batch: None) -> None:
        self.seen: list[tuple[list[Any], str]] = []
        self.group = GroupCommit()
        self._fails = fails
        self._begun = threading.Event()
        self._go = threading.Event()

    def write(self, commands: Sequence[Any], actor: str) -> list[Any]:
        """Return a receipt for each command, or raise what `fails` returns for the batch."""
        self.seen.append((list(commands), actor))
        self._begun.set()
        assert self._go.wait(30)
        problem = self._fails(list(commands))
        if problem is not None:
            raise problem
        return [f"receipt of {command}" for command in commands]

    def together(self, commands: Sequence[tuple[Any, str]]) -> list[Future[Any]]:
        """Commit the first command, and all others while the first is being written."""
        pool = ThreadPoolExecutor(len(commands))
        with pool:
            found = [pool.submit(self.group.commit, commands[0][0], commands[0][1], self.write)]
            assert self._begun.wait(30)
            for number, (command, actor) in enumerate(commands[1:], 1):
                found.append(pool.submit(self.group.commit, command, actor, self.write))
                while len(self.group._waiting) < number:
                    time.sleep(0.001)
            self._go.set()
        return found


def test_commands_that_wait_are_written_in_one_batch() -> None:
    """While one batch is written, the next gathers; each thread gets its own receipt."""
    batches = Batches()
    found = batches.together([(number, "ada") for number in range(6)])
    assert [one.result() for one in found] == [f"receipt of {number}" for number in range(6)]
    assert [sorted(commands) for commands, _ in batches.seen] == [[0], [1, 2, 3, 4, 5]]


def test_a_batch_has_one_actor_and_a_bounded_number_of_commands() -> None:
    """Commands of others and surplus commands wait for the next batch, and none is lost."""
    batches = Batches()
    asked = [(number, "ada" if number % 2 else "bob") for number in range(2 * TOGETHER_MAX + 9)]
    found = batches.together(asked)
    assert [one.result() for one in found] == [f"receipt of {command}" for command, _ in asked]
    for commands, actor in batches.seen:
        assert 0 < len(commands) <= TOGETHER_MAX
        assert all((command, actor) in asked for command in commands)


def test_a_refused_command_does_not_harm_the_others() -> None:
    """If a batch is refused, each command is committed by itself, and only the refused one fails."""
    batches = Batches(lambda batch: ConflictError("no 3") if 3 in batch else None)
    found = batches.together([(number, "ada") for number in range(6)])
    assert [str(one.exception()) for one in found if one.exception()] == ["no 3"]
    assert [one.result() for one in found if not one.exception()] == [
        f"receipt of {number}" for number in (0, 1, 2, 4, 5)
    ]


def test_a_batch_that_the_backend_did_not_write_is_written_one_by_one() -> None:
    """If the disk is full, for instance, each thread learns it from a write of its own command."""
    full = BackendEnvironment("the disk is full")
    batches = Batches(lambda batch: full if len(batch) > 1 or batch == [3] else None)
    found = batches.together([(number, "ada") for number in range(6)])
    assert [one.exception() for one in found if one.exception()] == [full]
    assert sorted(one.result() for one in found if not one.exception()) == [
        f"receipt of {number}" for number in (0, 1, 2, 4, 5)
    ]


@pytest.mark.parametrize("problem", [InDoubtError("perhaps", seq=7, event_id="e"), KeyboardInterrupt()])
def test_a_batch_in_doubt_is_never_written_again(problem: BaseException) -> None:
    """If it is unknown whether a batch was stored, each thread gets an error. No thread repeats it."""
    batches = Batches(lambda batch: problem if len(batch) > 1 else None)
    found = batches.together([(number, "ada") for number in range(6)])
    assert len(batches.seen) == 2
    errors = [one.exception() for one in found[1:]]
    assert sum(error is problem for error in errors) == 1
    for error in errors:
        assert error is problem or isinstance(error, InDoubtError)
        if isinstance(problem, InDoubtError) and isinstance(error, InDoubtError):
            assert (error.seq, error.event_id) == (7, "e")


def test_threads_of_one_memory_get_what_they_would_get_alone(tmp_path: object) -> None:
    """Adds of many threads are all recorded once; commands that fail do so in their own thread."""
    with Engine.open(f"sqlite://{tmp_path}/memory.db", actor="ada") as memory, ThreadPoolExecutor(8) as pool:

        def one(number: int) -> str:
            if number % 5 == 0:
                with pytest.raises(NotFoundError):
                    memory.tombstone(f"00000000-0000-8000-8000-{number:012}")
                return ""
            return memory.add(f"Text {number} about tea.", source=f"{number}").id

        found = [id_ for id_ in pool.map(one, range(60)) if id_]
        assert len(set(found)) == len(found) == 48
        assert memory.status().live_atoms == 48
        assert [memory.get(id_).source for id_ in found] == [str(n) for n in range(60) if n % 5]
        assert memory.verify().ok
