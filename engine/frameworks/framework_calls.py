"""Calls between a framework and a memory: from an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

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
