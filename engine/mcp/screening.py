"""Tells agents what the secret filter does to the texts that they store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.mcp.definition import Arguments, Fields, Profile, Prompt

if TYPE_CHECKING:
    from engine.engine import Engine

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
    found = [secret.kind for text in texts for secret in secret_filter.policy.find(text)]
    return {"redacted": sorted(set(found))} if found else {}
