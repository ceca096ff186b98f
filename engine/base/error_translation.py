"""Translation of the errors of backends and of the operating system into the engine's own errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TypeVar

from backends.environment import TROUBLES, explain
from backends.errors import (
    BackendBusy,
    BackendClosed,
    BackendCorrupt,
    BackendEnvironment,
    BackendError,
    BackendInDoubt,
    BackendLost,
    BackendMissing,
    BackendUnusable,
)
from engine.base.errors import (
    BusyError,
    ClosedError,
    CorruptionError,
    EngineError,
    InDoubtError,
    InvalidInputError,
    NotFoundError,
    SystemFailureError,
)

Item = TypeVar("Item")

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
    (BackendError, EngineError, ""),
)

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


def system_failure(error: OSError | MemoryError | ImportError, what: str = "") -> SystemFailureError:
    """Return the engine's error for an exception that reports a failure of the system.

    `what` says what failed and where: `notes.md cannot be written`. The default names the file of the error.
    """
    if isinstance(error, MemoryError):
        return SystemFailureError(
            "there is not enough memory", hint="end other programs, or use smaller texts"
        )
    if isinstance(error, ImportError):
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
