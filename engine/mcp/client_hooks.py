"""The hooks in the configuration of clients: adding the program's own entries, listing and removing them."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.base.errors import EngineError
from engine.capture.hook_events import EVENTS
from engine.mcp.client_config_edit import (
    elements_at,
    value_of,
    with_element,
    with_member,
    without_elements,
)
from engine.mcp.client_install import CLIENTS, PROGRAMS, Changed, change_file, text_of

HOOKS: Final = "hooks"
"""The member of a configuration file that maps the names of events to their hooks."""

MARKS: Final = ("hook_process.py", " hooks run ")
"""Parts of the commands of the program, by which its entries are recognised."""

SECONDS: Final = 5
"""The time after which a client stops a hook, in seconds. The program itself stops much earlier."""

FILES: Final = {
    "claude-code": replace(
        CLIENTS["claude-code"], folder="~/.claude", file="settings.json", project=".claude/settings.json"
    ),
    "codex": replace(
        CLIENTS["codex"],
        file="hooks.json",
        project=".codex/hooks.json",
        restart="start a new session, and trust the hooks when it asks",
    ),
    "cursor": replace(CLIENTS["cursor"], file="hooks.json", project=".cursor/hooks.json"),
    "gemini-cli": CLIENTS["gemini-cli"],
}
"""Client → where its hooks are configured."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of the program in the configuration of a client."""

    client: str
    file: str
    events: tuple[str, ...]
    """The events for which the program has a hook."""
    command: str
    """The command of these hooks; empty if there is none."""
    error: str = ""
    """Why the file cannot be read; empty if it can."""


def hooks_in(client: str, file: Path) -> Hooks:
    """Return the hooks of the program in a file, which need not exist.

    Raises:
        EngineError: the file cannot be read, or is malformed.
    """
    text = text_of(file) or ""
    try:
        found = {event: [*filter(_is_ours, elements_at(text, [HOOKS, event]))] for event in EVENTS[client]}
    except EngineError as error:
        raise type(error)(f"{file}: {error}", hint="repair the file") from None
    own = [one for elements in found.values() for one in elements]
    command = next((_commands(one)[0] for one in own), "")
    return Hooks(client, str(file), tuple(event for event, one in found.items() if one), command)


def has_server(client: str) -> bool:
    """Return True if the user's or the project's configuration of a client has an MCP server of the program.

    A file that cannot be read counts as one without a server.
    """
    one = CLIENTS[client]
    for file in (one.user_file(), one.project_file()):
        with suppress(EngineError, ValueError, RecursionError):
            text = text_of(file) or ""
            if _has_server(tomllib.loads(text) if one.is_toml else value_of(text)):
                return True
    return False


def _has_server(value: Any) -> bool:
    """Return True if a value or a part of it, such as the settings of one project, is such an entry."""
    if isinstance(value, list):
        return any(map(_has_server, value))
    if not isinstance(value, dict):
        return False
    args = value.get("args")
    words = [str(word) for word in (value.get("command"), *(args if isinstance(args, list) else []))]
    is_ours = "mcp" in words and any(name in word for name in PROGRAMS for word in words)
    return is_ours or any(map(_has_server, value.values()))


def add_hooks(client: str, file: Path, command: str, *, dry_run: bool = False) -> Changed:
    """Add a hook with this command for each event of the client. Hooks of the program are replaced.

    Raises:
        EngineError: as for `change_file`.
    """
    before = hooks_in(client, file)

    def edited(text: str) -> str:
        if before.command == command and len(before.events) == len(EVENTS[client]):
            return text
        return _with_hooks(client, _without_hooks(client, text), command)

    return change_file(file, edited, dry_run=dry_run)


def remove_hooks(client: str, file: Path, *, dry_run: bool = False) -> Changed:
    """Remove the hooks of the program.

    If nothing else in the file changed since they were added, the file is again, byte for byte, what it was
    before, and its copy is removed.

    Raises:
        EngineError: as for `change_file`.
    """
    command = hooks_in(client, file).command
    if not command:
        return Changed(str(file))
    present = text_of(file)
    for copy in sorted(file.parent.glob(f"{file.name}.bak*")):
        try:
            old = _without_hooks(client, text_of(copy) or "")
            is_original = present == _with_hooks(client, old, command)
        except EngineError:
            continue  # the copy is malformed
        if is_original:
            done = change_file(file, lambda _, old=old: old, keep=False, dry_run=dry_run)  # type: ignore[misc]
            if not dry_run:
                copy.unlink()
            return done
    if present == _with_hooks(client, "", command):
        if not dry_run:
            file.unlink()
        return Changed(str(file), changed=True)
    return change_file(file, lambda text: _without_hooks(client, text), dry_run=dry_run)


def _with_hooks(client: str, text: str, command: str) -> str:
    if client == "cursor" and not text.strip():
        text = with_member("", ["version"], 1)
    for event in EVENTS[client]:
        text = with_element(text, [HOOKS, event], _entry(client, command))
    return text


def _without_hooks(client: str, text: str) -> str:
    for event in EVENTS[client]:
        text = without_elements(text, [HOOKS, event], _is_ours)
    return text


def _entry(client: str, command: str) -> Any:
    """Return the entry for one event in the form of the client."""
    if client == "cursor":
        return {"command": command}
    seconds = 1000 * SECONDS if client == "gemini-cli" else SECONDS  # Gemini CLI counts milliseconds
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def _commands(entry: Any) -> list[str]:
    """Return the commands of the program in an entry."""
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    each = [entry, *(inner if isinstance(inner, list) else [])]
    found = [one.get("command") for one in each if isinstance(one, dict)]
    return [one for one in found if isinstance(one, str) and any(mark in one for mark in MARKS)]


def _is_ours(entry: Any) -> bool:
    return bool(_commands(entry))
