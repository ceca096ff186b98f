"""Waiting for a store that another process holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from engine.base.errors import BusyError, InvalidInputError

Opened = TypeVar("Opened")

POLL_SECONDS = 0.02
"""The pause between two attempts to open a store that another process holds."""


def patiently(open_it: Callable[[], Opened], seconds: float) -> Opened:
    """What `open_it` opens. While another process holds it, this tries again for `seconds`.

    Raises:
        BusyError: it is still held.
        InvalidInputError: `seconds` is negative or not a number.
    """
    if not seconds >= 0:
        raise InvalidInputError(f"--wait takes 0 seconds or more, not {seconds}")
    deadline = time.monotonic() + seconds
    while True:
        try:
            return open_it()
        except BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(POLL_SECONDS)
