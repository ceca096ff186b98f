"""The reports of the operations on mirrors: writing, checking, and applying edits of pages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.files.mirror.page_style import StyleName


@dataclass(frozen=True, slots=True)
class MirrorReport:
    """The contents of a mirror after a run, and the changes that the run made."""

    folder: str
    style: StyleName
    size: int
    """The number of events that the mirror covers."""
    root: str
    """The overall root of these events, 64 hex digits."""
    atoms: int
    pages: int
    changed: bool
    """True if anything was written, or would be in a dry run."""
    written: int
    """The number of pages that are new or changed."""
    removed: int
    """The number of pages of the old mirror that the new mirror does not have."""
    foreign: tuple[str, ...]
    """The paths of entries in the folder that do not belong to the mirror. They were left unchanged."""
    set_aside: tuple[tuple[str, str], ...]
    """Edited pages: (path of the page, absolute path of the edited version, or "" in a dry run)."""


class Verdict(StrEnum):
    """The kinds of findings about a mirror or a file in it."""

    EDITED = "edited"
    """The file was changed after it was written."""
    MISSING = "missing"
    FOREIGN = "foreign"
    """The file does not belong to the mirror, which is not an error."""
    STALE = "stale"
    """The mirror is correct for an earlier state of the store."""
    FORGED = "forged"
    """The manifest differs from the manifest that the store generates for the same number of events."""
    UNFINISHED = "unfinished"
    """A run was interrupted; the next run finishes it."""


@dataclass(frozen=True, slots=True)
class MirrorFinding:
    """A finding of a check."""

    verdict: Verdict
    path: str
    """The file, or empty for the mirror as a whole."""
    detail: str


@dataclass(frozen=True, slots=True)
class MirrorCheck:
    """The result of comparing a mirror with its manifest and with the store."""

    folder: str
    style: StyleName
    size: int
    root: str
    behind: int
    """The number of events since the mirror was written."""
    pages: int
    findings: tuple[MirrorFinding, ...]

    @property
    def ok(self) -> bool:
        """True if the folder agrees with the store's current head, not counting foreign files."""
        return all(finding.verdict is Verdict.FOREIGN for finding in self.findings)


class Outcome(StrEnum):
    """The effects of an edit on the store."""

    REVISED = "revised"
    CONFLICT = "conflict"
    """The atom was changed in the store since the page was written. The edited text is a separate atom."""
    SAME = "same"
    """The store had the edited text already."""


@dataclass(frozen=True, slots=True)
class PulledEdit:
    """An edited text that was recorded. In a dry run, it was not recorded, but would have been."""

    page: str
    atom: str
    outcome: Outcome
    other: str | None
    """In a conflict, the atom with the edited text."""
    before: str
    """The content of the atom when the page was written."""
    after: str
    """The edited content."""


@dataclass(frozen=True, slots=True)
class RefusedEdit:
    """A change on a page, which the pull cannot record in the store."""

    page: str
    atom: str
    """The id in the heading of the section, or an empty string if the change concerns the whole page."""
    reason: str
    kept: str
    """The absolute path of the edited page, or an empty string if there is no edited page."""


@dataclass(frozen=True, slots=True)
class PullReport:
    """The edits that a pull recorded in the store, and the changes that it could not record."""

    folder: str
    edits: tuple[PulledEdit, ...]
    refused: tuple[RefusedEdit, ...]
    mirror: MirrorReport | None
    """The mirror after the pull; None in a dry run."""

    @property
    def revised(self) -> int:
        """The number of atoms that were revised."""
        return sum(edit.outcome is Outcome.REVISED for edit in self.edits)

    @property
    def conflicts(self) -> int:
        """The number of edits that are in conflict with a change in the store."""
        return sum(edit.outcome is Outcome.CONFLICT for edit in self.edits)
