"""Apply the edits that are made in the pages of a mirror, while `engine watch` runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from engine.base.errors import BusyError, EngineError
from engine.cli.mirroring import after_writes
from engine.cli.session import Session
from engine.cli.shapes import counted, line
from engine.files.mirror.pull import is_edited
from engine.files.replaced_folder import ReplacedFolder


@dataclass
class MirrorEdits:
    """Applies the edits in the pages of the mirror; the settings name the mirror.

    After the program updates the mirror, the pages are exactly as the program wrote them. The update is
    therefore not mistaken for an edit, and the store is not opened.
    """

    session: Session
    folder: Path | None
    """The mirror; None if the settings do not name a mirror."""
    events: int = 0
    """The number of events that were appended so far."""
    _changes: ReplacedFolder | None = None
    _is_due: bool = False
    _told: set[str] = field(default_factory=set)
    _waits: bool = False

    def look(self) -> None:
        """Apply the edits if something in the mirror changed, or if edits could not be applied earlier."""
        if self.folder is None:
            return
        if self._changes is None:
            self._changes = ReplacedFolder(self.folder)
        self._is_due |= self._changes.changed()
        if self._is_due:
            self._is_due = not self._take(self.folder)

    def _take(self, folder: Path) -> bool:
        """Apply the edits, if there are any. Return False if the store is in use."""
        try:
            if not is_edited(folder):
                return True
            with self.session.engine() as engine:
                before = engine.size
                failure = after_writes(self.session, engine)
                appended = engine.size - before
        except BusyError:
            if not self._waits:
                self.session.out.note("the store is in use; the edits in the mirror wait")
            self._waits = True
            return False
        except EngineError as error:
            self._note(f"no edits applied from the mirror: {error}")
            return True
        self._waits = False
        self.events += appended
        if failure is not None:
            self._note(failure.message)
        self._tell(appended, None if failure is None else failure.message)
        return True

    def _note(self, message: str) -> None:
        """Print a note once."""
        if message not in self._told:
            self._told.add(message)
            self.session.out.note(message)

    def _tell(self, appended: int, failure: str | None) -> None:
        if self.session.out.json:
            self.session.out.json_line({"event": "edits", "events": appended, "mirror_error": failure})
        else:
            self.session.out.show(line("mirror", f"edits applied, {counted(appended, 'event')}"))
