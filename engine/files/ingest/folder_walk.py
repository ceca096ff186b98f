"""Find the files to read under the given paths, always in the same order.

Symbolic links inside a folder are not followed, only regular files are opened, and hidden names are passed
over. Therefore only files inside the given folders are found.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, Final

from backends.errors import installing
from engine.base.errors import InvalidInputError, NotFoundError
from engine.files.ingest.documents import EXTRA, Format, PassedOver, Skipped, SourceFile, is_convertible
from engine.files.ingest.exclude import EXCLUDED, GITIGNORE, Exclusions
from engine.files.ingest.field_values import source_problem

MIRROR_MARK: Final = b".engine-mirror.json"
"""The name of the manifest of a mirror (`engine.files.mirror.mirror_place`)."""

FORMATS: Final[dict[str, Format]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
}
"""Suffix, in lower case → format."""

LOCK_MARK: Final = b"~$"
"""The start of the names of the files with which office programs mark a document as open."""

_SUFFIX: Final = re.compile(r"\.[a-z0-9_+-]{1,16}")

Found = SourceFile | Skipped | PassedOver


def find_files(
    paths: Iterable[str | Path],
    *,
    name: str | None = None,
    root: str | Path | None = None,
    exclude: Iterable[Any] = (),
    gitignore: bool = False,
) -> Iterator[Found]:
    """Return the files to read under `paths`, in the given order; files in a folder are in byte order.

    Args:
        paths: Folders, which are searched to any depth, and single files.
        name: The first component of each source. The default is the name of `root`, of the folder, or of the
            folder that contains a single file.
        root: A folder that contains all `paths`. Sources are then relative to it, so ingesting a part of a
            folder gives the same sources as ingesting the whole folder.
        exclude: Patterns in the syntax of `.gitignore`, relative to each folder, or to `root` if it is given.
            A file that is one of `paths` is never excluded.
        gitignore: Also leave out entries that are excluded by files named `.gitignore` in the folders.

    Returns:
        A `SourceFile` for each file with a suffix in `FORMATS`. A `Skipped` for a single file without such a
        suffix, and for each entry that cannot be read although it has such a suffix: a symbolic link inside a
        folder; a pipe, socket or device; a name that is not UTF-8 or not valid as a source; a folder that
        cannot be listed; or a file whose source was found before. A `PassedOver` for each other entry of a
        folder: hidden and excluded entries, mirrors, and files with other suffixes.

    Raises:
        NotFoundError: a path does not exist; no file was read.
        InvalidInputError: `name` is not valid as the first component of a source, a path is not in `root`, or
            a pattern is invalid.
    """
    if name is not None and ("/" in name or name in {"", ".", ".."} or source_problem(name)):
        raise InvalidInputError(
            f"the name {name!r} is not valid as the start of a source", hint="give a plain name without /"
        )
    given = list(paths)
    if "" in given:
        raise InvalidInputError("a path is empty", hint="give . for the current folder")
    tops = list(map(Path, given))
    for path in tops:
        if not os.path.lexists(path):
            raise NotFoundError(f"no such file or folder: {path}")
    starts = [(path, source_of(path, name=name, root=root)) for path in tops]
    exclude = tuple(exclude)
    Exclusions(exclude)  # an invalid pattern is refused before anything is read
    base = None if root is None else os.path.realpath(root)
    return _unique_sources(
        item
        for path, source in starts
        for item in _search(path, source, Exclusions(exclude, gitignore=gitignore), base)
    )


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


def _unique_sources(items: Iterable[Found]) -> Iterator[Found]:
    """Yield the items, with a report in place of each file that has the same source as an earlier file.

    Such a file would replace the atoms of the earlier file.
    """
    seen: set[str] = set()
    for item in items:
        if isinstance(item, SourceFile):
            if item.source in seen:
                yield Skipped(
                    item.source,
                    "another file has the same source; ingest this file with --name",
                    kind="same source",
                )
                continue
            seen.add(item.source)
        yield item


def _search(root: Path, source: str, exclusions: Exclusions, base: str | None) -> Iterator[Found]:
    """Yield the file `root`, or the files in the folder `root`; their sources begin with `source`.

    The paths passed to `exclusions` are relative to the folder `base` if it is given, otherwise to `root`.
    """
    try:
        # A symbolic link given as a path is followed; links inside a folder are not.
        real = root.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError) as error:
        yield Skipped(_printable(str(root)), _describe(error))
        return
    if stat.S_ISDIR(mode):
        yield from _walk(real, source, exclusions, str(real) if base is None else base)
        return
    file_format = _format(source)
    if file_format is None:
        formats = " ".join(FORMATS)
        yield Skipped(
            _printable(source),
            f"unknown kind of file; the supported suffixes are {formats}",
            kind="unknown kind",
        )
    elif not stat.S_ISREG(mode):
        yield Skipped(_printable(source), "not a regular file", kind="not a regular file")
    elif not is_convertible(file_format):
        reason = f"the extra `{EXTRA}` is not installed: {installing(EXTRA)}"
        yield Skipped(_printable(source), reason, kind="extra missing")
    else:
        yield _source_file(os.fsencode(real), os.fsencode(source), file_format)


def _folder_name(path: Path, real: Path) -> str:
    """Return the last component of `path`.

    If the component is `.` or `..`, return the last component of the real path. For `/`, return `root`.
    """
    named = path.name not in {"", ".."}
    return (path.name if named else real.name) or "root"


def _walk(root: Path, prefix: str, exclusions: Exclusions, base: str) -> Iterator[Found]:
    """Yield the files in the folder `root`, depth first; without recursion, as folders can nest deeply."""
    top = os.fsencode(root)
    first = os.fsencode(prefix)
    below = os.fsencode(root.relative_to(base)) + b"/" if str(root) != base else b""
    yield from _enter_above(os.fsencode(base), below, exclusions, prefix)
    pending: list[tuple[bytes, bool]] = [(b"", True)]
    while pending:
        relative, is_folder = pending.pop()
        path = top + b"/" + relative
        source = first + b"/" + relative
        if exclusions.excludes(below + relative):
            yield _passed_over(source, EXCLUDED, is_folder=is_folder)
        elif not is_folder:
            yield _entry(path, source, top)
        elif os.path.lexists(os.path.join(path, MIRROR_MARK)):  # noqa: PTH118 -- bytes
            # A mirror is passed over like a hidden folder: otherwise each ingest would double its contents.
            yield _passed_over(source, "mirror", is_folder=True)
        else:
            try:
                entries, hidden = _entries(path, relative)
            except OSError as error:
                yield Skipped(_printable(os.fsdecode(source.rstrip(b"/"))), _describe(error))
                continue
            for problem in exclusions.enter(below + relative, path):
                yield Skipped(_printable(os.fsdecode(source + GITIGNORE)), problem, kept=True)
            yield from (
                _passed_over(first + b"/" + name, "hidden", is_folder=folder) for name, folder in hidden
            )
            pending.extend(reversed(entries))


def _enter_above(base: bytes, below: bytes, exclusions: Exclusions, prefix: str) -> Iterator[Skipped]:
    """Read the `.gitignore` of `base` and of each folder between `base` and `below`, but not of `below`."""
    relative = b""
    for part in below.rstrip(b"/").split(b"/") if below else ():
        for problem in exclusions.enter(relative, base + b"/" + relative):
            yield Skipped(prefix, f"above this folder, {problem}", kept=True)
        relative += part + b"/"


def _entries(path: bytes, relative: bytes) -> tuple[list[tuple[bytes, bool]], list[tuple[bytes, bool]]]:
    """Return the visible entries and the hidden entries of a folder, as two lists.

    Each item is (relative path, True if the entry is a folder). The paths are sorted. The path of a folder
    ends in `/`. The file `.gitignore` is in neither list.
    """
    with os.scandir(path) as listing:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in listing]
    paths = sorted((relative + name + (b"/" if folder else b""), folder) for name, folder in entries)
    visible, hidden = [], []
    start = len(relative)
    for one in paths:
        if not one[0].startswith(b".", start):
            visible.append(one)
        elif one[0][start:] != GITIGNORE:
            hidden.append(one)
    return visible, hidden


def _passed_over(source: bytes, kind: str, *, is_folder: bool) -> PassedOver:
    name = unicodedata.normalize("NFC", _printable(os.fsdecode(source.rstrip(b"/"))))
    return PassedOver(name, kind, is_folder)


def _entry(path: bytes, source: bytes, top: bytes) -> Found:
    """Return the file, the report or the note for an entry that is not a folder."""
    name = os.fsdecode(source)
    file_format = _format(name)
    if file_format is not None and source.rpartition(b"/")[2].startswith(LOCK_MARK):
        return PassedOver(_printable(name), "lock file")
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            reason = _link_reason(path, top, file_format)
            if reason is None:
                return PassedOver(_printable(name), "symbolic link")
            return Skipped(_printable(name), reason, kind="symbolic link")
    except OSError as error:
        if file_format is None:
            return PassedOver(_printable(name), _kind_of(name))
        return Skipped(_printable(name), _describe(error))
    if not stat.S_ISREG(mode):
        if file_format is None:
            return PassedOver(_printable(name), "not a regular file")
        return Skipped(_printable(name), "not a regular file", kind="not a regular file")
    if file_format is None:
        return PassedOver(_printable(name), _kind_of(name))
    if not is_convertible(file_format):
        return PassedOver(_printable(name), f"{_kind_of(name)} (the extra `{EXTRA}` reads them)")
    return _source_file(path, source, file_format)


def _kind_of(name: str) -> str:
    """Return the kind of a file that is passed over because of its name: the suffix, if it is a usual one."""
    suffix = PurePath(name).suffix.lower()
    return suffix if _SUFFIX.fullmatch(suffix) else "other names" if suffix else "without a suffix"


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
        return Skipped(_printable(os.fsdecode(source)), "the name is not UTF-8", kind="name")
    if (reason := source_problem(text)) is not None:
        return Skipped(_printable(text), reason, kind="name")
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
