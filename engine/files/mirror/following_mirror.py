"""Keep the mirror of a memory up to date while the memory is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from engine.files.mirror.changed_pages import sync_changes
from engine.files.mirror.mirror_place import place_at
from engine.files.mirror.mirror_report import PullReport, RefusedEdit
from engine.store.following import Following
from engine.store.replay import Progress, no_progress
from engine.store.store import Store

PERSON: Final = "user"
"""The actor of edits from the pages, because a person made them, whichever actor wrote to the memory last."""

BUSY_SECONDS: Final = 10.0
"""The seconds for which a sync waits until another process has written a mirror in the same folder."""


def update(
    store: Store,
    folder: str | os.PathLike[str],
    *,
    actor: str,
    everything: bool = False,
    wait: float = 0.0,
    progress: Progress = no_progress,
) -> PullReport:
    """Bring the mirror in `folder` up to date, or write it if it is missing.

    The edits in the pages that this replaces are applied first; the whole mirror is compared only then.

    Args:
        store: The store.
        folder: The mirror.
        actor: The author of the events of edits.
        everything: Apply the edits in all pages.
        wait: The seconds for which to wait while another run writes in the same parent folder.
        progress: Called with (atoms written, all atoms) while the whole mirror is written.

    Raises:
        BusyError: Another run was still writing in the parent folder.
        RefusedError: See `place_at` and `existing`.
    """
    with place_at(folder, lock=True, wait=wait) as place:
        report = None if everything else sync_changes(store, place)
        if report is not None:
            return PullReport(place.path, (), (), report)
        # Imported here because it takes 15 ms, as long as an update of a few pages.
        from engine.files.mirror.mirror_pull import pull_at

        return pull_at(store, place, actor, progress, dry_run=False, create=True)


class FollowingMirror(Following):
    """The mirror of one open memory."""

    def __init__(self, store: Store, folder: str | os.PathLike[str]) -> None:
        """Remember the store and the folder; nothing is written before the first write of the memory."""
        super().__init__(store)
        self._folder = Path(os.path.abspath(folder))  # noqa: PTH100  a link must be refused, not followed
        self._told: frozenset[RefusedEdit] = frozenset()
        self.report: PullReport | None = None
        """What the last sync did, or None."""

    @property
    def what(self) -> str:
        """The mirror and its folder, for messages."""
        return f"the mirror {self._folder}"

    def update(self) -> int | None:
        """Bring the mirror up to date, and warn of edits that cannot be applied."""
        self.report = report = update(self.store, self._folder, actor=PERSON, wait=BUSY_SECONDS)
        for change in report.refused:
            if change not in self._told:
                self.warn(f"an edit in {change.page} cannot be applied: {change.reason} {change.kept}")
        self._told |= frozenset(report.refused)
        return None if report.mirror is None else report.mirror.size
