"""Tests that the configurations in the pages for MCP clients start the server."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.pages import DOCS, Block, blocks, commands, parse

CLIENTS = DOCS / "clients"


def pasted(language: str) -> list[Block]:
    """Return the code blocks of a language in the pages for clients."""
    return [block for block in blocks(language) if block.page.parent == CLIENTS]


def started(value: Any) -> Iterator[list[str]]:
    """Yield the command lines of all servers in a configuration, at any depth."""
    if not isinstance(value, dict):
        return
    command = value.get("command")
    if isinstance(command, list):
        yield command
    elif isinstance(command, str):
        yield [command, *value.get("args", [])]
    for inner in value.values():
        yield from started(inner)


@pytest.mark.parametrize("block", [*pasted("json"), *pasted("toml")], ids=lambda block: block.name)
def test_a_configuration_starts_the_server(block: Block) -> None:
    """Each configuration parses and names one server: `engine mcp` with valid options and its own store."""
    read = json.loads if block.text.lstrip().startswith("{") else tomllib.loads
    config = read(block.text)
    (line,) = started(config)
    assert line[:2] == ["engine", "mcp"]
    parse(line[1:])
    assert "ENGINE_STORE" in json.dumps(config)


@pytest.mark.parametrize("block", pasted("console"), ids=lambda block: block.name)
def test_a_command_of_a_client_ends_with_the_server(block: Block) -> None:
    """The command after `--` is `engine mcp` with valid options."""
    behind = [
        shlex.split(command.line.partition(" -- ")[2])
        for command in commands(block.text)
        if " -- " in command.line
    ]
    assert behind
    for line in behind:
        assert line[:2] == ["engine", "mcp"]
        parse(line[1:])


def test_every_client_has_a_page_with_something_to_paste() -> None:
    """The index lists each page for a client, and each page contains a configuration."""
    pages = {page for page in CLIENTS.glob("*.md") if page.name != "README.md"}
    assert pages
    assert pages <= {block.page for block in [*pasted("json"), *pasted("toml")]}
    index = (CLIENTS / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in pages if f"({page.name})" not in index] == []
