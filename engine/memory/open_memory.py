"""Opening a memory, and waiting while another process keeps it locked (`lease` keeps it open)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from backends import open_backend
from backends.base import Backend
from engine.base.errors import (
    BusyError,
    InvalidInputError,
    translated,
)
from engine.memory.memory_settings import find_secrets

if TYPE_CHECKING:
    from pathlib import Path

    from backends.sealed.seal import Seal
    from engine.commands.secrets.policy import SecretsPolicy
    from engine.engine import Engine


Opened = TypeVar("Opened")

POLL_SECONDS = 0.02
"""The pause between two attempts to open a store that another process keeps locked."""


def engine_opener(
    url: str,
    actor: str,
    *,
    create: bool,
    mirror: Path | None = None,
    secrets: SecretsPolicy | str | None = None,
    sync: Path | None = None,
) -> Callable[[], Engine]:
    """Return a function that opens the store at `url`.

    `mirror` is the folder of the mirror that is updated after each write, or None. `secrets` is a secrets
    policy, the mode of a policy, or None for the policy in the settings. `sync` is the folder in which the
    devices of the memory meet, or None.

    Raises:
        InvalidInputError: A settings file or ENGINE_SECRETS has an unknown value.
    """
    policy = find_secrets()[0] if secrets is None else secrets

    def opened() -> Engine:
        # Imported here because it takes 0.1 s, which would delay help texts and a server's first answer.
        from engine.engine import Engine

        return Engine.open(url, create=create, actor=actor, secrets=policy, mirror=mirror, sync=sync)

    return opened


def backend_opener(url: str, *, create: bool = False, key: str | Seal | None = None) -> Callable[[], Backend]:
    """Return a function that opens only the backend at `url`. Opening an `Engine` might repair the store."""

    def opened() -> Backend:
        with translated():
            return open_backend(url, create=create, key=key)

    return opened


def retry_while_busy(open_it: Callable[[], Opened], seconds: float) -> Opened:
    """Call `open_it` and return its result. If the call raises BusyError, repeat it for at most `seconds`.

    Raises:
        BusyError: The store is still locked by another process after that time.
        InvalidInputError: `seconds` is negative or not a number.
    """
    if not seconds >= 0:
        raise InvalidInputError(f"--wait must be a number of seconds of at least 0, not {seconds}")
    deadline = time.monotonic() + seconds
    while True:
        try:
            return open_it()
        except BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(POLL_SECONDS)
