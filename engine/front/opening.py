"""Opening what the settings name, and waiting for a store that another process holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from backends import open_backend
from backends.base import Backend
from engine.base.error_translation import translated
from engine.base.errors import BusyError, InvalidInputError
from engine.front.settings import find_secrets

if TYPE_CHECKING:
    from engine.engine import Engine


Opened = TypeVar("Opened")

POLL_SECONDS = 0.02
"""The pause between two attempts to open a store that another process holds."""


def engine_opener(url: str, actor: str, *, create: bool) -> Callable[[], Engine]:
    """A function that opens the store at `url`, under the rules for secrets that the settings give.

    Raises:
        InvalidInputError: a settings file or ENGINE_SECRETS says something unknown.
    """
    policy = find_secrets()[0]

    def opened() -> Engine:
        # Loaded here: it takes 0.1 s, in which help is printed and a server answers its first message.
        from engine.engine import Engine

        return Engine.open(url, create=create, actor=actor, secrets=policy)

    return opened


def backend_opener(url: str, *, create: bool = False) -> Callable[[], Backend]:
    """A function that opens the backend at `url`, without an engine that might repair what it finds."""

    def opened() -> Backend:
        with translated():
            return open_backend(url, create=create)

    return opened


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
