"""Locate the folder of a mirror without following links, and refuse folders that serve another purpose."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from engine.base.error_translation import system_failure
from engine.base.errors import BusyError, EngineError, InvalidInputError, NotFoundError, RefusedError
from engine.base.validation import quoted
from engine.files.mirror import disk
from engine.files.mirror.manifest import MANIFEST, Manifest, decode
from engine.trust.notes.files import refuse_inside

NAME_BYTES_MAX: Final = 200
"""The maximum length of a mirror folder's name in bytes; the names of temporary folders are longer."""

_TRAVERSE: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_decoded = lru_cache(1)(decode)
"""Decode a manifest and cache it. A run needs the manifest several times; 8,700 pages take 0.3 s."""
_CHOOSE: Final = "choose a new or an empty folder"


class MirrorPlace(NamedTuple):
    """The location of a mirror: an open parent folder and a name in it. The mirror need not exist."""

    path: str
    """The absolute path, for messages."""
    parent: int
    name: str

    @property
    def new(self) -> str:
        """The name of the temporary folder: first for the new mirror, after the exchange for the old one."""
        return f".{self.name}.mirror-new"

    @property
    def old(self) -> str:
        """The name for the old mirror on systems that cannot exchange two names atomically."""
        return f".{self.name}.mirror-old"

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
def place_at(folder: str | os.PathLike[str], *, lock: bool) -> Iterator[MirrorPlace]:
    """Open the parent folder of a mirror; with `lock`, only one run at a time can do so.

    Raises:
        InvalidInputError: `folder` is not a valid path.
        NotFoundError: the parent folder does not exist.
        RefusedError: the path is the root; the home folder, the current folder, or a parent of one of these
            two; a mount point; inside a store; not a folder; or reached through a symbolic link.
        BusyError: another run is writing in the parent folder.
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
            _lock(descriptor, path)
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
    if disk.lstat(place.parent, place.name) is None:
        yield None
        return
    with disk.open_folder(place.name, place.parent) as folder:
        raw, manifest = b"", None
        if disk.names(folder):
            raw, manifest = _manifest(place.path, folder, store_id)
        yield Existing(folder, raw, manifest)


def _manifest(path: str, folder: int, store_id: str | None) -> tuple[bytes, Manifest]:
    raw = disk.read(folder, MANIFEST)
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
    status = disk.lstat(parent, name)
    if status is None:
        return
    if not disk.is_folder(status):
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


def _lock(descriptor: int, path: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BusyError(
            f"another mirror is being written in the folder of {path}",
            hint="wait until it has finished",
        ) from None
