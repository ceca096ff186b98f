"""The clients whose sessions can be taken in, with one module for each client.

Each module has a function `find`, which yields the transcripts in a folder or file, and a function `read`,
which yields the records of a transcript from a position on. Everything else is the same for all clients.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from engine.base.errors import InvalidInputError, NotFoundError
from engine.capture.transcripts import Record, Transcript


@dataclass(frozen=True, slots=True)
class Client:
    """A program that keeps transcripts, and where it keeps them."""

    name: str
    folder: str
    """The default folder of the transcripts; `~` is the home folder."""
    variable: str | None = None
    """An environment variable that names another folder above the last part of `folder`."""

    def find(self, place: Path) -> Iterator[Transcript]:
        """Yield the transcripts in a folder, or in one file."""
        yield from self._module().find(place)

    def read(self, transcript: Transcript, start: int) -> Iterator[Record]:
        """Yield the records of a transcript from a position on."""
        yield from self._module().read(transcript, start)

    def place(self, path: str | Path | None = None) -> Path:
        """Return the folder or file with the transcripts: `path`, or the default folder.

        Raises:
            NotFoundError: there is no such folder or file.
        """
        place = self._default() if path is None else Path(path).expanduser()
        if not place.exists():
            raise NotFoundError(f"no sessions of {self.name}: there is no {place}", hint="give the PATH")
        return place

    def _default(self) -> Path:
        folder = Path(self.folder).expanduser()
        if self.variable is not None and (named := os.environ.get(self.variable)):
            return Path(named).expanduser() / folder.name
        return folder

    def _module(self) -> Any:
        return import_module(f"{__name__}.{self.name.replace('-', '_')}")


_ALL: Final = (
    Client("aider", "."),
    Client("claude-code", "~/.claude/projects", "CLAUDE_CONFIG_DIR"),
    Client("codex", "~/.codex/sessions", "CODEX_HOME"),
    Client("cursor", "~/.cursor/projects"),
    Client("gemini-cli", "~/.gemini/tmp"),
    Client("opencode", "~/.local/share/opencode"),
)
CLIENTS: Final = {client.name: client for client in _ALL}
"""The clients by their names."""


def client_named(name: str) -> Client:
    """Return a client.

    Raises:
        InvalidInputError: there is no client of this name.
    """
    if name not in CLIENTS:
        raise InvalidInputError(
            f"there is no client {name!a:.80} with sessions", hint=f"one of: {', '.join(CLIENTS)}"
        )
    return CLIENTS[name]
