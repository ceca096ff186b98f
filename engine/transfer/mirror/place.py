"""The folder of a mirror: reached without a link, and refused where it could be anybody else's."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from engine.base.errors import BusyError, EngineError, InvalidInputError, NotFoundError, RefusedError
from engine.base.validation import quoted
from engine.transfer.mirror import disk
from engine.transfer.mirror.manifest import MANIFEST, Manifest, decode
from engine.trust.notes.files import refuse_inside

NAME_BYTES_MAX: Final = 200
"""The longest name of a mirror's folder: names beside it are made from it."""

_ON_THE_WAY: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_CHOOSE: Final = "choose a new or an empty folder"


class Place(NamedTuple):
    """Where a mirror is or is to be: a name in an open folder."""

    path: str
    """The absolute path, for messages."""
    parent: int
    name: str

    @property
    def new(self) -> str:
        """The name beside it where the next one is built, and where the one before goes."""
        return f".{self.name}.mirror-new"

    @property
    def old(self) -> str:
        """Where the one before goes if two names cannot change places at once."""
        return f".{self.name}.mirror-old"


class Existing(NamedTuple):
    """A folder that is there; without a manifest it is empty."""

    folder: int
    raw: bytes
    manifest: Manifest | None


@contextmanager
def place_at(folder: str | os.PathLike[str], *, lock: bool) -> Iterator[Place]:
    """The place that a path names, for one run at a time if `lock`.

    Raises:
        InvalidInputError: it is no path.
        NotFoundError: the folder that it is to be in is not there.
        RefusedError: it is the root, a home or current folder or one above, the place of a mount, in a store,
            no folder, or reached through a symbolic link.
        BusyError: another run is writing beside it.
        EngineError: the system refuses.
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
        yield Place(path, descriptor, name)
    except OSError as error:
        reason = error.strerror or str(error)
        raise EngineError(f"{path}: {reason}", hint="mend that and run again; nothing is lost") from error
    finally:
        os.close(descriptor)


@contextmanager
def existing(place: Place, store_id: str | None) -> Iterator[Existing | None]:
    """What is at a place: a mirror of this store (None: of any), an empty folder, or nothing.

    Raises:
        RefusedError: anything else.
    """
    if disk.found(place.parent, place.name) is None:
        yield None
        return
    with disk.opened(place.name, place.parent) as folder:
        raw, manifest = b"", None
        if disk.names(folder):
            raw, manifest = _manifest(place.path, folder, store_id)
        yield Existing(folder, raw, manifest)


def _manifest(path: str, folder: int, store_id: str | None) -> tuple[bytes, Manifest]:
    raw = disk.read(folder, MANIFEST)
    if raw is None:
        raise RefusedError(f"{path} holds files and is no mirror: it has no {MANIFEST}", hint=_CHOOSE)
    try:
        manifest = decode(raw)
    except InvalidInputError as error:
        raise RefusedError(
            f"{path}/{MANIFEST} is not the manifest of a mirror: {error}",
            hint=f"{_CHOOSE}, or move this one away",
        ) from None
    if store_id is not None and manifest.store_id != store_id:
        raise RefusedError(f"{path} is the mirror of another store, {manifest.store_id}", hint=_CHOOSE)
    return raw, manifest


def _absolute(folder: str | os.PathLike[str]) -> str:
    if not isinstance(folder, (str, os.PathLike)):
        raise InvalidInputError(f"folder must be a path, not {type(folder).__name__}")
    given = os.fspath(folder)
    if not isinstance(given, str) or not given or "\0" in given:
        raise InvalidInputError(f"{quoted(given)} is no folder's path")
    try:
        path = os.path.abspath(given)  # noqa: PTH100  a link is to be refused, not followed
        size = len(os.fsencode(os.path.basename(path)))  # noqa: PTH119
    except (OSError, UnicodeError) as error:
        raise InvalidInputError(f"{quoted(given)} is no folder's path: {error}") from None
    if size > NAME_BYTES_MAX:
        raise InvalidInputError(f"the folder's name has {size} bytes; at most {NAME_BYTES_MAX} are allowed")
    if not size:
        raise RefusedError("the root of the file system is no place for a mirror", hint=_CHOOSE)
    return "/" + path.lstrip("/")


def _walk(path: str) -> int:
    """A descriptor of the folder at `path`, no part of which is a link."""
    here = os.open("/", _ON_THE_WAY)
    for name in filter(None, path.split("/")):
        try:
            there = os.open(name, _ON_THE_WAY, dir_fd=here)
        finally:
            os.close(here)
        here = there
    try:
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
    finally:
        os.close(here)


def _unreachable(parent: str, error: OSError) -> EngineError:
    if error.errno == errno.ENOENT:
        return NotFoundError(f"there is no folder {parent} to put a mirror in", hint="make it first")
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        real = os.path.realpath(parent)
        return RefusedError(
            f"{parent} is reached through a symbolic link, or is no folder",
            hint=f"name the real path: {real}" if os.path.isdir(real) else _CHOOSE,  # noqa: PTH112
        )
    return EngineError(f"{parent} cannot be opened: {error.strerror}")


def _check(path: str, parent: int, name: str) -> None:
    """Refuse what no mirror may take the place of, before anything is written."""
    refuse_inside(Path(path), None, _CHOOSE)
    status = disk.found(parent, name)
    if status is None:
        return
    if not disk.is_folder(status):
        raise RefusedError(f"{path} is no folder, or a symbolic link to one", hint=_CHOOSE)
    mounted = [place for place in _mounts() if f"{place}/".startswith(f"{path}/")]
    if mounted or status.st_dev != os.fstat(parent).st_dev:
        raise RefusedError(f"something is mounted at {min(mounted, default=path)}", hint=_CHOOSE)
    for what, start in (("current", os.getcwd), ("home", lambda: os.path.expanduser("~"))):  # noqa: PTH111
        if any(os.path.samestat(status, one) for one in _and_above(start())):
            raise RefusedError(f"{path} is the {what} folder, or above it", hint=_CHOOSE)


def _and_above(path: str) -> Iterator[os.stat_result]:
    here = Path(os.path.realpath(path))
    for folder in (here, *here.parents):
        try:
            yield folder.stat()
        except OSError:
            continue


def _mounts() -> set[str]:
    """Where something is mounted, a folder of the same disk too; empty where the system does not say."""
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
            f"another mirror is being written beside {path}", hint="wait until it is done"
        ) from None
