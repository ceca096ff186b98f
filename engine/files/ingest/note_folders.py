"""Folders of this machine in which people keep notes: vaults of Obsidian, and folders named for notes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

_CONFIGURATIONS: Final = (
    ".config/obsidian",
    ".var/app/md.obsidian.Obsidian/config/obsidian",
    "snap/obsidian/current/.config/obsidian",
    "Library/Application Support/obsidian",
)
"""Where Obsidian keeps its settings below the home folder: on Linux, as a Flatpak or snap, on macOS."""

_NAMES: Final = frozenset({"notes", "my notes", "notebook", "zettelkasten", "obsidian", "obsidian vault"})
_PARENTS: Final = ("", "Documents")
"""The folders below the home folder in which a folder with one of these names is looked for."""


def note_folders(home: Path) -> list[Path]:
    """Return the folders of notes of a person, each once; a folder inside another one is left out.

    Folders that cannot be read are left out. Whether there are files in them is not checked.
    """
    found: list[Path] = []
    for folder in sorted({path.resolve() for path in _candidates(home) if path.is_dir()}):
        if not any(folder.is_relative_to(other) for other in found):
            found.append(folder)
    return found


def _candidates(home: Path) -> Iterator[Path]:
    for place in _CONFIGURATIONS:
        with suppress(OSError, ValueError, RecursionError):
            settings = json.loads((home / place / "obsidian.json").read_bytes())
            yield from map(Path, _paths_in(settings))
    for parent in _PARENTS:
        with suppress(OSError):
            yield from (Path(one) for one in os.scandir(home / parent) if one.name.lower() in _NAMES)


def _paths_in(settings: Any) -> Iterator[str]:
    """Yield the paths of the vaults in Obsidian's settings: `{"vaults": {id: {"path": …}}}`."""
    vaults = settings.get("vaults") if isinstance(settings, dict) else None
    for vault in vaults.values() if isinstance(vaults, dict) else ():
        path = vault.get("path") if isinstance(vault, dict) else None
        if isinstance(path, str) and os.path.isabs(path) and "\0" not in path:  # noqa: PTH117  text of a file
            yield path
