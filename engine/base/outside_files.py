"""Files outside the store: small files such as keys and notes, and a folder of published files.

Reads of small files are bounded; writes are durable. A write creates or replaces a whole file. Only regular
files are replaced, never a device, a FIFO, a folder or a symbolic link, wherever the link points. In a folder
of published files, a file appears only when it is complete, and some files are never changed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backends.files import fsync_path, make_parents
from backends.leveldb.leveldb_place import is_leveldb_store
from engine.base.errors import (
    BusyError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    system_failure,
)

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


def user_folder(variable: str, default: str) -> Path:
    """Return this program's folder inside the folder that `variable` names, or inside the default folder."""
    folder = Path(os.environ.get(variable, ""))
    if not folder.is_absolute():
        on_mac = sys.platform == "darwin"
        folder = Path("~/Library/Application Support" if on_mac else default).expanduser()
    return folder / "engine"


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
        require_folder(path)
        _regular(path)
        probe = _beside(path)
        make_file(probe, b"", PRIVATE)
        probe.unlink()
    except OSError as error:
        raise system_failure(error, f"{path} cannot be written") from error


def require_folder(path: Path) -> None:
    """Raise NotFoundError if the folder in which `path` is to be created does not exist."""
    if not path.parent.is_dir():
        raise NotFoundError(
            f"there is no folder {path.parent} to write {path.name} to", hint="create the folder first"
        )


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


UNFINISHED = ".unfinished"
"""The temporary name of a file that is being written. A file left by a killed process is overwritten."""

READ_BYTES_MAX = 1 << 20
"""The maximum size, in bytes, of a file that is read as a whole."""


class PublishedFolder:
    """Reads and writes files in one folder and its subfolders. It does not follow symbolic links.

    The methods raise ConflictError if a path is taken by something that is not a regular file, or goes
    through a symbolic link.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written = 0
        """The number of files that were written through this object."""
        self._folders = {root}

    def names(self) -> set[str]:
        """Return the names in the folder, except the name of a temporary file that a killed process left."""
        return {entry.name for entry in self.root.iterdir()} - {UNFINISHED}

    def read(self, name: str) -> bytes | None:
        """Return the content of the file `name`, or None if it does not exist.

        Raises:
            ConflictError: The file is larger than 1 MiB.
        """
        size = self._size(name)
        if size is None:
            return None
        if size > READ_BYTES_MAX:
            raise ConflictError(
                f"{self.root / name} has {size} bytes, but a checkpoint has at most {READ_BYTES_MAX} bytes"
            )
        return (self.root / name).read_bytes()

    def has(self, name: str) -> bool:
        """Return True if the file `name` exists."""
        return self._size(name) is not None

    def check(self, name: str, data: bytes) -> None:
        """Check that the file `name`, which must never change, contains `data`.

        Raises:
            RefusedError: The file has different content.
        """
        path = self.root / name
        if self._size(name) != len(data) or path.read_bytes() != data:
            raise RefusedError(
                f"{path} differs from this log, although such a file must never change",
                hint="find out what changed the file, then remove the file; the next export writes it again",
            )

    def listed(self, name: str) -> list[str]:
        """Return the sorted names in the subfolder `name`, or an empty list if there is no such subfolder."""
        folder = self.root / name
        return sorted(path.name for path in folder.iterdir()) if self._exists(folder) else []

    def replace(self, name: str, data: bytes) -> None:
        """Write `data` to the file `name` atomically: a reader gets either the old or the new content."""
        path = self.root / name
        self._enter(path.parent)
        unfinished = self.root / UNFINISHED
        unfinished.unlink(missing_ok=True)  # a link with that name would redirect the write to another file
        unfinished.write_bytes(data)
        fsync_path(unfinished)
        unfinished.replace(path)
        self.written += 1

    def sync(self) -> None:
        """Sync the folders, so that every file that was written or read survives a crash.

        This includes files that were written by a killed process.
        """
        for folder in sorted(self._folders):
            fsync_path(folder)

    def rename(self, name: str, new: str) -> None:
        """Give a temporary file its final name, after all other files are durable."""
        self.sync()
        (self.root / name).replace(self.root / new)
        fsync_path(self.root)

    def clear(self) -> None:
        """Remove a temporary file that a killed process left."""
        (self.root / UNFINISHED).unlink(missing_ok=True)

    def _enter(self, folder: Path) -> None:
        if not self._exists(folder):
            self._enter(folder.parent)
            folder.mkdir()
            self._folders.add(folder)

    def _exists(self, folder: Path) -> bool:
        """Return True if the folder exists; check that its path goes through no symbolic link."""
        if folder in self._folders:
            return True
        if not self._exists(folder.parent):
            return False
        try:
            mode = folder.lstat().st_mode
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(mode):
            raise ConflictError(f"{folder} is not a folder; symbolic links are not followed")
        self._folders.add(folder)
        return True

    def _size(self, name: str) -> int | None:
        path = self.root / name
        if not self._exists(path.parent):
            return None
        try:
            status = path.lstat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise ConflictError(f"{path} is not a regular file")
        return status.st_size


@contextmanager
def published(root: Path) -> Iterator[PublishedFolder]:
    """Open the folder `root` for this process alone, after creating it if necessary.

    Raises:
        InvalidInputError: `root` is not a folder.
        BusyError: Another process is writing to the folder.
        EngineError: Writing to the disk failed.
    """
    try:
        descriptor = _locked(root)
        try:
            yield PublishedFolder(root)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise system_failure(error, f"{root} cannot be written") from error


def _locked(root: Path) -> int:
    """Return a file descriptor of the folder, through which the folder is locked (flock)."""
    if "\0" in str(root) or (root.exists() and not root.is_dir()):
        raise InvalidInputError(f"{str(root)!r} is not a folder")
    require_folder(root)
    make_parents(root / UNFINISHED)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise BusyError(f"another process is writing to {root}", hint="wait until it has finished") from None
    return descriptor
