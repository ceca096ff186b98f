"""Import and export in the formats of other memory programs, with one module for each format."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from engine.base.errors import InvalidInputError, translated
from engine.base.outside_files import require_folder
from engine.exchange.other_programs.program_items import ItemsExported, ReadItems, WriteFile, WriteFolder
from engine.files.atomic_output import new_file, new_folder
from engine.store.store import Store

STDOUT: Final = "-"

READERS: Final = {
    "chatgpt": "chat_exports.read_chatgpt",
    "claude": "chat_exports.read_claude",
    "mem0": "mem0.read",
}
"""The formats that can be imported, each with its module here and the function that reads it."""

WRITERS: Final = {"mcp-memory": "mcp_memory.write", "mem0": "mem0.write"}
"""The formats that can be exported as one file, each with the function that writes it."""

FOLDER_WRITERS: Final = {"basic-memory": "basic_memory.write"}
"""The formats that can be exported as a folder, each with the function that writes it."""


def reader(form: str) -> ReadItems:
    """Return the function that reads a format.

    Raises:
        InvalidInputError: there is no such format.
    """
    read: ReadItems = _function(READERS, form)
    return read


def check_file(form: str, path: Path) -> None:
    """Check that an import can begin to read the file at `path`.

    Raises:
        NotFoundError: `path` does not exist.
        InvalidInputError: according to its first bytes, the file does not have this format.
    """
    next(iter(reader(form)(path)), None)


def export_items(store: Store, form: str, path: str | Path) -> ItemsExported:
    """Write the live atoms to a new file or a new folder, in the format of another memory program.

    Args:
        store: The store.
        form: One of `WRITERS` or `FOLDER_WRITERS`.
        path: The file or folder to create; `-` is stdout, for formats that consist of one file.

    Raises:
        InvalidInputError: there is no such format, or the format is a folder and `path` is stdout.
        NotFoundError: the folder in which `path` is to be created does not exist.
        RefusedError: `path` exists.
    """
    with translated():
        if form in FOLDER_WRITERS:
            if str(path) == STDOUT:
                raise InvalidInputError(
                    f"the format {form} is a folder, which cannot be written to stdout",
                    hint="name a new folder",
                )
            require_folder(Path(path))
            to_folder: WriteFolder = _function(FOLDER_WRITERS, form)
            with new_folder(Path(path)) as folder:
                return to_folder(store, folder)
        to_file: WriteFile = _function(WRITERS, form)
        if str(path) == STDOUT:
            return to_file(store, sys.stdout.buffer.write)
        require_folder(Path(path))
        with new_file(Path(path)) as file:
            return to_file(store, file.write)


def _function(formats: Mapping[str, str], form: str) -> Any:
    if form not in formats:
        raise InvalidInputError(
            f"there is no format {form!a:.80}", hint=f"the formats are: {', '.join(formats)}"
        )
    module, function = formats[form].split(".")
    return getattr(import_module(f"{__name__}.{module}"), function)
