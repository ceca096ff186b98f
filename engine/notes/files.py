"""Small files outside the store: read within bounds, made once, or replaced whole; each durably."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from pathlib import Path

from backends.files import fsync_path
from engine.errors import EngineError, InvalidInputError, NotFoundError

STDIN = "-"
PRIVATE = 0o600
PUBLIC = 0o644


def read_file(path: str | Path, most: int) -> bytes:
    """The bytes of a file, for `-` of stdin.

    Raises:
        NotFoundError: it is not there.
        InvalidInputError: it has over `most` bytes, or is no file.
        EngineError: it cannot be read.
    """
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
    """Have `path` hold `data`, at once and durably: loss of power leaves the old bytes or the new ones.

    Raises:
        OSError: it cannot be written; the old bytes are still there.
    """
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    make_file(new, data, mode)
    try:
        new.replace(path)
        fsync_path(path.parent)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
