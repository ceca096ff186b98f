"""Calls between a framework and a memory: from an event loop, and the error for a missing framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from engine.base.errors import SystemFailureError

Result = TypeVar("Result")


async def in_thread(call: Callable[[], Result]) -> Result:
    """Run `call` in another thread and return its result. Meanwhile, the event loop continues.

    If the caller is cancelled, this function first waits for the end of the call, because a write that has
    begun cannot be stopped. Then it raises the cancellation.
    """
    task = asyncio.ensure_future(asyncio.to_thread(call))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()  # so that the loop does not report an unused error
        raise cancelled
    return task.result()


def missing(package: str, extra: str, error: ImportError) -> SystemFailureError:
    """Return the error to raise if the package of a framework cannot be imported.

    Args:
        package: The name of the package on the package index.
        extra: The extra of memroot that installs the package.
        error: The error of the import; its text says which module is missing.
    """
    return SystemFailureError(
        f"this adapter needs the package {package}, which cannot be imported: {error}",
        hint=f"pip install 'memroot[{extra}]'",
    )
