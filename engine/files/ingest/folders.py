"""The folder that each source belongs to.

Two folders of the same name must not replace each other's notes. The first component of a source is the name
of a folder, and the path of this folder is recorded in each atom. If the recorded path and the present path
differ, the sources belong to another folder, or the folder was moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from blake3 import blake3

from backends.base import Reader
from engine.base import validation
from engine.base.errors import InvalidInputError, RefusedError
from engine.base.limits import FOLDER_BYTES_MAX
from engine.commands.file_texts import atoms_of
from engine.files.ingest.walk import source_of
from engine.followers.tags import values
from engine.ledger.queries import bodies_of
from proofs.leaves import State
from proofs.sets import Group


def folders_of(paths: Iterable[str | Path], *, name: str | None, root: str | Path | None) -> dict[str, str]:
    """Return a mapping from the first component of each source to the path of the folder.

    Raises:
        InvalidInputError: two folders have the same name.
    """
    found: dict[str, str] = {}
    for path in map(Path, paths):
        first = source_of(path, name=name, root=root).partition("/")[0]
        folder = Path(root) if root is not None else path if path.is_dir() else path.absolute().parent
        recorded = recorded_form(os.path.realpath(folder))
        if found.setdefault(first, recorded) != recorded:
            raise InvalidInputError(
                f"two folders are named {first}: {found[first]} and {recorded}",
                hint="ingest them one after the other, one of them with --name",
            )
    return found


def recorded_form(path: str) -> str:
    """Return the recorded form of a path: the path, or its hash if the path is not one line of text."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    try:
        return validation.line(text, "folder", FOLDER_BYTES_MAX)
    except InvalidInputError:
        return f"blake3:{blake3(os.fsencode(path)).hexdigest()}"


def check_folders(rows: Reader, folders: Mapping[str, str], present: Iterable[str], *, moved: bool) -> None:
    """Check that recorded sources come from the folders of this run.

    Args:
        rows: The rows of the store, with the follower `tags` at the head.
        folders: The first component of each source → the path of the folder in this run.
        present: The sources of the files in this run.
        moved: Accept a different recorded path.

    Raises:
        RefusedError: recorded sources with one of these first components came from a different folder.
    """
    for name, folder in folders.items():
        prefix = f"{name}/"
        here = [source for source in present if source.startswith(prefix)]
        recorded = next(_recorded(rows, [*here, *_others(rows, prefix, here)]), None)
        if recorded not in {None, folder} and not moved:
            raise RefusedError(
                f"the sources {name}/... were ingested from a different folder, {recorded}",
                hint="if this is another folder, name it with --name; if the folder was moved, use --moved",
            )


def _others(rows: Reader, prefix: str, here: Iterable[str]) -> Iterator[str]:
    seen = set(here)
    for source in values(rows, Group.SOURCE, prefix):
        if not source.startswith(prefix):
            return
        if source not in seen:
            yield source


def _recorded(rows: Reader, sources: Iterable[str]) -> Iterator[str]:
    """Yield, for each source, the recorded folder of one live atom, if that atom has a folder."""
    for source in sources:
        for record in atoms_of(rows, source).values():
            if record.state is State.LIVE:
                if (folder := bodies_of(rows, [record])[0].folder) is not None:
                    yield folder
                break
