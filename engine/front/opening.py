"""Opening what the settings name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from backends import open_backend
from backends.base import Backend
from engine.base.error_translation import translated
from engine.front.settings import find_secrets

if TYPE_CHECKING:
    from engine.engine import Engine


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
