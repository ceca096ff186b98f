"""Small files outside the store: read within bounds, made once, or replaced whole; each durably.

Nothing but a regular file is ever replaced: no device, FIFO or folder, and no link, whatever it leads to.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from pathlib import Path

from backends.files import fsync_path
from backends.leveldb_place import is_leveldb_store
from engine.base.errors import EngineError, InvalidInputError, NotFoundError, RefusedError

PRIVATE_PREFIX = "PRIVATE+KEY+"
"""What the line of a private key begins with."""


def refuse_secret(given: object, hint: str) -> None:
    """Refuse an argument that is or holds a private key, repeating none of it; `hint` says what to give.

    Raises:
        InvalidInputError: it does.
    """
    if PRIVATE_PREFIX in str(given).upper():
        raise InvalidInputError("this is a private key", hint=hint)


STDIN = "-"
PRIVATE = 0o600
PUBLIC = 0o644


def read_file(path: str | Path, most: int) -> bytes:
    """The bytes of a file, for `-` of stdin.

    Raises:
        NotFoundError: it is not there.
        InvalidInputError: it has over `most` bytes, is no file, or a private key in a file's place.
        EngineError: it cannot be read.
    """
    refuse_secret(path, "give the name of the file that holds it")
    try:
        if str(path) == STDIN:
            data = sys.stdin.buffer.read(most + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(most + 1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except (IsADirectoryError, ValueError) as error:
        raise InvalidInputError(f"{str(path)!r} is no file: {error}") from None
    except OSError as error:
        raise EngineError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > most:
        raise InvalidInputError(f"{path} has over {most} bytes")
    return data


def make_file(path: Path, data: bytes, mode: int) -> None:
    """Write a file that is not there yet; it is on the disk when this returns.

    A failure leaves no file; loss of power may leave an unfinished one, of which nobody was told.

    Raises:
        FileExistsError: something of that name is there, and stays as it is.
        OSError: it cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        fsync_path(path)
        fsync_path(path.parent)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def replace_file(path: Path, data: bytes, mode: int) -> None:
    """Write `data` to `path`, at once and durably: loss of power leaves the old bytes or the new ones.

    Raises:
        RefusedError: something is there that is no regular file.
        OSError: it cannot be written; the old bytes are still there.
    """
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    _regular(path)
    new = _beside(path)
    make_file(new, data, mode)
    try:
        new.replace(path)
        fsync_path(path.parent)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def check_writable(path: Path, store: Path | None) -> None:
    """Make sure that `replace_file` can be expected to write `path`, before work is done for it.

    It is found out by making an empty file beside it, which is gone when this returns. Nothing, or a regular
    file, may be at `path`; `store` is the folder or file of the store at hand, if it has one.

    Raises:
        InvalidInputError: it cannot be a file's path, or is a private key.
        NotFoundError: the folder that it is to be in is not there.
        RefusedError: it is in a store, or something that is no regular file.
        EngineError: its folder cannot be written to.
    """
    refuse_secret(path, "give the name of a file to write to")
    refuse_inside(path, store, "name a file outside every store")
    try:
        if not path.parent.is_dir():
            raise NotFoundError(
                f"there is no folder {path.parent} to write {path.name} to", hint="make it first"
            )
        _regular(path)
        probe = _beside(path)
        make_file(probe, b"", PRIVATE)
        probe.unlink()
    except OSError as error:
        raise EngineError(f"{path} cannot be written: {error.strerror}") from error


def refuse_inside(path: Path, store: Path | None, hint: str) -> None:
    """Refuse a file that would be copied, verified or purged along with a store, or would harm it.

    The file need not be there; `store` is the folder or file of the store at hand, if it has one.

    Raises:
        InvalidInputError: it cannot be a file's path.
        RefusedError: it is inside one, or a SQLite store or beside it under a name of its files.
    """
    try:
        place = path.resolve()
        inside = next(filter(is_leveldb_store, place.parents), None)
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"{str(path)!r} is no file's path: {error}") from None
    if not path.name:
        raise InvalidInputError(f"{str(path)!r} is no file's name")
    if inside is not None:
        raise RefusedError(f"{path} is inside the store {inside}", hint=hint)
    if store is not None:
        held = store.resolve()
        if held == place or held in place.parents or str(place).startswith(f"{held}-"):
            raise RefusedError(f"{path} is inside the store {store}", hint=hint)


def _regular(path: Path) -> None:
    """Raise RefusedError if something that is no regular file is at `path` itself; OSError: who knows."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        what = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a link", stat.S_IFIFO: "a FIFO"}
        raise RefusedError(
            f"{path} is {what.get(stat.S_IFMT(mode), 'a device or socket')}, not a regular file",
            hint="name a file; nothing else is replaced",
        )


def _beside(path: Path) -> Path:
    """A new name for what is to take the place of `path`."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")
