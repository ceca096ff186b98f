"""`MemrootSession` in runs of the OpenAI Agents SDK. Run by `tests/frameworks/test_environments.py`."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Session,
    SQLiteSession,
    Usage,
    function_tool,
)
from agents.memory import SessionSettings
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
)

from engine import Engine
from engine.frameworks.openai_agents import MemrootSession

QUIET = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """A model that says what it was told to say, and keeps what it was asked."""

    def __init__(self, *replies: ResponseOutputItem) -> None:
        self._replies = iter(replies)
        self.asked: list[Any] = []

    async def get_response(self, *_: Any, input: Any, **__: Any) -> ModelResponse:  # noqa: A002
        """Return the next reply."""
        self.asked.append(input)
        return ModelResponse(output=[next(self._replies)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Not used."""
        raise NotImplementedError


def message(text: str) -> ResponseOutputMessage:
    """Return a message of the model."""
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


def test_the_session_follows_the_protocol_of_the_sdk() -> None:
    """The SDK's own check accepts the class."""
    assert isinstance(MemrootSession("a", Engine.open("memory:")), Session)


def test_an_agent_remembers_the_conversation_in_a_later_process(tmp_path: Path) -> None:
    """The second run sends the items of the first, which were read from the disk."""
    url = f"sqlite:{tmp_path / 'memory.db'}"
    with Engine.open(url) as memory:
        model = Scripted(message("Hello, Ada."))
        session = MemrootSession("chat", memory)
        asyncio.run(Runner.run(Agent("a", model=model), "I am Ada.", session=session, run_config=QUIET))
    with Engine.open(url) as memory:
        model = Scripted(message("You are Ada."))
        session = MemrootSession("chat", memory)
        done = asyncio.run(
            Runner.run(Agent("a", model=model), "Who am I?", session=session, run_config=QUIET)
        )
        assert done.final_output == "You are Ada."
        texts = [
            one["content"] if isinstance(one["content"], str) else one["content"][0]["text"]
            for one in model.asked[0]
        ]
        assert texts == ["I am Ada.", "Hello, Ada.", "Who am I?"]
        assert memory.recall("Ada").hits[0].source == "openai-agents:chat"


@function_tool
def weather(city: str) -> str:
    """Return the weather of a city."""
    return f"It rains in {city}."


def conversation(session: Session) -> list[Any]:
    """Hold a conversation with a call of a tool; return what the model was asked, and the stored items."""
    call = ResponseFunctionToolCall(
        arguments='{"city":"Ulm"}', call_id="c1", name="weather", type="function_call", id="f"
    )
    model = Scripted(call, message("It rains."), message("In Ulm."))
    agent = Agent("a", model=model, tools=[weather])

    async def talk() -> list[Any]:
        await Runner.run(agent, "How is Ulm?", session=session, run_config=QUIET)
        await Runner.run(agent, "Where?", session=session, run_config=QUIET)
        return await session.get_items()

    return [model.asked, asyncio.run(talk())]


def test_a_conversation_with_tools_is_stored_as_by_the_sdk_s_own_session() -> None:
    """The model is asked the same, and the items are the same, as with `SQLiteSession`."""
    ours = conversation(MemrootSession("s", Engine.open("memory:")))
    assert ours == conversation(SQLiteSession("s"))
    assert len(ours[1]) == 6


@pytest.mark.parametrize("limit", [None, 0, 1, 3, 99])
def test_the_newest_items_are_returned_in_order(limit: int | None) -> None:
    """`limit` counts from the newest item, as in `SQLiteSession`."""
    items: list[Any] = [{"role": "user", "content": str(number % 3)} for number in range(7)]

    async def newest(session: Session) -> list[Any]:
        await session.add_items(items[:4])
        await session.add_items(items[4:])
        return await session.get_items(limit)

    ours = asyncio.run(newest(MemrootSession("s", Engine.open("memory:"))))
    assert ours == asyncio.run(newest(SQLiteSession("s")))


def test_the_limit_of_the_settings_holds_if_the_caller_gives_none() -> None:
    """`SessionSettings(limit=1)` returns the newest item only."""
    session = MemrootSession("s", Engine.open("memory:"), session_settings=SessionSettings(limit=1))

    async def use() -> list[int]:
        await session.add_items([{"role": "user", "content": text} for text in "abc"])
        return [len(await session.get_items()), len(await session.get_items(2))]

    assert asyncio.run(use()) == [1, 2]
