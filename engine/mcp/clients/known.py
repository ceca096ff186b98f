"""The known clients, and the configuration file in which each client lists its MCP servers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.base.errors import InvalidInputError

_XDG: Final = "~/.config/"


@dataclass(frozen=True, slots=True)
class Client:
    """A program that starts MCP servers."""

    title: str
    """The name of the program in the spelling of its maker."""
    folder: str
    """The folder of the user's configuration file; `~` is the home folder."""
    file: str
    """The name of the configuration file in this folder."""
    project: str | None = None
    """The configuration file of a project, relative to the project's folder; None if the client has none."""
    key: str = "mcpServers"
    """The name of the member of the file that maps the names of servers to their entries."""
    typed: bool = False
    """True if the entry of a server has a field for the transport."""
    on_mac: str | None = None
    """The folder of the user's configuration on macOS, if it differs."""
    variable: str | None = None
    """An environment variable that names another folder of the user's configuration."""
    restart: str = "restart it"
    """What the user must do after a change so that the client starts the server."""

    @property
    def is_toml(self) -> bool:
        """True if the file is TOML; otherwise it is JSON, possibly with comments."""
        return self.file.endswith(".toml")

    def user_file(self) -> Path:
        """Return the path of the user's configuration file."""
        if self.variable is not None and (named := os.environ.get(self.variable)):
            return Path(named).expanduser() / self.file
        on_mac = sys.platform == "darwin"
        folder = self.on_mac if on_mac and self.on_mac is not None else self.folder
        base = os.environ.get("XDG_CONFIG_HOME", "")
        if not on_mac and folder.startswith(_XDG) and Path(base).is_absolute():
            return Path(base) / folder.removeprefix(_XDG) / self.file
        return Path(folder).expanduser() / self.file

    def project_file(self) -> Path:
        """Return the path of the configuration file for the project in the current folder.

        Raises:
            InvalidInputError: the client has no such file.
        """
        if self.project is None:
            raise InvalidInputError(f"{self.title} has no configuration for a project", hint="omit --project")
        return Path.cwd() / self.project

    def entry(self, command: list[str], variables: Mapping[str, str]) -> dict[str, Any]:
        """Return the entry for a server that is started with `command` and the environment `variables`."""
        entry = {"command": command[0], "args": command[1:], "env": dict(variables)}
        return {"type": "stdio", **entry} if self.typed else entry


CLIENTS: Final[Mapping[str, Client]] = {
    "claude-desktop": Client(
        "Claude Desktop",
        "~/.config/Claude",
        "claude_desktop_config.json",
        on_mac="~/Library/Application Support/Claude",
        restart="quit it completely and start it again",
    ),
    "claude-code": Client(
        "Claude Code",
        "~",
        ".claude.json",
        project=".mcp.json",
        typed=True,
        variable="CLAUDE_CONFIG_DIR",
        restart="start a new session",
    ),
    "cursor": Client("Cursor", "~/.cursor", "mcp.json", project=".cursor/mcp.json"),
    "vs-code": Client(
        "VS Code",
        "~/.config/Code/User",
        "mcp.json",
        project=".vscode/mcp.json",
        key="servers",
        typed=True,
        on_mac="~/Library/Application Support/Code/User",
        restart='run "MCP: List Servers" from the command palette',
    ),
    "codex": Client(
        "Codex",
        "~/.codex",
        "config.toml",
        project=".codex/config.toml",
        key="mcp_servers",
        variable="CODEX_HOME",
        restart="start a new session",
    ),
    "gemini-cli": Client(
        "Gemini CLI",
        "~/.gemini",
        "settings.json",
        project=".gemini/settings.json",
        restart="start a new session",
    ),
    "windsurf": Client(
        "Windsurf",
        "~/.codeium/windsurf",
        "mcp_config.json",
        restart="refresh the list of servers in the Cascade panel",
    ),
    "zed": Client(
        "Zed",
        "~/.config/zed",
        "settings.json",
        project=".zed/settings.json",
        key="context_servers",
        restart="look at the servers in the settings of the agent panel",
    ),
}
"""Maps the full names that `engine mcp install` accepts to the clients."""


def client_of(name: str) -> Client:
    """Return the client with this name; case, spaces and hyphens are ignored.

    Raises:
        InvalidInputError: there is no such client.
    """
    plain = _plain(name)
    # A shorter name, such as `gemini`, is accepted if it begins the name of only one client.
    found = [client for known, client in CLIENTS.items() if plain and _plain(known).startswith(plain)]
    if len(found) != 1:
        raise InvalidInputError(
            f"there is no client {ascii(name)[:80]}", hint=f"choose among: {', '.join(CLIENTS)}"
        )
    return found[0]


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character not in " -_")
