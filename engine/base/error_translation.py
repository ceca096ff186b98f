"""Translation of backend errors into the engine's own errors."""

from __future__ import annotations

from types import TracebackType

from backends.errors import (
    BackendBusy,
    BackendClosed,
    BackendCorrupt,
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
)

row_families: dict[str, bytes] = {}
"""Name of a family of rows → the prefix of its keys. `engine.ledger.layout` fills it."""

_ORIGINALS = frozenset({"journal", "payload"})
"""The families that cannot be computed from other rows."""

_TRANSLATIONS: tuple[tuple[type[BackendError], type[EngineError], str], ...] = (
    (
        BackendBusy,
        BusyError,
        "close the store in the other process, or use a sqlite: store, which several processes can open",
    ),
    (BackendMissing, NotFoundError, "create it with `engine init`, or check the path"),
    (BackendUnusable, InvalidInputError, ""),
    (BackendClosed, ClosedError, ""),
    (
        BackendCorrupt,
        CorruptionError,
        "first copy the store's files to another place; then run `engine verify-root`",
    ),
    (BackendInDoubt, InDoubtError, ""),
    (BackendError, EngineError, ""),
)


class _Translation:
    """The context manager of `translated`. It has no state, so all blocks share one."""

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
            raise translated_class(str(error), hint=hint) from error


def _damaged_row(error: BackendCorrupt, key: bytes) -> CorruptionError:
    """Return the error for one damaged row: it names the row's family, and the repair."""
    family = next((name for name, prefix in row_families.items() if key.startswith(prefix)), "unknown")
    if family == "unknown":
        return CorruptionError(f"{error}; the key itself is damaged", hint=_RESCUE)
    hint = (
        _RESCUE
        if family in _ORIGINALS
        else "copy the store's files to another folder; then run `engine rebuild`"
    )
    return CorruptionError(f"{error} (family {family})", hint=hint, family=family)


_RESCUE = (
    "copy the store's files to another folder; then restore a backup, "
    "or read what is left with `engine rescue`"
)

_TRANSLATION = _Translation()


def translated() -> _Translation:
    """Convert each backend error that is raised in the `with` block to the matching `EngineError`.

    If `_TRANSLATIONS` defines a hint for the error, the `EngineError` has this hint.
    """
    return _TRANSLATION
