"""Find the files to read under the given paths, always in the same order.

Symbolic links inside a folder are not followed, only regular files are opened, and hidden names are ignored.
A folder therefore yields only files that are inside it.
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
from engine.transfer.ingest.documents import Format, Skipped, SourceFile
from engine.transfer.ingest.field_values import source_problem

MIRROR_MARK: Final = b".engine-mirror.json"
"""The name of the manifest of a mirror (`engine.transfer.mirror.manifest`)."""

FORMATS: Final[dict[str, Format]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
"""Suffix, in lower case → format."""


def find_files(
    paths: Iterable[str | Path], *, name: str | None = None, root: str | Path | None = None
) -> Iterator[SourceFile | Skipped]:
    """Return the files to read under `paths`, in the given order; files in a folder are in byte order.

    Args:
        paths: Folders, which are searched to any depth, and single files.
        name: The first component of each source. The default is the name of `root`, of the folder, or of the
            folder that contains a single file.
        root: A folder that contains all `paths`. Sources are then relative to it, so ingesting a part of a
            folder gives the same sources as ingesting the whole folder.

    Returns:
        A `SourceFile` for each file with a suffix in `FORMATS`. A `Skipped` for a single file without such a
        suffix, and for entries that have such a suffix but cannot be read: symbolic links inside a folder,
        pipes, sockets and devices, names that are not UTF-8 or not valid as sources, folders that cannot be
        listed, and files whose source was found before. Hidden entries and files with other suffixes in
        folders are ignored.

    Raises:
        NotFoundError: a path does not exist; no file was read.
        InvalidInputError: `name` is not valid as the first component of a source, or a path is not in `root`.
    """
    if name is not None and ("/" in name or name in {"", ".", ".."} or source_problem(name)):
        raise InvalidInputError(
            f"the name {name!r} is not valid as the start of a source", hint="give a plain name without /"
        )
    tops = [Path(path) for path in paths]
    for path in tops:
        if not os.path.lexists(path):
            raise NotFoundError(f"no such file or folder: {path}")
    starts = [(path, source_of(path, name=name, root=root)) for path in tops]
    return _unique_sources(item for path, source in starts for item in _search(path, source))


def source_of(path: Path, *, name: str | None, root: str | Path | None) -> str:
    """Return the source of a file. For a folder, return the prefix (without `/`) of the sources of its files.

    Raises:
        InvalidInputError: `path` is not in `root`.
    """
    real = Path(os.path.realpath(path))
    if root is not None:
        base = Path(os.path.realpath(root))
        if not real.is_relative_to(base):
            raise InvalidInputError(f"{path} is not in {root}", hint="give a root that contains all paths")
        return "/".join([name or _folder_name(Path(root), base), *real.relative_to(base).parts])
    if real.is_dir():
        return name or _folder_name(path, real)
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 -- resolve would follow the link
    return f"{name or _folder_name(absolute.parent, real.parent)}/{absolute.name}"


def _unique_sources(items: Iterable[SourceFile | Skipped]) -> Iterator[SourceFile | Skipped]:
    """Yield the items, with a report in place of each file that has the same source as an earlier file.

    Such a file would replace the atoms of the earlier file.
    """
    seen: set[str] = set()
    for item in items:
        if isinstance(item, SourceFile):
            if item.source in seen:
                yield Skipped(item.source, "another file has the same source; ingest this file with --name")
                continue
            seen.add(item.source)
        yield item


def _search(root: Path, source: str) -> Iterator[SourceFile | Skipped]:
    """Yield the file `root`, or the files in the folder `root`; their sources begin with `source`."""
    try:
        # A symbolic link given as a path is followed; links inside a folder are not.
        real = root.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError) as error:
        yield Skipped(_printable(str(root)), _describe(error))
        return
    if stat.S_ISDIR(mode):
        yield from _walk(real, source)
        return
    file_format = _format(source)
    if file_format is None:
        known = " ".join(FORMATS)
        yield Skipped(_printable(source), f"unknown kind of file; the supported suffixes are {known}")
    elif not stat.S_ISREG(mode):
        yield Skipped(_printable(source), "not a regular file")
    else:
        yield _source_file(os.fsencode(real), os.fsencode(source), file_format)


def _folder_name(path: Path, real: Path) -> str:
    """Return the last component of `path`.

    If the component is `.` or `..`, return the last component of the real path. For `/`, return `root`.
    """
    named = path.name not in {"", ".."}
    return (path.name if named else real.name) or "root"


def _walk(root: Path, prefix: str) -> Iterator[SourceFile | Skipped]:
    """Yield the files in the folder `root`, depth first; not recursive, because folders can nest deeply."""
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
                yield Skipped(_printable(os.fsdecode(source.rstrip(b"/"))), _describe(error))
                continue
            if os.path.lexists(os.path.join(path, MIRROR_MARK)):  # noqa: PTH118 -- bytes
                # A mirror is ignored like a hidden folder: otherwise each ingest would double its contents.
                continue
            pending.extend(reversed(entries))
        elif (item := _entry(path, source, top)) is not None:
            yield item


def _entries(path: bytes, relative: bytes) -> list[tuple[bytes, bool]]:
    """Return (relative path, True if it is a folder) for each entry of a folder, except hidden entries.

    The paths are sorted, and the paths of folders end in `/`.
    """
    with os.scandir(path) as listing:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
    visible = [(name, folder) for name, folder in found if not name.startswith(b".")]
    return sorted((relative + name + (b"/" if folder else b""), folder) for name, folder in visible)


def _entry(path: bytes, source: bytes, top: bytes) -> SourceFile | Skipped | None:
    """Return the file or report for an entry that is not a folder, or None if the entry is ignored."""
    file_format = _format(os.fsdecode(source))
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            reason = _link_reason(path, top, file_format)
            return Skipped(_printable(os.fsdecode(source)), reason) if reason else None
    except OSError as error:
        return Skipped(_printable(os.fsdecode(source)), _describe(error)) if file_format else None
    if file_format is None:
        return None
    if not stat.S_ISREG(mode):
        return Skipped(_printable(os.fsdecode(source)), "not a regular file")
    return _source_file(path, source, file_format)


def _link_reason(path: bytes, top: bytes, file_format: Format | None) -> str | None:
    """Return the reason why a symbolic link is skipped, or None if it is ignored without a report.

    A link is ignored if its target would be ignored, too.
    """
    try:
        target = os.path.realpath(path, strict=True)
    except OSError as error:
        return "a symbolic link in a loop" if error.errno == errno.ELOOP else "a broken symbolic link"
    if file_format is None and not Path(os.fsdecode(target)).is_dir():
        return None
    if os.path.commonpath([target, top]) != top:
        return "a symbolic link to a target outside the folder"
    return "a symbolic link; the target is read at the path of the target"


def _source_file(path: bytes, source: bytes, file_format: Format) -> SourceFile | Skipped:
    """Return the file, or a report if its name is not valid as a source."""
    try:
        text = unicodedata.normalize("NFC", source.decode())
    except UnicodeDecodeError:
        return Skipped(_printable(os.fsdecode(source)), "the name is not UTF-8")
    if (reason := source_problem(text)) is not None:
        return Skipped(_printable(text), reason)
    return SourceFile(Path(os.fsdecode(path)), text, file_format)


def _format(name: str) -> Format | None:
    """Return the format that belongs to the suffix of a file name, or None if the suffix is not supported."""
    return FORMATS.get(PurePath(name).suffix.lower())


def _printable(name: str) -> str:
    """Return a file name as valid text for a report; bytes that are not UTF-8 are escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _describe(error: Exception) -> str:
    """Return a description of an operating system error without the path."""
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read: {error.strerror.lower()}"
    return "cannot be read: a symbolic link in a loop"
