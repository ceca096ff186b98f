"""What happens at SIGINT and SIGTERM, for as long as something lasts."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_end(handler: Callable[[], object]) -> Iterator[None]:
    """Call `handler` at SIGINT and SIGTERM instead of ending the process; only in the main thread.

    What was there before is put back afterwards.
    """

    def called(number: int, frame: FrameType | None) -> None:
        del number, frame
        handler()

    before = {number: signal.signal(number, called) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
