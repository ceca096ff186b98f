"""Finding the files to read in the folders that a person names, always in the same order.

No symbolic link inside a folder is followed, nothing that is not a regular file is opened, and
hidden names are passed over: naming a folder gives what is in it and nothing else.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Final

from engine.base.errors import InvalidInputError, NotFoundError
from engine.transfer.ingest.checks import source_fault
from engine.transfer.ingest.documents import Format, Found, Skipped

MIRROR_MARK: Final = b".engine-mirror.json"
"""The manifest of a mirror (`engine.transfer.mirror.manifest`)."""

FORMATS: Final[dict[str, Format]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
"""Suffix, in lower case, to format."""


def find_files(
    paths: Iterable[str | Path], *, name: str | None = None, root: str | Path | None = None
) -> Iterator[Found | Skipped]:
    """The files to read under `paths`, in the order given, each folder by the bytes of its relative paths.

    Args:
        paths: folders, searched to any depth, and single files.
        name: the first component of every source; else the name of `root`, of the folder, or of the
            folder that a single file is in.
        root: a folder that holds all `paths`: sources are then the paths from it, so that a part of a
            folder gives the sources that the whole folder gives.

    Returns:
        `Found` for each file with a suffix in `FORMATS`. `Skipped` for a single file with another
        suffix, and for what looks like one of ours and cannot be read: a symbolic link inside a folder,
        a pipe, socket or device, a name that is not UTF-8 or no valid source, a folder that cannot be
        listed, a source that was found before. Hidden entries and other suffixes in folders are passed over
        without a word.

    Raises:
        NotFoundError: a path is not there; nothing was read.
        InvalidInputError: `name` cannot be the first component of a source; a path is not in `root`.
    """
    if name is not None and ("/" in name or name in {"", ".", ".."} or source_fault(name)):
        raise InvalidInputError(f"name {name!r} cannot start a source", hint="give a plain name without /")
    given = [Path(path) for path in paths]
    for path in given:
        if not os.path.lexists(path):
            raise NotFoundError(f"no such file or folder: {path}")
    starts = [(path, source_of(path, name=name, root=root)) for path in given]
    return _once(item for path, source in starts for item in _under(path, source))


def source_of(path: Path, *, name: str | None, root: str | Path | None) -> str:
    """The source of a file, or what the sources of the files in a folder begin with, before a `/`.

    Raises:
        InvalidInputError: `path` is not in `root`.
    """
    real = Path(os.path.realpath(path))
    if root is not None:
        base = Path(os.path.realpath(root))
        if not real.is_relative_to(base):
            raise InvalidInputError(f"{path} is not in {root}", hint="give a root that holds all paths")
        return "/".join([name or _folder_name(Path(root), base), *real.relative_to(base).parts])
    if real.is_dir():
        return name or _folder_name(path, real)
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 -- resolve would follow the link
    return f"{name or _folder_name(absolute.parent, real.parent)}/{absolute.name}"


def _once(items: Iterable[Found | Skipped]) -> Iterator[Found | Skipped]:
    """The items; a file with the source of an earlier one is skipped, or it would replace its atoms."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, Found):
            if item.source in seen:
                yield Skipped(item.source, "another file has this source already; read it under another name")
                continue
            seen.add(item.source)
        yield item


def _under(root: Path, source: str) -> Iterator[Found | Skipped]:
    """What `root`, a folder or a file, gives under `source`."""
    try:
        # A link that a person names is followed; links met on the way are not.
        real = root.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError) as error:
        yield Skipped(_shown(str(root)), _reason(error))
        return
    if stat.S_ISDIR(mode):
        yield from _walk(real, source)
        return
    file_format = _format(source)
    if file_format is None:
        known = " ".join(FORMATS)
        yield Skipped(_shown(source), f"unknown kind of file; the suffixes read are {known}")
    elif not stat.S_ISREG(mode):
        yield Skipped(_shown(source), "not a regular file")
    else:
        yield _found(os.fsencode(real), os.fsencode(source), file_format)


def _folder_name(given: Path, real: Path) -> str:
    """The last component as given, or of the real path where that is no name (`.`, `..`); `root` for `/`."""
    named = given.name not in {"", ".."}
    return (given.name if named else real.name) or "root"


def _walk(root: Path, prefix: str) -> Iterator[Found | Skipped]:
    """What is in the folder `root`, depth first; a stack of our own, because folders can nest deeply."""
    top = os.fsencode(root)
    first = os.fsencode(prefix)
    pending: list[tuple[bytes, bool]] = [(b"", True)]
    while pending:
        relative, is_folder = pending.pop()
        path = top + b"/" + relative
        source = first + b"/" + relative
        if is_folder:
            try:
                entries = _entries(path, relative)
            except OSError as error:
                yield Skipped(_shown(os.fsdecode(source.rstrip(b"/"))), _reason(error))
                continue
            if os.path.lexists(os.path.join(path, MIRROR_MARK)):  # noqa: PTH118 -- bytes
                # A mirror, passed over like a hidden folder: read back, it doubled with every ingest.
                continue
            pending.extend(reversed(entries))
        elif (item := _entry(path, source, top)) is not None:
            yield item


def _entries(path: bytes, relative: bytes) -> list[tuple[bytes, bool]]:
    """The relative paths in a folder that are not hidden, sorted; folders end with `/`, as in a path."""
    with os.scandir(path) as listing:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
    kept = [(name, folder) for name, folder in found if not name.startswith(b".")]
    return sorted((relative + name + (b"/" if folder else b""), folder) for name, folder in kept)


def _entry(path: bytes, source: bytes, top: bytes) -> Found | Skipped | None:
    """What an entry that is no folder gives; None where there is nothing to say about it."""
    file_format = _format(os.fsdecode(source))
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            reason = _link_reason(path, top, file_format)
            return Skipped(_shown(os.fsdecode(source)), reason) if reason else None
    except OSError as error:
        return Skipped(_shown(os.fsdecode(source)), _reason(error)) if file_format else None
    if file_format is None:
        return None
    if not stat.S_ISREG(mode):
        return Skipped(_shown(os.fsdecode(source)), "not a regular file")
    return _found(path, source, file_format)


def _link_reason(path: bytes, top: bytes, file_format: Format | None) -> str | None:
    """Why a symbolic link is not followed; None for one to a file that would not be read anyway."""
    try:
        target = os.path.realpath(path, strict=True)
    except OSError as error:
        return "a symbolic link in a loop" if error.errno == errno.ELOOP else "a symbolic link to nothing"
    if file_format is None and not Path(os.fsdecode(target)).is_dir():
        return None
    if os.path.commonpath([target, top]) != top:
        return "a symbolic link that leads out of the folder"
    return "a symbolic link; what it leads to is read in its own place"


def _found(path: bytes, source: bytes, file_format: Format) -> Found | Skipped:
    """The file, if its name is text that can be a source."""
    try:
        text = unicodedata.normalize("NFC", source.decode())
    except UnicodeDecodeError:
        return Skipped(_shown(os.fsdecode(source)), "the name is not UTF-8")
    if (reason := source_fault(text)) is not None:
        return Skipped(_shown(text), reason)
    return Found(Path(os.fsdecode(path)), text, file_format)


def _format(name: str) -> Format | None:
    """The format that a suffix stands for."""
    return FORMATS.get(PurePath(name).suffix.lower())


def _shown(name: str) -> str:
    """A name that may hold anything, as valid text for a report."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _reason(error: Exception) -> str:
    """What an operating system error means, without the path."""
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read: {error.strerror.lower()}"
    return "cannot be read: a symbolic link in a loop"
