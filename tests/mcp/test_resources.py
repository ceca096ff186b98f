"""Resources and prompts, read with the SDK's client."""

from __future__ import annotations

import json
import re

import pytest
from mcp import Client, MCPError
from mcp_types import TextContent, TextResourceContents

from tests.mcp.support import Memory


def read(memory: Memory, uri: str) -> str:
    """Return the text of a resource."""

    async def question(client: Client) -> str:
        [content] = (await client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        assert content.uri == uri
        return content.text

    return memory.ask(question)


def test_resources_are_listed(memory: Memory) -> None:
    """Two fixed resources and one template for atoms are listed."""
    found = memory.ask(lambda client: client.list_resources())
    assert [one.uri for one in found.resources] == ["engine://memory/status", "engine://memory/checkpoint"]
    templates = memory.ask(lambda client: client.list_resource_templates())
    assert [one.uri_template for one in templates.resource_templates] == ["engine://memory/atom/{id}"]


def test_an_atom_is_read_by_its_id(memory: Memory, kettle: str) -> None:
    """An atom is read by its whole or shortened id."""
    for given in (kettle, kettle[:8]):
        found = json.loads(read(memory, f"engine://memory/atom/{given}"))
        assert (found["id"], found["title"]) == (kettle, "Kettle")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[0-9:.]{15}Z", found["created"])


def test_status_is_what_the_tool_says(memory: Memory, kettle: str) -> None:
    """The resource has the same numbers as the tool."""
    assert json.loads(read(memory, "engine://memory/status")) == memory.found("status")


def test_the_latest_checkpoint_is_read_from_the_journal(memory: Memory, kettle: str) -> None:
    """At first there is no checkpoint; later its root and size are shown."""
    assert "No checkpoint is recorded" in read(memory, "engine://memory/checkpoint")
    before = memory.engine.root()
    memory.engine.checkpoint()
    memory.found("remember", content="after")
    lines = dict(line.split(" ") for line in read(memory, "engine://memory/checkpoint").splitlines())
    assert lines == {
        "store": memory.engine.status().store_id,
        "size": str(before.size),
        "root": before.root,
        "seq": str(before.size),
    }


@pytest.mark.parametrize(
    "uri",
    [
        "engine://memory/atom/",
        "engine://memory/atom/ffffffff",
        "engine://memory/atom/../status",
        "engine://memory/nothing",
        "file:///etc/passwd",
        "https://example.com/",
    ],
)
def test_what_is_not_there_is_an_error(memory: Memory, kettle: str, uri: str) -> None:
    """An unknown URI is an error, and no file is read."""
    with pytest.raises(MCPError, match=r"no resource|no atom|neither a UUID"):
        read(memory, uri)


def test_prompts_carry_what_they_are_given(memory: Memory) -> None:
    """Both prompts are listed with their arguments and contain the given values."""
    found = memory.ask(lambda client: client.list_prompts()).prompts
    assert {prompt.name: [one.name for one in prompt.arguments or ()] for prompt in found} == {
        "explore": ["query"],
        "remember": ["content"],
    }
    for prompt, argument in (("explore", "query"), ("remember", "content")):

        async def question(client: Client, prompt: str = prompt, argument: str = argument) -> str:
            [message] = (await client.get_prompt(prompt, {argument: "{0} %s <b>"})).messages
            assert isinstance(message.content, TextContent)
            return message.content.text

        assert "{0} %s <b>" in memory.ask(question)


def test_a_prompt_without_its_argument_is_refused(memory: Memory) -> None:
    """The error names the missing argument."""
    with pytest.raises(MCPError, match="needs query"):
        memory.ask(lambda client: client.get_prompt("explore", {}))
