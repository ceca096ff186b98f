"""A cancelled call is carried out completely or never begun, and closing waits for the calls that run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Add, AsyncEngine, BusyError, ClosedError, Engine, Memory, Receipt, SystemFailureError
from engine.clients.asynchronous.worker_threads import Calls, Parts
from tests.clients.asynchronous.support import Gate, gated, run_in_asyncio, run_in_trio


async def started(gate: Gate, call: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Begin a command, and return once it waits at the gate."""
    gate.shut()
    task = asyncio.create_task(call)
    while not gate.reached.is_set():
        await asyncio.sleep(0.001)
    return task


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancel a task, and check that it ends at once."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def texts_of(engine: Memory) -> list[str]:
    """Return the texts of all atoms, sorted."""
    return sorted(engine.get(found.id).content for found in engine.find())


def test_a_command_that_has_begun_is_carried_out() -> None:
    """The cancelled await returns while the command still runs; the command then takes effect."""

    async def main() -> None:
        gate = Gate()
        async with AsyncEngine(gated(gate)) as memory:
            task = await started(gate, memory.apply([Add("one"), Add("two")]))
            await cancelled(task)
            gate.open()
            await memory.add("three")
            assert [len(await memory.find()), await memory.size()] == [3, 4]

    run_in_asyncio(main)


def test_a_command_that_has_not_begun_never_begins() -> None:
    """A command that was cancelled behind another command leaves no event."""

    async def main() -> None:
        gate = Gate()
        async with AsyncEngine(gated(gate)) as memory:
            first = await started(gate, memory.add("one"))
            second = asyncio.create_task(memory.add("two"))
            await asyncio.sleep(0)
            await cancelled(second)
            gate.open()
            await first
            await memory.add("three")
            assert texts_of(memory.engine) == ["one", "three"]

    run_in_asyncio(main)


def test_trio_cancels_alike() -> None:
    """Under trio, too, a cancelled command that has begun is carried out, and another never begins."""

    async def main() -> None:
        import trio

        gate = Gate()
        async with AsyncEngine(gated(gate)) as memory:
            gate.shut()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(memory.add, "one")
                while not gate.reached.is_set():
                    await trio.sleep(0.001)
                nursery.start_soon(memory.add, "two")
                await trio.testing.wait_all_tasks_blocked()
                nursery.cancel_scope.cancel()
            gate.open()
            await memory.add("three")
            assert texts_of(memory.engine) == ["one", "three"]

    run_in_trio(main)


def test_closing_waits_for_running_calls() -> None:
    """`close` returns only when the command that runs has ended; its receipt reaches the caller."""

    async def main() -> None:
        gate = Gate()
        memory = AsyncEngine(gated(gate))
        command = await started(gate, memory.add("one"))
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0.01)
        assert not closing.done()
        with pytest.raises(ClosedError):
            await memory.size()
        gate.open()
        await closing
        assert (await command).changed

    run_in_asyncio(main)


def test_a_cancelled_close_closes_all_the_same(tmp_path: Path) -> None:
    """The store is released although nobody waits for it any more."""
    url = f"leveldb:{tmp_path / 'store'}"

    async def main() -> None:
        gate = Gate()
        memory = await AsyncEngine.open(url, clock=gate)
        await started(gate, memory.add("one"))
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0)
        await cancelled(closing)
        gate.open()
        assert await size_when_free(url) == 2

    run_in_asyncio(main)


def test_a_cancelled_opening_releases_the_store(tmp_path: Path) -> None:
    """A memory that is opened after its caller gave up is closed again."""
    url = f"leveldb:{tmp_path / 'store'}"

    async def main() -> None:
        gate = Gate()
        opening = await started(gate, opened(url, gate))
        await cancelled(opening)
        gate.open()
        assert await size_when_free(url) == 1

    run_in_asyncio(main)


async def opened(url: str, gate: Gate) -> AsyncEngine:
    """Open a memory whose genesis event waits at the gate."""
    return await AsyncEngine.open(url, clock=gate)


async def size_when_free(url: str) -> int:
    """Return the number of events, once no other handle has the store open."""
    async with asyncio.timeout(30):
        while True:
            try:
                with Engine.open(url, create=False) as engine:
                    return engine.size
            except BusyError:
                await asyncio.sleep(0.01)


def test_cancelled_calls_still_count_against_the_threads() -> None:
    """Calls that run on after they were cancelled keep their threads, so no more threads are started."""

    async def main() -> None:
        calls, go_on = Calls(2), Event()
        running: list[None] = []

        def call() -> None:
            running.append(None)
            assert go_on.wait(30)

        for _ in range(5):
            task = asyncio.create_task(calls.run(call))
            await asyncio.sleep(0.01)
            await cancelled(task)
        assert len(running) <= 2
        go_on.set()
        ended: Future[None] = calls.end(lambda: None)
        ended.result(30)
        assert len(running) <= 2

    run_in_asyncio(main)


def test_no_item_is_lost_when_an_await_is_cancelled() -> None:
    """What was read for a cancelled await is returned by the next one."""

    async def main() -> None:
        calls, reading, go_on = Calls(1), Event(), Event()

        def items() -> Iterator[int]:
            for item in range(4):
                reading.set()
                assert go_on.wait(30)
                yield item

        numbers = Parts(calls, items, 3)
        task = asyncio.ensure_future(anext(numbers))
        while not reading.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        assert [number async for number in numbers] == [0, 1, 2, 3]
        calls.end(lambda: None).result(30)

    run_in_asyncio(main)


def test_a_call_for_which_no_thread_starts_is_never_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system refuses a thread, the call fails, and a later thread does not run it."""
    submit = ThreadPoolExecutor.submit
    queued = []

    def refused(pool: ThreadPoolExecutor, work: Any) -> Any:
        queued.append(work)
        raise RuntimeError("can't start new thread")

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            monkeypatch.setattr(ThreadPoolExecutor, "submit", refused)
            with pytest.raises(SystemFailureError, match="no thread can be started"):
                await memory.add("one")
            monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
            queued[0]()
            assert await memory.size() == 1

    run_in_asyncio(main)


class Step(NamedTuple):
    """One call, and the turns of the event loop after which it is cancelled, or None."""

    kind: str
    turns: int
    cancelled_after: int | None


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["add", "pair", "many", "tag", "recall", "log"]),
        st.integers(0, 3),
        st.none() | st.integers(0, 6),
    ),
    max_size=12,
)


async def taken(memory: AsyncEngine, number: int, kind: str, first: str) -> list[Receipt]:
    """Carry out one step, and return what it acknowledged."""
    if kind == "add":
        return [await memory.add(f"text {number}")]
    if kind == "pair":
        return await memory.apply([Add(f"left {number}"), Add(f"right {number}")])
    if kind == "many":
        return [each async for each in memory.apply_many([Add(f"left {number}"), Add(f"right {number}")])]
    if kind == "tag":
        return [await memory.tag(first, f"tag{number}")]
    if kind == "log":
        assert [event.seq async for event in memory.log()][:2] == [0, 1]
    else:
        await memory.recall("text")
    return []


async def interleaved(memory: AsyncEngine, plan: list[Step]) -> list[Receipt]:
    """Carry out the steps at the same time, cancel some of them, and return what was acknowledged."""
    first = await memory.add("text")
    tasks = []
    for number, step in enumerate(plan):
        task = asyncio.create_task(taken(memory, number, step.kind, first.id))
        tasks.append(task)
        for turn in range(max(step.turns, step.cancelled_after or 0) + 1):
            if turn == step.cancelled_after:
                task.cancel()
            await asyncio.sleep(0)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(each, list | asyncio.CancelledError) for each in ended), ended
    return [first, *(receipt for each in ended if isinstance(each, list) for receipt in each)]


@given(steps)
def test_any_interleaving_keeps_what_was_acknowledged(plan: list[Step]) -> None:
    """Cancelled and finished calls leave a memory that verifies and has each acknowledged event."""

    async def main() -> None:
        with Engine.open("memory:") as engine:
            memory = AsyncEngine(engine)
            receipts = await interleaved(memory, plan)
            memory._calls.end(lambda: None).result(30)  # type: ignore[attr-defined]
            events = {event.seq: event.event_id for event in engine.log()}
            for one in receipts:
                assert all(events[each.seq] == each.event_id for each in one.events)
            texts = texts_of(engine)
            for number in range(len(plan)):
                assert (f"left {number}" in texts) is (f"right {number}" in texts)
            assert engine.verify().ok

    run_in_asyncio(main)
