"""The error classes of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar, cast

from backends.errors import (
    TROUBLES,
    BackendBusy,
    BackendClosed,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    BackendLocked,
    BackendLost,
    BackendMissing,
    BackendUnusable,
    explain,
    installing,
)


class EngineError(Exception):
    """The base class of all errors of the engine.

    `code` is stable and machine-readable. `exit_code` is the exit code of the command line. `hint`
    tells the user what to do next; it is empty if there is nothing to do.
    """

    code = "failure"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InvalidInputError(EngineError):
    """An argument breaks a rule of SPEC.md. Nothing was written."""

    code = "invalid"
    exit_code = 2


class LimitError(InvalidInputError):
    """An argument exceeds a limit in the table of limits in SPEC.md. Nothing was written."""

    code = "limit"


class BatchLimitError(LimitError):
    """Each command is valid, but together the commands are too many or too large for one batch."""


class NotFoundError(EngineError):
    """The requested item was never recorded, or is in a different state than requested."""

    code = "not_found"
    exit_code = 3


class VerificationError(EngineError):
    """The store does not match its journal."""

    code = "verification_failed"
    exit_code = 4


class CorruptionError(VerificationError):
    """Stored bytes differ from the bytes that were written. Damaged bytes are never returned as a result.

    `family` names the family of rows (`engine.ledger.layout.FAMILIES`), or is empty if it is unknown.
    `seq` is the number of the damaged event, or None if it is unknown.
    """

    code = "corrupt"

    def __init__(self, message: str, *, hint: str = "", family: str = "", seq: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.family = family
        self.seq = seq


class BusyError(EngineError):
    """The store is locked by another process or handle."""

    code = "busy"
    exit_code = 5


class ConflictError(EngineError):
    """The command contradicts the recorded data. Nothing was written."""

    code = "conflict"
    exit_code = 6


class RefusedError(EngineError):
    """The command is valid, but the engine refused to carry it out."""

    code = "refused"
    exit_code = 7


class InconsistentError(EngineError):
    """The store does not continue the history of a checkpoint that was kept outside the store.

    The store was rolled back, was forked, or is a different store. `known` is the text of the
    checkpoint that was kept; it includes the signatures if they were kept too. `found` holds the texts of the
    store's own checkpoints. The last of these texts is the checkpoint at the head of the store.
    """

    code = "inconsistent"
    exit_code = 9

    def __init__(self, message: str, *, known: str, found: tuple[str, ...], hint: str = "") -> None:
        super().__init__(
            message, hint=hint or "keep both checkpoints and report them to the store's operator"
        )
        self.known = known
        self.found = found


class SystemFailureError(EngineError):
    """The system failed or refused an operation: full disk, I/O error, denied access, too many open files.

    Neither the arguments nor the store are the cause. Nothing was written. `hint` tells the user what to do
    next.
    """

    code = "system"
    exit_code = 10


class UnauthorizedError(EngineError):
    """A request to a service has no token, or a token that the service does not know."""

    code = "unauthorized"
    exit_code = 7


class ForbiddenError(EngineError):
    """The token of a request does not permit the operation on this memory."""

    code = "forbidden"
    exit_code = 7


class TooManyRequestsError(EngineError):
    """A client has sent more requests than the service permits, or a limit of connections is reached.

    `seconds` is the time after which the client may try again.
    """

    code = "too_many_requests"
    exit_code = 5

    def __init__(self, message: str, *, hint: str = "", seconds: int = 1) -> None:
        super().__init__(message, hint=hint or f"try again after {seconds} s")
        self.seconds = seconds


class ClosedError(EngineError):
    """The engine was closed, or was opened in a parent process before a fork."""

    code = "closed"


class LockedError(EngineError):
    """A sealed store cannot be opened: no key was given, or it is wrong. Nothing was written."""

    code = "locked"
    exit_code = 11


class InDoubtError(EngineError):
    """A write failed after it was sent to the backend, so it may or may not have been stored.

    Reopen the store and call `Engine.was_kept(error.seq, error.event_id)`; if the result is False, repeat the
    write. A single command can be repeated without this check: if it was stored, the second call appends no
    event.
    """

    code = "in_doubt"
    exit_code = 10

    def __init__(self, message: str, *, seq: int = -1, event_id: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint or "reopen the store and repeat the command")
        self.seq = seq
        self.event_id = event_id


Item = TypeVar("Item")
Function = TypeVar("Function", bound=Callable[..., Any])

row_families: dict[str, bytes] = {}
"""Name of a family of rows → the prefix of its keys. `engine.ledger.layout` fills this map."""

_ORIGINALS = frozenset({"journal", "payload", "unknown"})
"""The families that cannot be computed from other rows. A row has an unknown family if its key is damaged."""

_TRANSLATIONS: tuple[tuple[type[BackendError], type[EngineError], str], ...] = (
    (BackendBusy, BusyError, ""),
    (BackendMissing, NotFoundError, "create it with `engine init`, or check the path"),
    (BackendUnusable, InvalidInputError, ""),
    (BackendClosed, ClosedError, ""),
    (
        BackendCorrupt,
        CorruptionError,
        "`engine rescue STORE -o NEW` makes a new store from what is left of the journal",
    ),
    (BackendEnvironment, SystemFailureError, ""),
    (BackendInDoubt, InDoubtError, ""),
    (BackendLocked, LockedError, ""),
    (BackendError, EngineError, ""),
)

_EXTRAS = {
    **dict.fromkeys(("mcp", "mcp_types", "starlette", "uvicorn", "h11", "anyio"), "service"),
    "httpx2": "remote",
    "watchfiles": "watch",
    "langchain_core": "langchain",
    "langgraph": "langgraph",
}
"""The extra that installs each package that a function imports without a check of its own."""

_OWN = (OSError, MemoryError, ImportError)
"""The exceptions of Python that the environment causes."""

_FROM_CALLER = "_memroot_from_caller"
"""The attribute that marks exceptions raised by code of the caller. They are never translated."""


class _Translation:
    """The context manager of `translated`. It has no state, so all blocks share one object."""

    __slots__ = ()

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, BackendLost):
            raise CorruptionError(str(error), hint=error.hint) from error
        if isinstance(error, BackendCorrupt) and error.key is not None:
            raise _damaged_row(error, error.key) from error
        if isinstance(error, BackendError):
            translated_class, hint = next(
                (target, hint) for source, target, hint in _TRANSLATIONS if isinstance(error, source)
            )
            raise translated_class(str(error), hint=getattr(error, "hint", hint)) from error
        # A closed pipe means that the reader of the output has enough.
        if isinstance(error, _OWN) and not isinstance(error, BrokenPipeError) and not _is_callers(error):
            raise system_failure(error) from error


def _damaged_row(error: BackendCorrupt, key: bytes) -> CorruptionError:
    """Return the error for one damaged row. The error names the row's family and states the repair."""
    family = next((name for name, prefix in row_families.items() if key.startswith(prefix)), "unknown")
    repair = _RESCUE if family in _ORIGINALS else _REBUILD
    return CorruptionError(f"{error} (family {family})", hint=f"{_COPY}; then {repair}", family=family)


_COPY = "copy the store's files to another folder"
_REBUILD = "run `engine rebuild`"
_RESCUE = "restore a backup, or read what is left with `engine rescue STORE -o NEW`"

_TRANSLATION = _Translation()


def translated() -> _Translation:
    """Convert errors of the backend and of the system in the `with` block to the matching `EngineError`.

    `_TRANSLATIONS` has the hints for these errors.
    """
    return _TRANSLATION


def raising_own_errors(function: Function) -> Function:
    """Return a function that converts errors as `translated` does, also those of imports in `function`."""

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        with _TRANSLATION:
            return function(*given, **named)

    return cast("Function", call)


def system_failure(error: OSError | MemoryError | ImportError, what: str = "") -> SystemFailureError:
    """Return the engine's error for an exception that reports a failure of the system.

    `what` says what failed and where: `notes.md cannot be written`. The default names the file of the error.
    """
    if isinstance(error, MemoryError):
        return SystemFailureError(
            "there is not enough memory", hint="end other programs, or use smaller texts"
        )
    if isinstance(error, ImportError):
        if extra := _EXTRAS.get((error.name or "").partition(".")[0]):
            return SystemFailureError(
                f"this needs the extra `{extra}`, which cannot be loaded: {error}", hint=installing(extra)
            )
        return SystemFailureError(
            f"a part of the installation cannot be loaded: {error}", hint="install memroot again"
        )
    if not what and error.filename:
        what = f"{error.filename!r} cannot be used"
    cause, remedy = explain(error.errno or 0, error.strerror or str(error))
    return SystemFailureError(f"{what}: {cause}" if what else cause, hint=remedy)


def is_environment(error: BaseException) -> bool:
    """Return True for an OSError that is caused by the environment, not by the path or an argument."""
    return isinstance(error, OSError) and error.errno in TROUBLES


def callers(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of an iterable of the caller.

    Exceptions that the iterable raises pass through `translated` unchanged.
    """
    try:
        yield from items
    except _OWN as error:
        setattr(error, _FROM_CALLER, True)
        raise


def _is_callers(error: BaseException) -> bool:
    return hasattr(error, _FROM_CALLER)
