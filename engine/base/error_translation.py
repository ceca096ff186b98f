"""Translation of backend errors into the engine's own errors."""

from __future__ import annotations

from types import TracebackType

from backends.errors import (
    BackendBusy,
    BackendClosed,
    BackendCorrupt,
    BackendError,
    BackendInDoubt,
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
        "`engine rescue STORE -o NEW` makes a new store from what is left of the journal",
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
        if isinstance(error, BackendError):
            translated_class, hint = next(
                (target, hint) for source, target, hint in _TRANSLATIONS if isinstance(error, source)
            )
            raise translated_class(str(error), hint=hint) from error


_TRANSLATION = _Translation()


def translated() -> _Translation:
    """Convert each backend error that is raised in the `with` block to the matching `EngineError`.

    If `_TRANSLATIONS` defines a hint for the error, the `EngineError` has this hint.
    """
    return _TRANSLATION
