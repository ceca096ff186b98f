"""Keep an open memory and the folder of its family up to date (the setting `sync`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from engine.base.errors import EngineError, NotFoundError, translated
from engine.ledger.journal import read_log
from engine.store.following import Following
from engine.store.store import Store
from engine.sync.devices import SyncReport, sync


class FollowingSync(Following):
    """The family of one open memory: read when the memory is opened, written after its writes."""

    def __init__(
        self, store: Store, folder: str | os.PathLike[str], actor: str, forget: Callable[[], None]
    ) -> None:
        """Read what is new in the folder. A failure is logged; the memory can be used as it is."""
        super().__init__(store)
        self._folder, self._actor, self._forget = Path(folder), actor, forget
        self.report: SyncReport | None = None
        """What the last sync did, or None."""
        try:
            with translated():
                self._size = self.update()
        except EngineError as error:
            self.problem = str(error)
            hint = f" ({error.hint})" if isinstance(error, NotFoundError) else ""
            self.warn(f"{self.what} could not be read: {error}{hint}")

    @property
    def what(self) -> str:
        """The folder, for messages."""
        return f"the folder {self._folder} of the devices"

    def update(self) -> int:
        """Sync, and warn of what was refused."""
        self.report = sync(self.store, self._folder, self._actor, self._forget)
        for problem in self.report.problems:
            self.warn(f"refused: {problem}")
        return read_log(self.store.backend).size
