"""The known clients, and adding the server to the configuration file of one of them."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from engine.base.errors import ConflictError, EngineError, InvalidInputError, system_failure
from engine.mcp.client_config_edit import with_member, with_table, written

PROGRAMS: Final = ("engine", "memroot")
"""The two names of the installed command."""

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Matches each server name that is valid in all clients."""

BYTES_MAX: Final = 64 << 20
"""The maximum size of a configuration file, in bytes."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of changing the configuration file of a client."""

    file: str
    changed: bool = False
    """False if the file was already as it should be."""
    replaced: bool = False
    """True if the entry took the place of another one with its name."""
    backup: str | None = None
    """The path of a copy of the old file; None if nothing was copied."""


def program() -> list[str]:
    """Return the first words of a command line that starts memroot from any folder.

    If memroot runs in a temporary environment of uv or pipx, the command line starts memroot with `uvx` or
    `pipx run`.
    """
    invoked = shutil.which(sys.argv[0]) or sys.argv[0]
    if Path(invoked).name not in PROGRAMS or not Path(invoked).is_file():
        return [sys.executable, "-m", "engine"]
    parts = Path(invoked).resolve().parts
    if any(part.startswith("archive-v") for part in parts) and "uv" in parts:
        return [_beside("uvx", os.environ.get("UV")), *_origin("--from"), "memroot"]
    if "pipx" in parts and "venvs" not in parts and {".cache", "Caches"} & set(parts):
        return [_beside("pipx", None), "run", *_origin("--spec"), "memroot"]
    return [str(Path(invoked).absolute())]


def _origin(option: str) -> list[str]:
    """Return `option` with the file or address of the package, or [] if an index supplied the package."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        said = distribution("memroot").read_text("direct_url.json")
    except PackageNotFoundError:
        return []
    url = "" if said is None else json.loads(said)["url"]
    if url.startswith("file:"):
        url = unquote(urlsplit(url).path)
    return [option, url] if url else []


def _beside(name: str, other: str | None) -> str:
    """Return the path of a program in the folder of `other` or on the PATH; if it is in neither, its name."""
    if other is not None and (path := Path(other).with_name(name)).is_file():
        return str(path)
    return shutil.which(name) or name


def snippet(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text to paste into the configuration file of a client; no line end follows the text."""
    if client.is_toml:
        return written([client.key, name], entry).rstrip("\n")
    return json.dumps({client.key: {name: entry}}, indent=2, ensure_ascii=False)


def install(client: Client, file: Path, name: str, entry: Mapping[str, Any], *, replace: bool) -> Changed:
    """Add the entry of the server `name` to a file, and keep a copy of the old file in the same folder.

    Other entries and comments are unchanged. The file is replaced in one step, so a partly written file never
    exists. If the path is a symbolic link, the link stays and its target is replaced.

    Raises:
        InvalidInputError: the file is malformed or not a regular file; nothing was written.
        ConflictError: the file has another entry with this name, and `replace` is False; or another program
            changed the file meanwhile. Nothing was written.
        SystemFailureError: the file cannot be read or written.
    """
    replaced = False
    edit, path = with_table if client.is_toml else with_member, [client.key, name]

    def edited(text: str) -> str:
        nonlocal replaced
        try:
            return edit(text, path, dict(entry))
        except ConflictError:
            if not replace:
                raise ConflictError(
                    f"{file} has another entry {client.key}.{name}",
                    hint="--replace replaces it; --name NAME adds an entry with another name",
                ) from None
        replaced = True
        return edit(text, path, dict(entry), replace=True)

    done = change_file(file, edited)
    return dataclasses.replace(done, replaced=replaced)


def change_file(
    file: Path, edit: Callable[[str], str], *, keep: bool = True, dry_run: bool = False
) -> Changed:
    """Change the text of a file in one step.

    A missing file has an empty text. With `keep`, a copy of the old file is kept in the same folder. With
    `dry_run`, nothing is written.

    Raises:
        InvalidInputError: the file is malformed or not a regular file; nothing was written.
        ConflictError: `edit` raises it; or another program changed the file meanwhile.
        SystemFailureError: the file cannot be read or written.
    """
    before = text_of(file)
    try:
        after = edit(before or "")
    except ConflictError:
        raise
    except EngineError as error:
        raise type(error)(f"{file}: {error}", hint=error.hint) from None
    is_changed, backup = after != (before or ""), None
    if is_changed and not dry_run:
        backup = None if before is None or not keep else _backed_up(file, before.encode())
        _replace(file, before, after)
    return Changed(str(file), is_changed, backup=backup)


def text_of(file: Path) -> str | None:
    """Return the text of a configuration file, or None if the file does not exist.

    Raises:
        InvalidInputError: the file is not a regular file, too large or not UTF-8.
        SystemFailureError: the file cannot be read.
    """
    try:
        # A FIFO would block until somebody writes to it.
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise InvalidInputError(f"{file} is not a regular file")
            raw = opened.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise system_failure(error, f"{file} cannot be read") from error
    if len(raw) > BYTES_MAX:
        raise InvalidInputError(f"{file} is larger than {BYTES_MAX:,} bytes")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{file} is not UTF-8 at byte {error.start}", hint="repair the file"
        ) from None


def _backed_up(file: Path, content: bytes) -> str:
    """Write a copy of a file to the same folder under an unused name, and return the path of the copy."""
    from engine.files.atomic_output import new_file

    number, backup = 1, file.with_name(f"{file.name}.bak")
    while backup.exists() or backup.is_symlink():
        number += 1
        backup = file.with_name(f"{file.name}.bak{number}")
    with new_file(backup) as copy:
        copy.write(content)
    return str(backup)


def _replace(file: Path, before: str | None, after: str) -> None:
    from engine.files.atomic_output import new_file

    place = file.resolve()

    def check(new: Path) -> None:
        if before is not None:
            new.chmod(place.stat().st_mode & 0o7777)
        if text_of(place) != before:
            raise ConflictError(f"{file} was changed by another program meanwhile", hint="try again")

    with new_file(place, replace=True, check=check) as out:
        out.write(after.encode())


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
    clients = [client for title, client in CLIENTS.items() if plain and _plain(title).startswith(plain)]
    if len(clients) != 1:
        raise InvalidInputError(
            f"there is no client {ascii(name)[:80]}", hint=f"choose among: {', '.join(CLIENTS)}"
        )
    return clients[0]


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character not in " -_")
