"""The profiles of the server by name, and what they tell agents about the secret filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

from engine.base.errors import InvalidInputError
from engine.mcp.tool_definition import Arguments, Fields, Profile, Prompt, Tool

if TYPE_CHECKING:
    from engine.engine import Engine


MODULES: Final = {"memory": "engine.mcp.memory_profile", "reference": "engine.mcp.reference_profile"}
"""Profile name → the module that defines the profile in the variable PROFILE."""


def profile_of(name: str, *, read_only: bool = False) -> Profile:
    """Return a profile; `read_only` removes the tools that write and the prompts that use these tools.

    Raises:
        InvalidInputError: there is no such profile.
    """
    profile = _loaded(name)
    if not read_only:
        return profile
    reading = tuple(tool for tool in profile.tools if not tool.writes)
    gone = {tool.name for tool in profile.tools} - {tool.name for tool in reading}
    return replace(
        profile,
        tools=reading,
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


SAID: Final[Mapping[str, str]] = {
    "redact": "Passwords, keys and tokens are replaced by [REDACTED:kind] before a text is stored; never try "
    "to store one.",
    "refuse": "A text with a password, key or token is refused; leave the secret out.",
    "warn": "",
    "off": "",
}
"""Maps each mode of the secret filter to a sentence for agents; an empty text if there is nothing to say."""


def screened(profile: Profile, mode: str) -> Profile:
    """Return the profile with the sentence for `mode` in its instructions and in prompts that store texts.

    If the profile has no tool that writes, it is returned unchanged.
    """
    said = SAID[mode]
    if not said or not any(tool.writes for tool in profile.tools):
        return profile
    writing = {tool.name for tool in profile.tools if tool.writes}
    prompts = tuple(_saying(one, said) if one.name in writing else one for one in profile.prompts)
    return replace(profile, instructions=f"{profile.instructions}\n{said}", prompts=prompts)


def _saying(prompt: Prompt, said: str) -> Prompt:
    def render(given: Mapping[str, str]) -> str:
        return f"{said}\n\n{prompt.render(given)}"

    return replace(prompt, render=render)


def redacted(engine: Engine, arguments: Arguments) -> Fields:
    """Return the member `redacted` of an answer: the kinds of the secrets in the call's arguments.

    The result is empty if nothing was redacted.
    """
    secret_filter = engine.store.secret_filter
    if secret_filter is None or secret_filter.policy.mode != "redact":
        return {}
    given = [value if isinstance(value, list) else [value] for value in arguments.values()]
    texts = [text for values in given for text in values if isinstance(text, str)]
    kinds = [secret.kind for text in texts for secret in secret_filter.policy.find(text)]
    return {"redacted": sorted(set(kinds))} if kinds else {}
