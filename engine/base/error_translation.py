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


@contextmanager
def translated() -> Iterator[None]:
    """Let only errors of the `EngineError` family leave the block, each with what to do."""
    try:
        yield
    except BackendBusy as error:
        raise BusyError(
            str(error), hint="close it there, or use a sqlite: store for several processes"
        ) from error
    except BackendMissing as error:
        raise NotFoundError(str(error), hint="create it with `engine init`, or check the path") from error
    except BackendUnusable as error:
        raise InvalidInputError(str(error)) from error
    except BackendClosed as error:
        raise ClosedError(str(error)) from error
    except BackendCorrupt as error:
        raise CorruptionError(
            str(error),
            hint="copy the store's files aside before anything else; then run `engine verify-root`",
        ) from error
    except BackendInDoubt as error:
        raise InDoubtError(str(error)) from error
    except BackendError as error:
        raise EngineError(str(error)) from error
