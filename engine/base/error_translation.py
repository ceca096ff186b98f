"""The one place where a backend's errors become the engine's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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

_MEANINGS: tuple[tuple[type[BackendError], type[EngineError], str], ...] = (
    (BackendBusy, BusyError, "close it there, or use a sqlite: store for several processes"),
    (BackendMissing, NotFoundError, "create it with `engine init`, or check the path"),
    (BackendUnusable, InvalidInputError, ""),
    (BackendClosed, ClosedError, ""),
    (
        BackendCorrupt,
        CorruptionError,
        "copy the store's files aside before anything else; then run `engine verify-root`",
    ),
    (BackendInDoubt, InDoubtError, ""),
    (BackendError, EngineError, ""),
)


@contextmanager
def translated() -> Iterator[None]:
    """Let only errors of the `EngineError` family leave the block, each with what to do."""
    try:
        yield
    except BackendError as error:
        kind, hint = next((kind, hint) for raised, kind, hint in _MEANINGS if isinstance(error, raised))
        raise kind(str(error), hint=hint) from error
