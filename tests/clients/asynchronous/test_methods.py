"""The methods of `AsyncEngine` under both event loops: what they return, and how they end."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from threading import current_thread
from types import ModuleType
from typing import Any

import pytest

from engine import Add, AsyncEngine, ClosedError, ConflictError, Engine, InvalidInputError, NotFoundError
from engine.clients.asynchronous.async_engine import LOG_PART
from tests.clients.asynchronous.support import Gate, gated, run_in_asyncio, run_in_trio

Run = Callable[[Callable[[], Awaitable[Any]]], Any]


@pytest.fixture(params=[run_in_asyncio, run_in_trio])
def run(request: pytest.FixtureRequest) -> Run:
    """The event loops, one after the other."""
    loop: Run = request.param
    return loop


def test_it_answers_as_the_memory_that_it_wraps(run: Run) -> None:
    """Commands and queries give what the synchronous methods give."""

    async def main() -> None:
        with Engine.open("memory:", actor="ana") as engine:
            memory = AsyncEngine(engine)
            receipt = await memory.add("The kettle is descaled with vinegar.", tags=["kitchen"])
            assert await memory.get(receipt.id) == engine.get(receipt.id)
            assert [hit.id for hit in (await memory.recall("kettle")).hits] == [receipt.id]
            assert (await memory.root(), await memory.size()) == (engine.root(), 2)
            assert (memory.actor, memory.behind, memory.read_only) == ("ana", None, None)
            await memory.close()

    run(main)


def test_a_memory_is_opened_in_three_ways(run: Run, tmp_path: Path) -> None:
    """`async with`, `async with await` and `await` open a memory; each way closes it again."""
    url = f"leveldb:{tmp_path / 'store'}"

    async def main() -> int:
        async with AsyncEngine.open(url) as memory:
            await memory.add("one")
        async with await AsyncEngine.open(url) as memory:
            await memory.add("two")
        memory = await AsyncEngine.open(url, threads=2)
        await memory.add("three")
        await memory.close()
        with Engine.open(url) as engine:
            return engine.size

    assert run(main) == 4


def test_a_memory_that_cannot_be_opened_is_an_error(run: Run, tmp_path: Path) -> None:
    """Errors of opening reach the caller, and no thread stays."""

    async def main() -> None:
        with pytest.raises(NotFoundError):
            await AsyncEngine.open(f"sqlite:{tmp_path / 'none.db'}", create=False)
        with pytest.raises(InvalidInputError):
            AsyncEngine.open("memory:", threads=0)

    run(main)


def test_errors_reach_the_caller(run: Run) -> None:
    """An error of the memory is raised where the call is awaited."""

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            with pytest.raises(ConflictError, match="if_head"):
                await memory.apply([Add("one")], if_head=7)

    run(main)


def test_a_closed_memory_refuses_calls(run: Run) -> None:
    """After `close`, every call is a ClosedError; closing again has no effect."""

    async def main() -> None:
        memory = await AsyncEngine.open("memory:")
        events = memory.log()
        await anext(events)
        await memory.close()
        await memory.close()
        for call in (memory.size, memory.root, memory.tags, lambda: memory.add("late")):
            with pytest.raises(ClosedError):
                await call()
        await events.aclose()

    run(main)


def test_the_journal_is_read_in_parts(run: Run) -> None:
    """`log` yields every event once and in order, beyond the length of one part."""

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            await memory.apply([Add(f"text {number}") for number in range(LOG_PART + 3)])
            events = [event async for event in memory.log(1)]
            assert [event.seq for event in events] == list(range(1, LOG_PART + 4))
            async with aclosing(memory.log()) as rest:
                assert (await anext(rest)).seq == 0
            assert [event async for event in rest] == []

    run(main)


def test_many_commands_are_carried_out_in_batches(run: Run) -> None:
    """`apply_many` yields the receipts, does nothing before it is read, and verifies."""

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            receipts = memory.apply_many(Add(f"text {number}") for number in range(1200))
            assert await memory.size() == 1
            texts = [receipt.events[0].seq async for receipt in receipts]
            assert texts == list(range(1, 1201))
            assert (await memory.verify()).ok

    run(main)


def test_receipts_before_an_error_are_returned_first(run: Run) -> None:
    """If a later batch of `apply_many` fails, the receipts of the batches before it come first."""

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            wrong: Any = "no command"
            receipts = memory.apply_many([*(Add(f"text {number}") for number in range(1000)), wrong])
            for _ in range(1000):
                assert (await anext(receipts)).changed
            with pytest.raises(InvalidInputError):
                await anext(receipts)
            assert await memory.size() == 1001

    run(main)


def test_the_past_is_a_memory_of_its_own(run: Run) -> None:
    """`as_of` gives a memory of that moment, which is closed when the block ends; the present goes on."""

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            first = await memory.add("one")
            await memory.revise(first.id, "two")
            async with memory.as_of(1) as past:
                assert ((await past.get(first.id)).content, await past.size()) == ("one", 2)
            with pytest.raises(ClosedError):
                await past.size()
            assert (await memory.get(first.id)).content == "two"
            with pytest.raises(NotFoundError):
                async with memory.as_of(99):
                    raise AssertionError

    run(main)


def test_another_author_shares_the_memory(run: Run) -> None:
    """`acting_as` gives the same memory with another author; closing it does not close the memory."""

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            other = memory.acting_as("ben")
            await other.add("one")
            assert [event.actor async for event in memory.log(1)] == ["ben"]
            await other.close()
            assert await memory.size() == 2

    run(main)


def test_an_exploration_is_awaited(run: Run) -> None:
    """The explorer's methods are awaited, and its costs add up."""

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            await memory.add("The kettle is descaled with vinegar.")
            explorer = await memory.explorer(spent=3)
            hints = await explorer.explore_recall("kettle")
            peek = await explorer.explore_peek(hints.hints[0].id)
            assert explorer.total == 3 + hints.cost_tokens + peek.cost_tokens

    run(main)


def test_calls_run_in_other_threads(run: Run) -> None:
    """Functions of the caller are called in a worker thread, so the event loop is never held up."""

    async def main() -> None:
        threads = set()
        async with AsyncEngine.open("memory:") as memory:
            await memory.rebuild(lambda *_: threads.add(current_thread().name))
        assert threads
        assert current_thread().name not in threads

    run(main)


def test_queries_do_not_wait_behind_commands(run: Run) -> None:
    """While a command is being carried out, a query is answered."""

    async def main() -> None:
        gate = Gate()
        memory = AsyncEngine(gated(gate))
        held = memory._calls.begin(gate.shut, command=True)  # type: ignore[attr-defined]
        held.result(30)
        waiting = memory._calls.begin(lambda: memory.engine.add("one"), command=True)  # type: ignore[attr-defined]
        assert gate.reached.wait(30)
        assert await memory.size() == 1
        gate.open()
        assert waiting.result(30).changed
        await memory.close()

    run(main)


@pytest.mark.parametrize("half", ["trio", "trio.lowlevel", "anyio"])
def test_a_library_that_another_thread_is_importing_does_no_harm(
    half: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls are awaited and the memory is closed while a module of trio or anyio has no names yet."""
    monkeypatch.setitem(sys.modules, half, ModuleType(half))

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            await memory.add("The kettle is descaled with vinegar.")
            assert await memory.size() == 2

    run_in_asyncio(main)
