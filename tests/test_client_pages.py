"""Tests that the configurations in the pages for MCP clients start the server."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from engine.mcp.client_install import CLIENTS as KNOWN
from tests.support.pages import DOCS, Block, blocks, commands, parse

CLIENTS_FOLDER = DOCS / "clients"


def pasted(language: str) -> list[Block]:
    """Return the code blocks of a language in the pages for clients."""
    return [block for block in blocks(language) if block.page.parent == CLIENTS_FOLDER]


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
    """The command after `--`, or the whole command, is one of the program with valid options."""
    lines = [
        shlex.split(command.line.partition(" -- ")[2] or command.line) for command in commands(block.text)
    ]
    started = [line for line in lines if line[0] == "engine"]
    assert started
    for line in started:
        assert line[1] in {"hooks", "import", "find", "erase", "mcp", "watch"}
        parse(line[1:])


def test_every_client_has_a_page_with_something_to_paste() -> None:
    """The index lists each page for a client, and each page contains a configuration."""
    pages = {page for page in CLIENTS_FOLDER.glob("*.md") if page.name != "README.md"}
    assert pages
    assert pages <= {block.page for block in [*pasted("json"), *pasted("toml")]}
    index = (CLIENTS_FOLDER / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in pages if f"({page.name})" not in index] == []


@pytest.mark.parametrize("name", KNOWN)
def test_each_client_that_can_be_installed_has_a_page_that_says_so(name: str) -> None:
    """The page gives the command with the name of the client, and the entry by hand has the same form."""
    page = CLIENTS_FOLDER / f"{name}.md"
    lines = [line for block in pasted("console") if block.page == page for line in block.text.splitlines()]
    assert f"$ engine mcp install {name} --store /path/to/memory" in lines
    client = KNOWN[name]
    entry = client.entry(["engine", "mcp"], {"ENGINE_STORE": "/path/to/memory"})
    by_hand = [block for block in (*pasted("json"), *pasted("toml")) if block.page == page]
    read = tomllib.loads if client.is_toml else json.loads
    assert entry.items() >= read(by_hand[0].text)[client.key]["memory"].items()
