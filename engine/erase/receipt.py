"""What an erasure did, what was looked for, and what it cannot reach."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.base.model import EventRef
from engine.erase.probe import Sighting

OUT_OF_REACH: Final = (
    "copies, exports and backups of the store that were made before",
    "proofs that were handed out with the content opened, and whatever an answer was shown to",
    "Markdown mirrors in folders elsewhere, until they are synchronised",
    "the salted commitments in headers and the roots in checkpoints, which stay",
    "what the file system or the disk keeps of blocks that the store's files no longer use",
    "entities and relations that were taken from it: `engine explore_neighbors`, `unrelate` and `erase` them",
    "temporary folders `memroot-scratch-*` of commands that were killed while they replayed the journal",
)
"""What erasing does not touch, whatever a receipt says (docs/forgetting.md)."""


class Verdict(StrEnum):
    """What the looking before and after shows."""

    CONFIRMED = "confirmed"
    """It was found before, in files and answers, and nowhere after."""
    INCONCLUSIVE = "inconclusive"
    """It could not be told; `reasons` say why."""
    FAILED = "failed"
    """It was still found after."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Looking for pieces of the content before and after."""

    verdict: Verdict
    reasons: tuple[str, ...]
    pieces: int
    """How many pieces were looked for: those that nobody else has."""
    before: Sighting
    after: Sighting
    also_in: tuple[str, ...]
    """Ids of other atoms, not erased, in which pieces of the content stand, at most 20."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """The receipt of an erasure."""

    id: str
    reason: str
    events: tuple[EventRef, ...]
    """Those that say so; the last one is `erased`. None where it was erased before."""
    payloads: int
    """Events whose payloads were destroyed."""
    payload_bytes: int
    edges: int
    contents: int
    """Different contents that are refused from now on, because a keyed hash of them is kept."""
    segments: int
    """Segments of the index that were written anew."""
    purged: bool
    """Whether the backend's files were rewritten."""
    probe: Probe | None
    """None where nobody asked for it, or nothing was erased."""
    out_of_reach: tuple[str, ...] = OUT_OF_REACH


@dataclass(frozen=True, slots=True)
class Erasable:
    """What erasing an atom would destroy."""

    id: str
    payloads: int
    payload_bytes: int
    edges: int
    contents: int
    also_in: tuple[str, ...]
    """Ids of other atoms, not erased, in which pieces of the content stand, at most 20."""


def judged(
    before: Sighting, after: Sighting, *, pieces: int, files: bool, all_pieces: int
) -> tuple[Verdict, tuple[str, ...]]:
    """What two lookings show together."""
    left = [*after.files, *after.answers]
    if left:
        return Verdict.FAILED, (f"it is still found in: {', '.join(left)}",)
    reasons = []
    if not pieces:
        reasons.append(
            "everything in it that is long enough also stands elsewhere"
            if all_pieces
            else "it is too short to look for"
        )
    elif not files:
        reasons.append("this kind of store has no files to look into")
    elif not before.files:
        reasons.append("it was not found in the files before, so not finding it after says nothing")
    if pieces and not before.answers:
        reasons.append("no answer showed it before")
    return (Verdict.INCONCLUSIVE if reasons else Verdict.CONFIRMED), tuple(reasons)
