"""A model never reads an invisible character, whether its client shows the text or the structured content."""

from __future__ import annotations

from typing import Any

import pytest

from engine.base.errors import InvalidInputError
from engine.engine import Engine
from engine.mcp.tool_definition import Fields, Profile, Prompt, Resource, Tool, members
from tests.base.test_characters import HIDDEN
from tests.mcp.support import Memory

SEEN = "The kettle 👩‍🔬 ❤️ می‌خواهم."


def echo(texts: list[str]) -> Memory:
    """Return a server whose tools, resource and prompt return the first of `texts`."""

    def run(engine: Engine, given: Fields) -> Fields:
        return {"text": texts[0], "list": [{texts[0]: texts[0]}], "count": 1, "none": None}

    def fail(engine: Engine, given: Fields) -> Fields:
        raise InvalidInputError(texts[0], hint=texts[0])

    tools = [
        Tool(name, name, members({}), one, {"type": "object"}, text=text)
        for name, one, text in (("plain", run, lambda fields: fields["text"]), ("fail", fail, str))
    ]
    tools.append(Tool("json", "json", members({}), run, {"type": "object"}))
    resource = Resource("engine://memory/text", "text", "text", lambda engine, given: texts[0])
    prompt = Prompt("say", "say", {}, lambda given: texts[0])
    return Memory(Engine.open("memory:"), Profile("echo", "", tuple(tools), (resource,), (prompt,)))


def everything_read(memory: Memory) -> Any:
    """Return the results of every kind of request, as a client gets them."""
    answers = [memory.dispatcher.answer("tools/call", {"name": name}) for name in ("plain", "json", "fail")]
    answers.append(memory.dispatcher.answer("resources/read", {"uri": "engine://memory/text"}))
    return [*answers, memory.dispatcher.answer("prompts/get", {"name": "say"})]


def every_text(value: Any) -> str:
    """Return all texts in a JSON value, joined."""
    if isinstance(value, dict):
        return every_text([*value, *value.values()])
    return "".join(map(every_text, value)) if isinstance(value, list) else str(value)


@pytest.mark.parametrize("hidden", HIDDEN, ids=ascii)
def test_no_answer_has_a_hidden_message(hidden: str) -> None:
    """Text blocks, structured content, errors, resources and prompts have escapes instead."""
    answers = everything_read(echo([f"Tea.{hidden}"]))
    for answer in answers:
        assert not set(every_text(answer)) & set(hidden)
        assert "Tea.\\" in every_text(answer)


def test_what_a_person_sees_is_not_changed() -> None:
    """Joiners and selectors that an emoji or a word needs reach the model."""
    assert all(SEEN in every_text(answer) for answer in everything_read(echo([SEEN])))
