"""What a run of the mirror, and a check of it, answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.transfer.mirror.style import StyleName


@dataclass(frozen=True, slots=True)
class MirrorReport:
    """What is in a mirror now, and what was done for it."""

    folder: str
    style: StyleName
    size: int
    """Events that the mirror is of."""
    root: str
    """The overall root of them, 64 hex digits."""
    atoms: int
    pages: int
    changed: bool
    """Whether anything was written, or would be."""
    written: int
    """Pages that are new or say something else than before."""
    removed: int
    """Pages that are no more."""
    foreign: tuple[str, ...]
    """What else stands in the folder, and was left alone."""
    set_aside: tuple[tuple[str, str], ...]
    """Pages that somebody edited: (the page, where that version stands now; empty in a dry run)."""


class Verdict(StrEnum):
    """What is the matter with a mirror or a file in it."""

    EDITED = "edited"
    """The file is not as it was written."""
    MISSING = "missing"
    FOREIGN = "foreign"
    """The file is none of the mirror's; that is no fault."""
    STALE = "stale"
    """The mirror is right for an earlier head."""
    FORGED = "forged"
    """What the manifest says is not what the store gives for that head."""
    UNFINISHED = "unfinished"
    """A run was cut off; the next one finishes it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found."""

    verdict: Verdict
    path: str
    """The file, or empty for the mirror as a whole."""
    detail: str


@dataclass(frozen=True, slots=True)
class MirrorCheck:
    """How a mirror stands to its files and to the store."""

    folder: str
    style: StyleName
    size: int
    root: str
    behind: int
    """Events since."""
    pages: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether the folder is what the store says now, foreign files aside."""
        return all(finding.verdict is Verdict.FOREIGN for finding in self.findings)
