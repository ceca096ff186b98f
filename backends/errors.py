"""The exceptions of backends, and the translation of the operating system's errors into them.

Messages name the store, and never a file inside the store: a backend creates and deletes files, and the
temporary folder of a new store has a random name.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

_SPACE = "free some space on this disk, then repeat the command"

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The errnos that mean that no file can grow."""

_PATH_ERRORS = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL}
)


def installing(extra: str) -> str:
    """Return the command that installs an extra of the distribution, for the message of what needs it."""
    return f"pip install 'memroot[{extra}]'"


class BackendError(Exception):
    """The base class of all exceptions that backends raise."""


class BackendBusy(BackendError):
    """Raised if another handle or process has the store open or locked.

    `holder` names the other handle or process (`pid 4711`), if it is known. `hint` tells the user what to do.
    """

    def __init__(
        self, where: str, holder: str, *, hint: str = "try again later, or close the store there"
    ) -> None:
        super().__init__(f"{where} is in use by {holder}")
        self.where = where
        self.holder = holder
        self.hint = hint


class BackendMissing(BackendError):
    """Raised if there is no store at the path, and `create` is false."""


class BackendUnusable(BackendError):
    """Raised if the path, the URL or the installation does not allow this kind of store."""


class BackendEnvironment(BackendError):
    """Raised if the system fails or refuses an operation: full disk, I/O error, missing permission and so on.

    The store is not the cause, and nothing was written. `number` is the errno of the system, or 0 if it is
    unknown. `hint` tells the user what to do.
    """

    def __init__(self, message: str, *, number: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.number = number
        self.hint = hint


class BackendClosed(BackendError):
    """Raised if the handle is closed, or belongs to the parent process after a fork."""


class BackendCorrupt(BackendError):
    """Raised if the stored bytes fail the backend's own checks.

    `key` is the key of the damaged row, or None if the damage is not in one row.
    """

    def __init__(self, message: str, *, key: bytes | None = None) -> None:
        super().__init__(message)
        self.key = key


class BackendLost(BackendCorrupt):
    """Raised if a store lacks writes that were acknowledged. `hint` tells the user what to do next."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class BackendLocked(BackendError):
    """Raised if a sealed store cannot be opened: there is no key, or it is wrong. Nothing was written.

    `hint` tells the user what to do.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class BackendInDoubt(BackendError):
    """Raised if a write failed after it was sent. To find out if the write took effect, reopen the store.

    The handle refuses every later write. After a failed fsync, the result of a second fsync is not reliable,
    and LevelDB loses data that is written after a failed write. `hint` tells the user what to do.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class GuardFailed(BackendError):
    """Raised if a guarded row does not have the expected value; nothing was written."""


class Trouble(NamedTuple):
    """The explanation of an errno."""

    what: str
    """The cause, as the end of a sentence."""
    remedy: str
    """The advice to the user."""


_ACCESS = Trouble("the system denies access", "check the owner and permissions of the store and its folder")

TROUBLES: dict[int, Trouble] = {
    errno.ENOSPC: Trouble("the disk is full", _SPACE),
    errno.EDQUOT: Trouble("the disk quota is used up", _SPACE),
    errno.EFBIG: Trouble(
        "a file has reached the largest size that the system allows", "raise the limit (`ulimit -f`)"
    ),
    errno.EIO: Trouble(
        "the disk reports an input/output error",
        "copy the store to another disk, and check this disk and the system's log",
    ),
    errno.EROFS: Trouble("the file system is read-only", "mount it for writing, or copy the store elsewhere"),
    errno.EMFILE: Trouble(
        "this process has too many open files", "close some of them, or raise the limit (`ulimit -n`)"
    ),
    errno.ENFILE: Trouble("the system has too many open files", "end some of the programs that run"),
    errno.ENOMEM: Trouble("there is not enough memory", "end other programs, or raise the limit of memory"),
    errno.EACCES: _ACCESS,
    errno.EPERM: _ACCESS,
    errno.ENOLCK: Trouble(
        "the file system cannot lock files", "keep the store on a local disk, not on a network file system"
    ),
    errno.ESTALE: Trouble("the network file system lost a file", "keep the store on a local disk"),
}
"""The failures of the environment, by errno. Every other errno means that the path cannot be a store."""


def explain(number: int, text: str = "") -> Trouble:
    """Return the explanation of an errno; `text` is the system's own message."""
    advice = TROUBLES.get(number)
    if advice is not None:
        return advice
    told = text or (os.strerror(number) if number else "the cause is unknown")
    return Trouble(f"the system reports {told!r}", "check the disk and the system's log")


def environment_error(what: str, number: int, text: str = "") -> BackendEnvironment:
    """Return the exception for a failed call of the system.

    Args:
        what: What failed and where, as the beginning of a sentence: `/notes cannot be opened`.
        number: The errno, or 0 if it is unknown.
        text: The system's own message.
    """
    trouble = explain(number, text)
    return BackendEnvironment(f"{what}: {trouble.what}", number=number, hint=trouble.remedy)


def system_error(what: str, error: OSError) -> BackendError:
    """Return the exception for an OSError: either the environment failed, or the path cannot be a store.

    Args:
        what: As for `environment_error`.
        error: The error. Its file name is not shown.
    """
    number = error.errno or 0
    text = error.strerror or str(error)
    if number in _PATH_ERRORS:
        return BackendUnusable(f"{what}: {text}")
    return environment_error(what, number, text)


def in_doubt(what: str, number: int, text: str = "") -> BackendInDoubt:
    """Return the exception for a write that failed after it was sent; see `environment_error`."""
    trouble = explain(number, text)
    return BackendInDoubt(
        f"{what}: {trouble.what}", hint=f"{trouble.remedy}; then reopen the store and repeat the command"
    )


def errno_in(message: str) -> int:
    """Return the errno whose text is at the end of `message`, or 0. LevelDB reports only the text."""
    told = message.rpartition(": ")[2]
    return next((number for number in errno.errorcode if os.strerror(number) == told), 0)
