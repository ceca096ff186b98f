"""Temporary handlers for SIGINT and SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_end(handler: Callable[[], object]) -> Iterator[None]:
    """Call `handler` on SIGINT and SIGTERM, instead of ending the process, until the `with` block ends.

    This works in the main thread only. The previous handlers are restored at the end of the block.
    """

    def on_signal(number: int, frame: FrameType | None) -> None:
        del number, frame
        handler()

    previous_handlers = {
        number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, previous in previous_handlers.items():
            signal.signal(number, previous)
