"""A session as atoms, without the framework: the class implements a protocol and imports no package."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from engine import Engine
from engine.base.errors import ClosedError, InvalidInputError
from engine.frameworks import openai_agents
from engine.frameworks.framework_atoms import snapshot
from engine.frameworks.framework_calls import in_thread
from engine.frameworks.openai_agents import MemrootSession, _item

USER = {"role": "user", "content": "When is the kettle descaled?"}
MODEL = {
    "id": "m1",
    "role": "assistant",
    "status": "completed",
    "type": "message",
    "content": [{"type": "output_text", "text": "On Mondays.", "annotations": []}],
}
CALL = {"type": "function_call", "name": "weather", "arguments": '{"city": "Ulm"}', "call_id": "c1"}
TWO_PARTS = {
    "role": "user",
    "content": [{"type": "input_text", "text": "Look."}, {"type": "input_image", "image_url": "a.png"}],
}


@pytest.fixture
def memory() -> Iterator[Engine]:
    """An open memory."""
    with Engine.open("memory:") as memory:
        yield memory


def run(call: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine."""
    return asyncio.run(call)


def test_items_come_back_exactly_and_in_order(memory: Engine) -> None:
    """Messages, calls of tools and equal items keep their form and their order."""
    session = MemrootSession("s", memory)
    run(session.add_items([USER, MODEL]))
    run(session.add_items([CALL, TWO_PARTS, USER, USER]))
    run(session.add_items([]))
    assert run(session.get_items()) == [USER, MODEL, CALL, TWO_PARTS, USER, USER]


def test_a_message_is_an_atom_with_its_text(memory: Engine) -> None:
    """The text of a message is the content; the session, the position and the role are recorded."""
    session = MemrootSession("ada/1", memory)
    run(session.add_items([USER, MODEL]))
    first, second = (memory.get(found.id) for found in memory.find())
    assert (first.content, second.content) == (USER["content"], "On Mondays.")
    assert first.source == second.source == "openai-agents:ada%2F1"
    assert (first.meta["role"], second.meta["role"]) == ("user", "assistant")
    assert (first.sequence or 0) < (second.sequence or 0)
    assert memory.recall("Mondays").hits[0].id == second.id


def test_filters_on_meta_find_what_one_side_said(memory: Engine) -> None:
    """Any user of the memory can ask for the messages of a role."""
    run(MemrootSession("s", memory).add_items([USER, MODEL | {"content": [{"text": "The kettle!"}]}]))
    assert [hit.snippet for hit in memory.recall("kettle", meta={"role": "assistant"}).hits] == [
        "The kettle!"
    ]


@pytest.mark.parametrize(("limit", "first"), [(None, 0), (0, 5), (1, 4), (5, 0), (9, 0)])
def test_a_limit_counts_from_the_newest(memory: Engine, limit: int | None, first: int) -> None:
    """The newest items are returned, the oldest of them first."""
    items = [{"role": "user", "content": str(number)} for number in range(5)]
    session = MemrootSession("s", memory)
    run(session.add_items(items))
    assert run(session.get_items(limit)) == items[first:]


def test_the_limit_of_the_settings_holds_if_none_is_given(memory: Engine) -> None:
    """A limit that the caller gives is preferred."""
    session = MemrootSession("s", memory, session_settings=SimpleNamespace(limit=1))
    run(session.add_items([USER, MODEL, CALL]))
    assert [run(session.get_items()), run(session.get_items(2))] == [[CALL], [MODEL, CALL]]


def test_a_negative_limit_is_refused(memory: Engine) -> None:
    """The number of items is 0 or more."""
    with pytest.raises(InvalidInputError, match="limit"):
        run(MemrootSession("s", memory).get_items(-1))


def test_pop_returns_the_newest_item_and_hides_it(memory: Engine) -> None:
    """Popping an empty session returns None; a popped item may be added again."""
    session = MemrootSession("s", memory)
    run(session.add_items([USER, MODEL]))
    assert [run(session.pop_item()) for _ in range(3)] == [MODEL, USER, None]
    run(session.add_items([USER]))
    assert run(session.get_items()) == [USER]


def test_clearing_hides_the_items_of_one_session(memory: Engine) -> None:
    """Another session keeps its items, even if its name begins alike."""
    one, two = MemrootSession("s", memory), MemrootSession("s2", memory)
    run(one.add_items([USER] * 3))
    run(two.add_items([MODEL]))
    run(one.clear_session())
    assert [run(one.get_items()), run(two.get_items())] == [[], [MODEL]]
    assert [item.kind.name for item in memory.log()].count("ATOM_TOMBSTONED") == 3


def test_items_are_appended_together_or_not_at_all(memory: Engine) -> None:
    """One bad item, and none is stored."""
    session = MemrootSession("s", memory)
    for bad in ("text", {"content": object()}):
        with pytest.raises(InvalidInputError):
            run(session.add_items([USER, bad]))
    assert run(session.get_items()) == []


def test_two_sessions_objects_of_one_conversation_share_it(memory: Engine) -> None:
    """Appends and pops that run at the same time lose and repeat nothing."""
    sessions = [MemrootSession("s", memory) for _ in range(2)]

    async def append() -> None:
        calls = [sessions[n % 2].add_items([{"role": "user", "content": str(n)}]) for n in range(20)]
        await asyncio.gather(*calls)

    async def pop() -> list[Any]:
        return await asyncio.gather(*(sessions[n % 2].pop_item() for n in range(20)))

    run(append())
    assert sorted(int(item["content"]) for item in run(pop())) == list(range(20))
    assert run(sessions[0].pop_item()) is None


def test_an_item_that_another_program_pops_at_the_same_time_is_returned_once(memory: Engine) -> None:
    """The program that comes second gets the item before."""

    class Raced(MemrootSession):
        def _held(self, most: int | None = None) -> Any:
            held = super()._held(most)
            if _item(held[0]) == MODEL:  # between reading and hiding, the other program hides the same item
                memory.tombstone(held[0].id)
            return held

    run(MemrootSession("s", memory).add_items([USER, MODEL]))
    assert run(Raced("s", memory).pop_item()) == USER


def test_a_revised_message_keeps_its_place(memory: Engine) -> None:
    """A person who corrects a text does not change the order of the conversation."""
    session = MemrootSession("s", memory)
    run(session.add_items([USER, MODEL]))
    memory.revise(memory.find()[0].id, "When is the teapot descaled?")
    assert run(session.get_items()) == [USER | {"content": "When is the teapot descaled?"}, MODEL]


def test_atoms_of_other_origins_are_no_items(memory: Engine) -> None:
    """An atom that somebody added to the source is not part of the conversation."""
    session = MemrootSession("s", memory)
    memory.add("A note.", source="openai-agents:s", buckets=["openai-agents"])
    assert run(session.get_items()) == []
    assert run(session.pop_item()) is None


def test_a_session_needs_a_name(memory: Engine) -> None:
    """An empty id is refused when the session is made."""
    with pytest.raises(InvalidInputError, match="the id of a session"):
        MemrootSession("", memory)


def test_the_memory_is_used_in_another_thread(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """No call reads or writes the memory in the thread of the event loop."""
    threads: list[threading.Thread] = []
    monkeypatch.setattr(openai_agents, "snapshot", _noting(snapshot, threads))
    monkeypatch.setattr(memory, "apply", _noting(memory.apply, threads), raising=False)
    session = MemrootSession("s", memory)
    run(session.add_items([USER]))
    run(session.get_items())
    run(session.pop_item())
    run(session.clear_session())
    assert len(threads) >= 5
    assert threading.main_thread() not in threads


def _noting(call: Callable[..., Any], threads: list[threading.Thread]) -> Callable[..., Any]:
    def noted(*arguments: Any, **named: Any) -> Any:
        threads.append(threading.current_thread())
        return call(*arguments, **named)

    return noted


def test_a_cancelled_call_is_finished_before_the_cancellation_goes_on() -> None:
    """A write that has begun is not left running behind the back of its caller."""
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        may_end.wait(60)
        ended.set()

    async def cancel() -> bool:
        task = asyncio.ensure_future(in_thread(write))
        while not begun.is_set():
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        still_waiting = not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        return still_waiting

    assert run(cancel())
    assert ended.is_set()


def test_errors_of_the_memory_reach_the_caller(memory: Engine) -> None:
    """A closed memory is an error, in the other thread, too."""
    session = MemrootSession("s", memory)
    memory.close()
    with pytest.raises(ClosedError):
        run(session.get_items())


def test_secrets_in_items_are_redacted_before_they_are_written() -> None:
    """The SDK gets back what was written."""
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    with Engine.open("memory:", secrets="redact") as memory:
        session = MemrootSession("s", memory)
        run(session.add_items([USER | {"content": f"My token is {secret}\nKeep it."}]))
        (item,) = run(session.get_items())
    assert secret not in item["content"]
    assert item["content"].endswith("Keep it.")
