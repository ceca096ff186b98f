"""Making, renaming and deleting named memories."""

from __future__ import annotations

from dataclasses import dataclass

from backends import store_exists
from backends.sqlite_named import delete_memory, in_use, rename_memory
from engine.base.error_translation import translated
from engine.base.errors import BusyError, ConflictError, NotFoundError
from engine.engine import Engine
from engine.named.folder import delete_in, foreign_in, rename_in
from engine.named.listing import Memory, described, names_in
from engine.store.named_places import root_of


@dataclass(frozen=True, slots=True)
class Removal:
    """What deleting a memory did, or with `dry_run` would do."""

    memory: Memory
    """As it was."""
    kept: tuple[str, ...]
    """Files in its folder that are not of it: they stay, with their folder."""
    cleared: bool
    """Nothing of it is left in the store's own files. False: others have the SQLite file open, and its
    write-ahead log holds some until they are done."""


def create(url: str, name: str, *, actor: str = "user") -> bool:
    """Make a memory of this name unless there is one; returns whether it was made just now.

    Raises:
        InvalidInputError: it is no name, or `url` can hold none.
        BusyError: somebody else has it open.
    """
    place = root_of(url).url_of(name)
    with translated():
        there = store_exists(place)
    Engine.open(place, actor=actor).close()
    return not there


def rename(url: str, old: str, new: str, *, dry_run: bool = False) -> None:
    """Give a memory another name, in one step: nobody ever finds both, or neither.

    With `dry_run`, only look whether that would go.

    Raises:
        NotFoundError: there is none of the name `old`.
        ConflictError: something of the name `new` is there.
        BusyError: somebody has it open.
    """
    root = root_of(url)
    root.url_of(old)
    root.url_of(new)
    known = names_in(root)
    _needed(old, known, url)
    if new in known:
        raise ConflictError(f"there is a memory {new!r} already", hint="choose another name")
    if dry_run:
        return
    with translated():
        if root.is_file:
            rename_memory(str(root.path), old, new)
        else:
            rename_in(root.path, old, new)


def delete(url: str, name: str, *, dry_run: bool = False) -> Removal:
    """Delete a memory and everything in it; backups and copies are not reached.

    Raises:
        NotFoundError: there is none of this name.
        BusyError: somebody has it open.
    """
    root = root_of(url)
    root.url_of(name)
    _needed(name, names_in(root), url)
    found = described(root, name)
    with translated():
        if found.state == "busy" or (root.is_file and in_use(str(root.path), name)):
            raise BusyError(f"memory {name!r} is in use", hint="close it there first")
        if dry_run:
            kept = [] if root.is_file else foreign_in(root.path / name)
            return Removal(found, tuple(map(str, kept)), cleared=False)
        if root.is_file:
            return Removal(found, (), cleared=delete_memory(str(root.path), name))
        return Removal(found, tuple(map(str, delete_in(root.path, name))), cleared=True)


def _needed(name: str, known: list[str], url: str) -> None:
    if name not in known:
        said = f"there are: {', '.join(known)}" if known else "there are none"
        raise NotFoundError(f"there is no memory {name!r} in {url}", hint=said)
