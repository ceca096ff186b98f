"""The action `install` of the command mcp: it adds the server to the configuration of a client."""

from __future__ import annotations

from typing import Any, Final

from backends import locate
from engine.base.error_translation import translated
from engine.base.errors import InvalidInputError
from engine.cli.output import plain
from engine.cli.session import Session
from engine.cli.shapes import line
from engine.memories.settings import VARIABLE

NO_ENTRY: Final[dict[str, Any]] = {"name": "memory", "project": False, "replace": False, "printed": False}
"""The default options of install."""


def install_server(
    session: Session,
    given: str | None,
    *,
    read_only: bool,
    profile: str,
    mode: str | None,
    name: str,
    project: bool,
    replace: bool,
    printed: bool,
) -> int:
    """Add the server to the configuration of the client `given`, or print the entry; return the exit code.

    Raises:
        InvalidInputError: the client is unknown, the store is in memory, or the file is malformed.
        ConflictError: the file has a different entry with this name.
    """
    # Imported late: the server itself does not need these modules, and its first answer must come soon.
    from engine.mcp.clients.install import NAME, install, program, snippet
    from engine.mcp.clients.known import CLIENTS, client_of

    if given is None:
        raise InvalidInputError("install needs the name of a client", hint=f"one of: {', '.join(CLIENTS)}")
    if not NAME.fullmatch(name):
        raise InvalidInputError("--name takes at most 64 of the characters A-Z a-z 0-9 _ -")
    client = client_of(given)
    options = [*_options(session, read_only=read_only, profile=profile, mode=mode)]
    entry = client.entry([*program(), "mcp", *options], {VARIABLE: _absolute(session.setting.url)})
    file = client.project_file() if project else client.user_file()
    data = {"client": client.title, "file": str(file), "entry": entry}
    if printed:
        session.out.note(f"add this to {file}")
        return session.out.answer(data, [snippet(client, name, entry)])
    done = install(client, file, name, entry, replace=replace)
    said = "nothing to do: the entry is there already"
    if done.changed:
        said = "replaced" if done.replaced else "added"
    session.out.note(f"{said}; {client.title}: {client.restart}" if done.changed else said)
    shown = [line("client", client.title), line("file", done.file), line("store", entry["env"][VARIABLE])]
    backup = [] if done.backup is None else [line("backup", done.backup)]
    return session.out.answer(data | plain(done), [*shown, *backup])


def _options(session: Session, *, read_only: bool, profile: str, mode: str | None) -> list[str]:
    """Return the server options that the user gave, for the client's entry."""
    found = ["--read-only"] if read_only else []
    found += ["--profile", profile] if profile != "memory" else []
    found += ["--secrets", mode] if mode is not None else []
    for name in ("actor", "wait"):
        found += [f"--{name}", str(getattr(session, name))] if name in session.given else []
    return found


def _absolute(url: str) -> str:
    """Return the URL of a store with a full path, because clients start the server in other folders.

    Raises:
        InvalidInputError: the store is in memory.
    """
    with translated():
        location = locate(url)
        if location.kind == "postgresql":
            return url
        place = location.file
        if place is None:
            raise InvalidInputError(
                "a store in memory would be empty whenever the client starts the server",
                hint="name a store with --store",
            )
        return f"{location.scheme}:{place}"
