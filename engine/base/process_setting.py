"""Settings of the whole process that are changed for the duration of some work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class ProcessSetting(Generic[T]):
    """A setting that has a different value while at least one block needs it.

    Blocks may overlap in any order, in one thread or in several. When the last block ends, the setting is
    restored to the value that it had before the first block.
    """

    def __init__(self, read: Callable[[], T], write: Callable[[T], object], during: Callable[[T], T]) -> None:
        """Create the object without changing the setting.

        Args:
            read: Returns the present value.
            write: Sets the value.
            during: Takes the value before the blocks and returns the value during the blocks.
        """
        self._read, self._write, self._during = read, write, during
        self._lock = threading.Lock()
        self._blocks = 0
        self._before: T

    @contextmanager
    def changed(self) -> Iterator[None]:
        """Change the setting during a block."""
        with self._lock:
            if not self._blocks:
                self._before = self._read()
                self._write(self._during(self._before))
            self._blocks += 1
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                if not self._blocks:
                    self._write(self._before)
