"""Both event loops, and a memory whose commands wait until a test lets them go on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any, TypeVar

import pytest

from engine import Engine
from engine.engine import wall_clock

T = TypeVar("T")


def run_in_asyncio(main: Callable[[], Awaitable[T]]) -> T:
    """Run `main` under asyncio."""

    async def awaited() -> T:
        return await main()

    return asyncio.run(awaited())


def run_in_trio(main: Callable[[], Awaitable[T]]) -> T:
    """Run `main` under trio. Where trio is not installed, skip the test, but not in the CI."""
    if not os.environ.get("CI"):
        pytest.importorskip("trio", reason="trio is not installed: pip install trio")
    import trio

    result: T = trio.run(main)
    return result


class Gate:
    """A clock that stops commands while they are carried out, until the gate is opened."""

    def __init__(self) -> None:
        self.reached = Event()
        """Set when a command has arrived at the gate."""
        self._open = Event()
        self._open.set()

    def __call__(self) -> int:
        """Return the time, once the gate is open."""
        if not self._open.is_set():
            self.reached.set()
            assert self._open.wait(30)
        return wall_clock()

    def shut(self) -> None:
        """Stop the next command."""
        self.reached.clear()
        self._open.clear()

    def open(self) -> None:
        """Let all commands go on."""
        self._open.set()


def gated(gate: Gate, **options: Any) -> Engine:
    """Return a memory whose commands pass through the gate."""
    return Engine.open("memory:", clock=gate, **options)
