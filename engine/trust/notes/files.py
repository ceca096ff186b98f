"""Small files outside the store: bounded reads, and durable writes that create or replace a whole file.

Only a regular file is ever replaced: never a device, a FIFO, a folder or a link, wherever it points.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from pathlib import Path

from backends.files import fsync_path
from backends.leveldb_place import is_place
from engine.base.errors import EngineError, InvalidInputError, NotFoundError, RefusedError

PRIVATE_PREFIX = "PRIVATE+KEY+"
"""The beginning of the line of a private key."""


def refuse_secret(argument: object, hint: str) -> None:
    """Raise InvalidInputError if an argument is or contains a private key.

    The message does not repeat the key; `hint` says what to give instead.
    """
    if PRIVATE_PREFIX in str(argument).upper():
        raise InvalidInputError("this is a private key", hint=hint)


STDIN = "-"
PRIVATE = 0o600
PUBLIC = 0o644


def read_file(path: str | Path, most: int) -> bytes:
    """Return the content of a file; `-` stands for standard input.

    Raises:
        NotFoundError: The file does not exist.
        InvalidInputError: It has more than `most` bytes, it is not a file, or `path` is a private key.
        EngineError: It cannot be read.
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
        raise InvalidInputError(f"{str(path)!r} is not a file: {error}") from None
    except OSError as error:
        raise EngineError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > most:
        raise InvalidInputError(f"{path} has more than {most} bytes")
    return data


def make_file(path: Path, data: bytes, mode: int) -> None:
    """Create a file, durably.

    A failure leaves no file. A power loss may leave an incomplete file, but only before this returns.

    Raises:
        FileExistsError: Something of that name exists, and stays as it is.
        OSError: The file cannot be written.
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
    """Write `data` to `path`, atomically and durably: a power loss leaves the old bytes or the new ones.

    Raises:
        RefusedError: `path` is not a regular file.
        OSError: The file cannot be written. The old bytes are unchanged.
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
    """Check that `replace_file` is likely to succeed, before work is done for it.

    The check creates an empty file in the same folder and removes it again. At `path` there may be nothing or
    a regular file. `store` is the folder or file of the open store, if it has one.

    Raises:
        InvalidInputError: `path` cannot be the path of a file, or is a private key.
        NotFoundError: Its folder does not exist.
        RefusedError: It is inside a store, or is something other than a regular file.
        EngineError: Its folder cannot be written to.
    """
    refuse_secret(path, "give the name of a file to write to")
    refuse_inside(path, store, "name a file outside every store")
    try:
        if not path.parent.is_dir():
            raise NotFoundError(
                f"there is no folder {path.parent} to write {path.name} to", hint="create the folder first"
            )
        _regular(path)
        probe = _beside(path)
        make_file(probe, b"", PRIVATE)
        probe.unlink()
    except OSError as error:
        raise EngineError(f"{path} cannot be written: {error.strerror}") from error


def refuse_inside(path: Path, store: Path | None, hint: str) -> None:
    """Raise RefusedError if a file would be copied, verified or purged with a store, or would harm it.

    The file need not exist. `store` is the folder or file of the open store, if it has one.

    Raises:
        InvalidInputError: `path` cannot be the path of a file.
        RefusedError: It is inside a store, is a SQLite store, or has a name that SQLite gives to a file
            beside it.
    """
    try:
        place = path.resolve()
        inside = next(filter(is_place, place.parents), None)
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"{str(path)!r} is not the path of a file: {error}") from None
    if not path.name:
        raise InvalidInputError(f"{str(path)!r} is not the name of a file")
    if inside is not None:
        raise RefusedError(f"{path} is inside the store {inside}", hint=hint)
    if store is not None:
        store_path = store.resolve()
        if store_path == place or store_path in place.parents or str(place).startswith(f"{store_path}-"):
            raise RefusedError(f"{path} is inside the store {store}", hint=hint)


def _regular(path: Path) -> None:
    """Raise RefusedError if `path` is something other than a regular file; a missing file is accepted.

    Raises:
        RefusedError: `path` is a folder, a link, a FIFO, a device or a socket.
        OSError: The kind of file cannot be determined.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        what = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a link", stat.S_IFIFO: "a FIFO"}
        raise RefusedError(
            f"{path} is {what.get(stat.S_IFMT(mode), 'a device or socket')}, not a regular file",
            hint="give the name of a regular file; nothing else is replaced",
        )


def _beside(path: Path) -> Path:
    """Return a new name, in the same folder, for a file that will replace `path`."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")
