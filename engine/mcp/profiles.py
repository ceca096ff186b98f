"""The profiles of the server by name."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Final

from engine.base.errors import InvalidInputError
from engine.mcp.definition import Profile, Tool

MODULES: Final = {"memory": "engine.mcp.tools", "reference": "engine.mcp.reference"}
"""Profile name → the module that defines the profile in the variable PROFILE."""


def profile_of(name: str, *, read_only: bool = False) -> Profile:
    """Return a profile; `read_only` removes the tools that write and the prompts that use these tools.

    Raises:
        InvalidInputError: there is no such profile.
    """
    profile = _loaded(name)
    if not read_only:
        return profile
    kept = tuple(tool for tool in profile.tools if not tool.writes)
    gone = {tool.name for tool in profile.tools} - {tool.name for tool in kept}
    return replace(
        profile,
        tools=kept,
        prompts=tuple(prompt for prompt in profile.prompts if prompt.name not in gone),
        instructions="\n".join(
            line for line in profile.instructions.splitlines() if line.split(" ")[0] not in gone
        ),
    )


def writing(name: str) -> tuple[Tool, ...]:
    """Return the names of a profile's tools that write.

    Raises:
        InvalidInputError: there is no such profile.
    """
    return tuple(tool for tool in _loaded(name).tools if tool.writes)


def _loaded(name: str) -> Profile:
    if name not in MODULES:
        raise InvalidInputError(f"unknown profile {name!r}", hint=f"choose among: {', '.join(MODULES)}")
    profile: Profile = import_module(MODULES[name]).PROFILE
    return profile
