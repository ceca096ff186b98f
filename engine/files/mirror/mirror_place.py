"""The place of a mirror, and the manifest in it.

The folder of a mirror is located without following links. A folder that serves another purpose is refused.
The manifest, `.engine-mirror.json`, lists the store, the root, and the generated files.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from engine.base.errors import (
    BusyError,
    EngineError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    system_failure,
)
from engine.base.json_text import JsonError, parse
from engine.base.outside_files import refuse_inside
from engine.base.validation import quoted
from engine.files.mirror import mirror_disk
from engine.files.mirror.mirror_text import PATH
from engine.files.mirror.page_style import StyleName

MANIFEST: Final = ".engine-mirror.json"
FORMAT: Final = 2

_BYTES_MAX: Final = 1 << 30
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH: Final = re.compile(r"[0-9a-f]{64}")

NAME_BYTES_MAX: Final = 200
"""The maximum length of a mirror folder's name in bytes; the names of temporary folders are longer."""

_TRAVERSE: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_CHOOSE: Final = "choose a new or an empty folder"
_POLL_SECONDS: Final = 0.05
_COLON: Final = b": "


class ManifestEntry(NamedTuple):
    """The entry of a page in the manifest. The ids of atoms are in the order of the page."""

    sha256: str
    atoms: tuple[str, ...]
    """The atoms that the page shows in full."""
    refers: tuple[str, ...]
    """The atoms that the page refers to."""


class Manifest(NamedTuple):
    """The content of a manifest: the store, its root when the journal had `size` events, and the pages.

    `tags` contains the tags that have a different name in the mirror: name in the mirror → case-folded tag.
    """

    store_id: str
    size: int
    root: str
    style: StyleName
    tags: Mapping[str, str]
    files: Mapping[str, ManifestEntry]


class ManifestText(NamedTuple):
    """A manifest whose pages are lines of text, because decoding 8,700 lines takes 0.1 s."""

    head: Manifest
    """The manifest without pages."""
    lines: list[bytes]
    """The path and the entry of each page as JSON, sorted."""

    def line(self, path: str) -> bytes | None:
        """Return the line of a page, or None if the mirror has no such page."""
        start = _json(path) + _COLON
        at = bisect_left(self.lines, start)
        found = self.lines[at : at + 1]
        return found[0] if found and found[0].startswith(start) else None


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the manifest file, sorted, one page on each line; equal mirrors have equal bytes."""
    lines = [manifest_line(path, entry) for path, entry in manifest.files.items()]
    return encode_text(ManifestText(manifest, sorted(lines)))


def manifest_line(path: str, entry: ManifestEntry) -> bytes:
    """Return the line of a page in the manifest, without a comma."""
    return _json(path) + _COLON + _json(entry._asdict())


def encode_text(text: ManifestText) -> bytes:
    """Return the manifest file with these entries of pages."""
    head = text.head._asdict() | {"tags": dict(sorted(text.head.tags.items()))}
    del head["files"]
    fields = b"".join(_json(name) + b": " + _json(value) + b",\n" for name, value in head.items())
    return b'{\n"format": %d,\n%s"files": {\n%s\n}\n}\n' % (FORMAT, fields, b",\n".join(text.lines))


def decode_manifest(raw: bytes) -> Manifest:
    """Return the manifest in a file.

    Raises:
        InvalidInputError: the file does not have this format, or a path in it is not a valid path of a page.
    """
    text = decode_text(raw)
    try:
        manifest = text.head._replace(files=dict(map(page_in, text.lines)))
        is_ours = encode_manifest(manifest) == raw and all(map(PATH.fullmatch, manifest.files))
    except (KeyError, TypeError, ValueError):
        is_ours = False
    if not is_ours:
        raise _not_ours()
    return manifest


def decode_text(raw: bytes) -> ManifestText:
    """Return the manifest in a file; the entries of pages, and their paths, are not checked.

    Raises:
        InvalidInputError: the other fields do not have this format.
    """
    head, _, files = raw.partition(b',\n"files": {\n')
    pages = files.removesuffix(b"\n}\n}\n")
    try:
        value = parse(head + b"}", bytes_max=_BYTES_MAX)
    except JsonError as error:
        raise InvalidInputError(f"the manifest is {error}") from None
    try:
        if value["format"] != FORMAT:
            raise InvalidInputError(f"the format is not {FORMAT}")
        names = (value["store_id"], value["size"], value["root"], StyleName(value["style"]), value["tags"])
        manifest = Manifest(*names, {})
        is_ours = all((_UUID.fullmatch(manifest.store_id), _HASH.fullmatch(manifest.root)))
        is_ours = is_ours and isinstance(manifest.tags, dict) and type(manifest.size) is int
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _not_ours() from None
    if not is_ours or manifest.size < 1:
        raise _not_ours()
    return ManifestText(manifest, pages.split(b",\n") if pages else [])


def page_in(line: bytes) -> tuple[str, ManifestEntry]:
    """Return the path and the entry of a page in a line of a manifest.

    Raises:
        ValueError: the line is not JSON. A KeyError or a TypeError: the line has a different form.
    """
    path, _, entry = line.partition(_COLON)
    value = json.loads(entry)
    return json.loads(path), ManifestEntry(value["sha256"], tuple(value["atoms"]), tuple(value["refers"]))


def _not_ours() -> InvalidInputError:
    return InvalidInputError("the manifest does not have the form in which this version writes it")


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode()


def events_behind(store_id: str, size: int, folder: str | os.PathLike[str]) -> int | None:
    """Return the number of events that the mirror in `folder` does not show, or None if it is no mirror.

    Args:
        store_id: The id of the store.
        size: The number of events of the store.
        folder: The folder of the mirror.
    """
    try:
        with place_at(folder, lock=False) as place, mirror_disk.open_folder(place.name, place.parent) as one:
            head = decode_text(mirror_disk.read(one, MANIFEST) or b"").head
    except EngineError:
        return None
    return max(size - head.size, 0) if head.store_id == store_id else None


_decoded = lru_cache(1)(decode_manifest)
"""Decode a manifest and cache it. A run needs the manifest several times; 8,700 pages take 0.3 s."""


def changed_pages(folder: int, manifest: Manifest) -> Iterator[tuple[str, str | None]]:
    """Yield the pages in an open mirror that differ from its manifest, ordered by path.

    Each page has its path and the SHA-256 of the present file; None if there is no regular file.
    """
    for path, listed in sorted(manifest.files.items()):
        digest = mirror_disk.digest(folder, path)
        if digest != listed.sha256:
            yield path, digest


class MirrorPlace(NamedTuple):
    """The location of a mirror: an open parent folder and a name in it. The mirror need not exist."""

    path: str
    """The absolute path, for messages."""
    parent: int
    name: str

    @property
    def new(self) -> str:
        """The name of the temporary folder with the new and changed pages."""
        return f".{self.name}.mirror-new"

    @property
    def edited(self) -> str:
        """The name of the folder in which edited pages are kept."""
        return f"{self.name}.edited"


class Existing(NamedTuple):
    """An existing folder that is a mirror (it has a manifest) or empty (it has no manifest)."""

    folder: int
    raw: bytes
    manifest: Manifest | None


@contextmanager
def place_at(folder: str | os.PathLike[str], *, lock: bool, wait: float = 0.0) -> Iterator[MirrorPlace]:
    """Open the parent folder of a mirror; with `lock`, only one run at a time can do so.

    Args:
        folder: The path of the mirror.
        lock: Keep other runs out until the block ends.
        wait: The seconds for which to wait until another run has finished.

    Raises:
        InvalidInputError: `folder` is not a valid path.
        NotFoundError: the parent folder does not exist.
        RefusedError: the path is the root; the home folder, the current folder, or a parent of one of these
            two; a mount point; inside a store; not a folder; or reached through a symbolic link.
        BusyError: another run is still writing in the parent folder.
        EngineError: the operating system refuses an operation.
    """
    path = _absolute(folder)
    parent, name = os.path.split(path)
    try:
        descriptor = _walk(parent)
    except OSError as error:
        raise _unreachable(parent, error) from None
    try:
        _check(path, descriptor, name)
        if lock:
            _lock(descriptor, path, time.monotonic() + wait)
        yield MirrorPlace(path, descriptor, name)
    except OSError as error:
        raise system_failure(error, f"{path} cannot be written") from error
    finally:
        os.close(descriptor)


@contextmanager
def existing(place: MirrorPlace, store_id: str | None) -> Iterator[Existing | None]:
    """Open the mirror or empty folder at a place; yield None if nothing exists there.

    The mirror must belong to the store `store_id`; if `store_id` is None, it may belong to any store.

    Raises:
        RefusedError: the place contains anything else.
    """
    if mirror_disk.lstat(place.parent, place.name) is None:
        yield None
        return
    with mirror_disk.open_folder(place.name, place.parent) as folder:
        raw, manifest = b"", None
        if mirror_disk.names(folder):
            raw, manifest = _manifest(place.path, folder, store_id)
        yield Existing(folder, raw, manifest)


def _manifest(path: str, folder: int, store_id: str | None) -> tuple[bytes, Manifest]:
    raw = mirror_disk.read(folder, MANIFEST)
    if raw is None:
        raise RefusedError(f"{path} contains files but is not a mirror: it has no {MANIFEST}", hint=_CHOOSE)
    try:
        manifest = _decoded(raw)
    except InvalidInputError as error:
        raise RefusedError(
            f"{path}/{MANIFEST} is not the manifest of a mirror: {error}",
            hint=f"{_CHOOSE}, or move this folder away",
        ) from None
    if store_id is not None and manifest.store_id != store_id:
        raise RefusedError(f"{path} is the mirror of a different store, {manifest.store_id}", hint=_CHOOSE)
    return raw, manifest


def _absolute(folder: str | os.PathLike[str]) -> str:
    if not isinstance(folder, (str, os.PathLike)):
        raise InvalidInputError(f"folder must be a path, not {type(folder).__name__}")
    raw = os.fspath(folder)
    if not isinstance(raw, str) or not raw or "\0" in raw:
        raise InvalidInputError(f"{quoted(raw)} is not a valid path of a folder")
    try:
        path = os.path.abspath(raw)  # noqa: PTH100  resolve would follow a link, which must be refused
        size = len(os.fsencode(os.path.basename(path)))  # noqa: PTH119
    except (OSError, UnicodeError) as error:
        raise InvalidInputError(f"{quoted(raw)} is not a valid path of a folder: {error}") from None
    if size > NAME_BYTES_MAX:
        raise InvalidInputError(f"the folder's name has {size} bytes; at most {NAME_BYTES_MAX} are allowed")
    if not size:
        raise RefusedError("the root of the file system cannot be a mirror", hint=_CHOOSE)
    return "/" + path.lstrip("/")


def _walk(path: str) -> int:
    """Return a descriptor of the folder at `path`; raise OSError if a part of the path is a link."""
    here = os.open("/", _TRAVERSE)
    for name in filter(None, path.split("/")):
        try:
            following = os.open(name, _TRAVERSE, dir_fd=here)
        finally:
            os.close(here)
        here = following
    try:
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
    finally:
        os.close(here)


def _unreachable(parent: str, error: OSError) -> EngineError:
    if error.errno == errno.ENOENT:
        return NotFoundError(f"there is no folder {parent} for the mirror", hint="create it first")
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        real = os.path.realpath(parent)
        return RefusedError(
            f"{parent} is reached through a symbolic link, or is not a folder",
            hint=f"name the real path: {real}" if os.path.isdir(real) else _CHOOSE,  # noqa: PTH112
        )
    return EngineError(f"{parent} cannot be opened: {error.strerror}")


def _check(path: str, parent: int, name: str) -> None:
    """Raise RefusedError if a mirror must not be created at `path`."""
    refuse_inside(Path(path), None, _CHOOSE)
    status = mirror_disk.lstat(parent, name)
    if status is None:
        return
    if not mirror_disk.is_folder(status):
        raise RefusedError(f"{path} is not a folder, or is a symbolic link", hint=_CHOOSE)
    mounted = [place for place in _mounts() if f"{place}/".startswith(f"{path}/")]
    if mounted or status.st_dev != os.fstat(parent).st_dev:
        raise RefusedError(f"a file system is mounted at {min(mounted, default=path)}", hint=_CHOOSE)
    for what, start in (("current", os.getcwd), ("home", lambda: os.path.expanduser("~"))):  # noqa: PTH111
        if any(os.path.samestat(status, one) for one in _with_parents(start())):
            raise RefusedError(f"{path} is the {what} folder or a parent of it", hint=_CHOOSE)


def _with_parents(path: str) -> Iterator[os.stat_result]:
    here = Path(os.path.realpath(path))
    for folder in (here, *here.parents):
        try:
            yield folder.stat()
        except OSError:
            continue


def _mounts() -> set[str]:
    """Return all mount points, including bind mounts, or an empty set if the system does not list them."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().decode(errors="surrogateescape").splitlines()
    except OSError:
        return set()
    return {_OCTAL.sub(lambda found: chr(int(found[1], 8)), line.split(" ")[4]) for line in lines}


def _lock(descriptor: int, path: str, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"another mirror is being written in the folder of {path}",
                    hint="wait until it has finished",
                ) from None
        time.sleep(_POLL_SECONDS)
