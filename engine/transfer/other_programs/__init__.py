"""The formats of other memories: one file a format, each of which reads items or writes what is live."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from engine.base.error_translation import translated
from engine.base.errors import InvalidInputError
from engine.store.store import Store
from engine.transfer.atomic_output import new_file, new_folder
from engine.transfer.other_programs.base import Exported, Reads, Writes, WritesFolder

STDOUT: Final = "-"

READERS: Final = ("basic-memory", "chatgpt", "claude", "mem0")
"""Formats that can be imported: the file here of that name has `read`."""

WRITERS: Final = ("mcp-memory", "mem0")
"""Formats that can be exported as one file: the file here of that name has `write`."""

FOLDER_WRITERS: Final = ("basic-memory",)
"""Formats that can be exported as a folder: the file here of that name has `write`."""


def reader(form: str) -> Reads:
    """What reads a format.

    Raises:
        InvalidInputError: there is no such format.
    """
    found: Reads = _module(READERS, form).read
    return found


def check_file(form: str, path: Path) -> None:
    """Make sure that there is something that an import can begin to read.

    Raises:
        NotFoundError: it is not there.
        InvalidInputError: it cannot be of this format, by its first bytes.
    """
    next(iter(reader(form)(path)), None)


def export_items(store: Store, form: str, path: str | Path) -> Exported:
    """Write what is live to a new file, or a new folder, in the format of another memory.

    Args:
        store: The memory.
        form: One of `WRITERS` or `FOLDER_WRITERS`.
        path: Where to; `-` is stdout, for a format that is one file.

    Raises:
        InvalidInputError: there is no such format, or it is a folder and cannot be stdout.
        RefusedError: something is there.
    """
    with translated():
        if form in FOLDER_WRITERS:
            if str(path) == STDOUT:
                raise InvalidInputError(f"{form} is a folder, which cannot be new_file to stdout")
            to_folder: WritesFolder = _module(FOLDER_WRITERS, form).write
            with new_folder(Path(path)) as folder:
                return to_folder(store, folder)
        to_file: Writes = _module(WRITERS, form).write
        if str(path) == STDOUT:
            return to_file(store, sys.stdout.buffer.write)
        with new_file(Path(path)) as file:
            return to_file(store, file.write)


def _module(formats: tuple[str, ...], form: str) -> Any:
    if form not in formats:
        raise InvalidInputError(
            f"there is no format {form!a:.80}", hint=f"choose among: {', '.join(formats)}"
        )
    return import_module(f"{__name__}.{form.replace('-', '_')}")
