"""`server.json`, which describes the server for the MCP registry."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]  # it ships no type hints

from engine.base import __version__
from engine.commands.secrets.policy import Mode
from engine.memory.memory_settings import SECRETS_VARIABLE, VARIABLE
from tests.support.pages import parse

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((Path(__file__).parent / "server.schema.json").read_text(encoding="utf-8"))
"""The schema of the registry (github.com/modelcontextprotocol/registry, MIT License), as it is published."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def server() -> dict[str, Any]:
    """Return the content of `server.json`."""
    found: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    return found


def problems(server: dict[str, Any]) -> list[str]:
    """Return the errors that the schema finds in a description."""
    return [error.message for error in Draft7Validator(SCHEMA).iter_errors(server)]


def test_it_meets_the_schema_that_it_names(server: dict[str, Any]) -> None:
    """The schema has the named version, and reports a field that is missing or too long."""
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == server["$schema"]
    assert problems(server) == []
    assert problems({**server, "description": "x" * 101})
    assert problems({name: value for name, value in server.items() if name != "version"})


def test_it_describes_this_version_of_this_package(server: dict[str, Any]) -> None:
    """The versions, the name of the package and the addresses are those of the project."""
    [package] = server["packages"]
    assert {server["version"], package["version"]} == {__version__}
    assert package["identifier"] == PROJECT["project"]["name"]
    assert server["repository"]["url"] == PROJECT["project"]["urls"]["Source"]
    assert server["websiteUrl"] == PROJECT["project"]["urls"]["Documentation"]


def test_its_command_starts_the_server(server: dict[str, Any]) -> None:
    """The program uvx runs the command with the name of the package, and the arguments are valid."""
    [package] = server["packages"]
    assert package["identifier"] in PROJECT["project"]["scripts"]
    parse([argument["value"] for argument in package["packageArguments"]])
    variables = {one["name"]: one for one in package["environmentVariables"]}
    assert set(variables) == {VARIABLE, SECRETS_VARIABLE}
    assert set(variables[SECRETS_VARIABLE]["choices"]) == set(Mode)


def test_the_page_of_the_package_names_the_server(server: dict[str, Any]) -> None:
    """The registry accepts a package only if the text on its page contains the name of the server."""
    fragments = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]
    assert f"mcp-name: {server['name']}" in "".join(one.get("text", "") for one in fragments)
