"""Wait for changes in folders, and call functions with the changed paths, in batches.

    the system ── events ──▶ batches: no further event for a while ──▶ function(paths), one batch at a time

The system may report a change twice, late, or as a different kind of change. So a function must compare the
files with its own data, as `engine ingest` does, and must do nothing if nothing changed.

The system watches folders by their identity, not by their names. A folder that is sometimes replaced as a
whole, such as a mirror, is therefore watched again when a different folder gets the name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from engine.base.errors import NotFoundError, SystemFailureError, translated

if TYPE_CHECKING:
    from watchfiles import Change


QUIET_MS: Final = 400
"""A batch ends when there was no event for this time. A file that is being written may then be complete."""
BATCH_MS: Final = 5_000
"""A batch ends after this time, even if there are further events."""
WAIT_MS: Final = 500
"""The time after which waiting is interrupted, so that failed work can be tried again."""

_NO_WAIT_MS: Final = 1


class Stop(Protocol):
    """A flag that ends the watching when it is set."""

    def is_set(self) -> bool:
        """Return True if the watching must end."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A folder, and the function that is called when something in it changes."""

    folder: Path
    """The real path of the folder."""
    changed: Callable[[frozenset[Path]], bool]
    """Called with the real paths of entries that were added, changed or removed; with no path at the start.

    The result is False if the function could not do its work now. The function is then called again, with the
    same paths and the paths of later batches.
    """
    concerns: Callable[[Path], bool] = lambda _: True
    """Return False for a path whose changes do not matter."""


def watch(
    watched: Sequence[Watched],
    stop: Stop,
    *,
    ignored: Collection[Path] = (),
    between: Callable[[], object] = lambda: None,
) -> None:
    """Call the functions of `watched` until `stop` is set: at the start, and after each batch of changes.

    Changes that occur while a function runs belong to the next batch, so no change is lost.

    Args:
        watched: The folders. If one folder contains another, a path belongs to the innermost folder.
        stop: The flag that ends the watching. A running function is not interrupted.
        ignored: Real paths of files and folders whose changes are ignored, even if a folder contains them.
        between: Called after each batch and each wait.

    Raises:
        NotFoundError: a folder does not exist.
        SystemFailureError: the extra `watch` is not installed, or the system cannot watch the folders.
    """
    pending: dict[Path, frozenset[Path]] = {one.folder: frozenset() for one in watched}
    innermost_first = sorted(watched, key=lambda one: len(one.folder.parts), reverse=True)
    skipped = tuple(str(path) for path in ignored)
    for batch in _batches([one.folder for one in watched], stop):
        for path in batch:
            owner = next((one for one in innermost_first if path.is_relative_to(one.folder)), None)
            is_ours = any(f"{path}/".startswith(f"{prefix}/") for prefix in skipped)
            if owner is not None and not is_ours and owner.concerns(path):
                pending[owner.folder] = pending.get(owner.folder, frozenset()) | {path}
        for one in watched:
            if one.folder not in pending or stop.is_set():
                continue
            if not one.folder.is_dir():
                raise NotFoundError(f"the folder {one.folder} is no longer there")
            if one.changed(pending[one.folder]):
                del pending[one.folder]
        if not stop.is_set():
            between()


def changes_in(
    folders: Sequence[Path], wait_ms: int, stop: Stop | None = None
) -> Iterator[set[tuple[Change, str]]]:
    """Yield the changes in folders, in batches; an empty set after each `wait_ms` without a change.

    Raises:
        SystemFailureError: the extra `watch` is not installed.
        OSError: a folder is missing, or the system cannot watch it.
    """
    with translated():
        from watchfiles import watch as changes

    stopper: Any = stop
    return changes(
        *folders,
        watch_filter=None,
        debounce=BATCH_MS,
        step=QUIET_MS,
        stop_event=stopper,
        rust_timeout=wait_ms,
        yield_on_timeout=True,
        raise_interrupt=True,
        ignore_permission_denied=True,
    )


def _batches(folders: Sequence[Path], stop: Stop) -> Iterator[set[Path]]:
    """Yield sets of changed paths; an empty set after each wait without a change."""
    for folder in folders:
        if not folder.is_dir():
            raise NotFoundError(f"no such folder: {folder}")
    try:
        for changes in changes_in(folders, WAIT_MS, stop):
            yield {Path(os.fsdecode(path)) for _, path in changes}
    except OSError as error:
        raise SystemFailureError(
            f"the system cannot watch these folders: {(error.strerror or str(error)).lower()}",
            hint="there may be too many folders; `engine ingest` reads them without watching",
        ) from error


class ReplacedFolder:
    """The changes in a folder that is sometimes replaced as a whole. The folder need not exist yet.

    After a replacement, all files in the new folder count as possibly changed.
    """

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
