"""Reading and writing small files outside the store. Reads are bounded; writes are durable.

A write creates or replaces a whole file. Only regular files are replaced, never a device, a FIFO, a folder or
a symbolic link, wherever the link points.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from backends.files import fsync_path
from backends.leveldb_place import is_leveldb_store
from engine.base.error_translation import system_failure
from engine.base.errors import InvalidInputError, NotFoundError, RefusedError

PRIVATE_PREFIX = "PRIVATE+KEY+"
"""The text at the beginning of a line that contains a private key."""


def refuse_secret(argument: object, hint: str) -> None:
    """Raise InvalidInputError if `argument` contains a private key.

    The message of the error does not repeat the key. The error has the hint `hint`.
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
        InvalidInputError: The file has more than `most` bytes, `path` does not name a file, or `path`
            contains a private key.
        EngineError: The file cannot be read.
    """
    refuse_secret(path, "give the name of the file that contains the key")
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
        raise system_failure(error, f"{path} cannot be read") from error
    if len(data) > most:
        raise InvalidInputError(f"{path} has more than {most} bytes")
    return data


def make_file(path: Path, data: bytes, mode: int) -> None:
    """Create a file with the content `data` durably.

    If this function fails, no file is left. A power loss before this function returns may leave an incomplete
    file.

    Raises:
        FileExistsError: The path already exists. It is not changed.
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
    """Write `data` to `path` durably. After a power loss, the file has either the old or the new bytes.

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
    """Check in advance that `replace_file` is likely to succeed.

    The check creates an empty file in the same folder and removes it again. `path` must be free or name a
    regular file. `store` is the folder or file of the open store; None if the store has none.

    Raises:
        InvalidInputError: `path` cannot be the path of a file, or contains a private key.
        NotFoundError: The folder of the file does not exist.
        RefusedError: `path` is inside a store, or exists and is not a regular file.
        EngineError: The folder of the file cannot be written to.
    """
    refuse_secret(path, "give the name of a file to write to")
    refuse_inside(path, store, "choose a file that is not inside a store")
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
        raise system_failure(error, f"{path} cannot be written") from error


def refuse_inside(path: Path, store: Path | None, hint: str) -> None:
    """Raise RefusedError if a file at `path` would become part of a store or could damage a store.

    The file need not exist. `store` is the folder or file of the open store; None if the store has none.

    Raises:
        InvalidInputError: `path` cannot be the path of a file.
        RefusedError: `path` is inside a store, is a SQLite store, or has the name of an auxiliary file that
            SQLite may create next to a store.
    """
    try:
        place = path.resolve()
        inside = next(filter(is_leveldb_store, place.parents), None)
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
    """Raise RefusedError if `path` exists and is not a regular file.

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
            hint="give the name of a regular file; only regular files are replaced",
        )


def _beside(path: Path) -> Path:
    """Return an unused path in the folder of `path`, for a temporary file that will replace `path`."""
    import secrets

    return path.with_name(f".{path.name}.{secrets.token_hex(8)}")
