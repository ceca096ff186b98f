"""Detect changes in a folder that is sometimes replaced as a whole, such as a mirror.

The system watches folders by their identity, not by their names. When a different folder gets the name,
watching begins again, and all files in the new folder count as possibly changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.files.watching import changes_in

if TYPE_CHECKING:
    from watchfiles import Change

_NO_WAIT_MS: Final = 1


class ReplacedFolder:
    """The changes in a folder. The folder need not exist yet."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder; watching begins with the first call of `changed`."""
        self._folder = folder
        self._watched: tuple[int, int] | None = None
        self._events: Iterator[set[tuple[Change, str]]] | None = None

    def changed(self) -> bool:
        """Return True if something in the folder may have changed since the last call. Do not wait."""
        present = self._identity()
        if present != self._watched:
            return self._begin(present)
        return self._events is not None and bool(next(self._events))

    def _identity(self) -> tuple[int, int] | None:
        """Return the identity of the folder, or None if there is no folder."""
        try:
            status = self._folder.lstat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _begin(self, present: tuple[int, int] | None) -> bool:
        self._watched = self._events = None
        if present is None:
            return False
        events = changes_in([self._folder], _NO_WAIT_MS)
        try:
            next(events)
        except OSError:
            return False  # the folder was removed; the next call looks again
        self._watched, self._events = present, events
        return True
