"""Erasing an atom: its content is looked for, destroyed, and looked for again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base import limits
from engine.base.errors import InvalidInputError
from engine.base.model import EventRef
from engine.base.validation import atom_id, line, show_id
from engine.erase.destroy import Pending, Stage, carry_out, destroyable, edges_of, quietly, read_pending
from engine.erase.probe import Elsewhere, Sighting, elsewhere, look, pieces_of
from engine.followers.segments import segments_of
from engine.ledger.layout import payload_key
from engine.ledger.queries import get_record
from engine.ledger.records import AtomRecord, read_counters
from engine.query.view import View
from engine.store.store import Store
from proofs.events import AtomBody, AtomDetail, Entry
from proofs.leaves import State

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


TELLING_CHARS: Final = 4
"""A word of so many characters with a digit in it may not stand in a reason and in the content."""


class _Target(NamedTuple):
    """An atom that is to be erased, as it is now."""

    record: AtomRecord
    entries: list[Entry]
    """Its events since it was last erased, the newest first."""
    erasable: Erasable
    pieces: tuple[str, ...]
    elsewhere: Elsewhere
    segments: int

    @property
    def own(self) -> list[str]:
        """The pieces that nobody else has."""
        return [piece for at, piece in enumerate(self.pieces) if at not in self.elsewhere.pieces]


def erasable(store: Store, id: str) -> Erasable:  # noqa: A002
    """What erasing an atom would destroy; nothing where it is erased.

    Raises:
        NotFoundError: it was never recorded.
    """
    with store.view() as rows:
        return _target(rows, atom_id(id), look_elsewhere=True).erasable


def erase(
    asked: View,
    id: str,  # noqa: A002
    reason: str,
    *,
    actor: str,
    remember: bool = True,
    probe: bool = True,
    progress: Stage = quietly,
) -> Erasure:
    """Destroy the content of an atom for good; its history stays verifiable.

    Args:
        asked: The memory, and how it is asked for what is left.
        id: The atom.
        reason: Why; it stays, so it must not repeat the content.
        actor: Who does it, for the journal.
        remember: Keep a keyed hash of each content, so that it is refused when it comes again.
        probe: Look for the content before and after, in the files and in every answer.
        progress: Called with the name of each stage as it begins: events, followers, files.

    Raises:
        InvalidInputError: the reason breaks a rule, or repeats the content: it would stay.
        NotFoundError: the atom was never recorded.
        BackendBusy: a snapshot is open, so the files could not be purged; no answer has the content any
            more. Erasing again, or opening the store again, finishes it.
    """
    atom, reason = atom_id(id), line(reason, "reason", limits.REASON_BYTES_MAX)
    store = asked.store
    left = read_pending(store.backend)
    if left is not None and left.id != atom:
        carry_out(store, left, progress)  # one that failed before it was done
        left = None
    with store.view() as rows:
        target = _target(rows, atom, look_elsewhere=probe)
    _refuse_telling(reason, target)
    if target.record.state is State.ERASED and left is None:
        return Erasure(show_id(atom), reason, (), 0, 0, 0, 0, 0, purged=False, probe=None)
    seqs = [entry.header.seq for entry in target.entries]
    before = look(asked, show_id(atom), seqs, target.own) if probe and seqs else None
    pending = left or Pending(atom, reason, actor, int(remember))
    done, events = carry_out(store, pending, progress)
    asked.forget()
    after = None if before is None else look(asked, show_id(atom), seqs, target.own)
    return Erasure(
        id=show_id(atom),
        reason=reason,
        events=tuple(events),
        payloads=done.payloads,
        payload_bytes=done.size,
        edges=done.edges,
        contents=len(done.contents),
        segments=target.segments,
        purged=True,
        probe=None if before is None or after is None else _probe(store, target, before, after),
    )


def _target(rows: Reader, atom: bytes, *, look_elsewhere: bool) -> _Target:
    record = get_record(rows, atom)
    entries = list(destroyable(rows, record.last_seq))
    own = {entry.header.seq for entry in entries}
    edges = edges_of(rows, atom)
    seqs = [*own, *(entry.header.seq for edge in edges for entry in destroyable(rows, edge.last_seq))]
    bodies = [entry.body for entry in entries if isinstance(entry.body, AtomBody)]
    pieces = pieces_of(bodies)
    # Reads every payload there is: measured, half a second for 30,000.
    others = elsewhere(rows, pieces if look_elsewhere else [], frozenset(own))
    ordinals = {
        entry.header.detail.ordinal for entry in entries if isinstance(entry.header.detail, AtomDetail)
    }
    covered = [
        name
        for name in segments_of(read_counters(rows).next_ordinal)
        if any(name.start <= ordinal < name.end for ordinal in ordinals)
    ]
    found = Erasable(
        id=show_id(atom),
        payloads=len(seqs),
        payload_bytes=sum(len(rows.get(payload_key(seq)) or b"") for seq in seqs),
        edges=len(edges),
        contents=len({body.content for body in bodies}),
        also_in=others.atoms,
    )
    return _Target(record, entries, found, tuple(pieces), others, len(covered))


def _bare(word: str) -> str:
    """A word without the marks around it, in one case."""
    return word.strip(".,;:!?()[]{}\"'").casefold()


def _tells(word: str) -> bool:
    """Whether a word tells more than words do: a number, a name with digits, a long one."""
    return len(word) >= TELLING_CHARS and any(character.isdigit() for character in word)


def _refuse_telling(reason: str, target: _Target) -> None:
    said = set(map(_bare, reason.split()))
    telling = {word for piece in target.pieces for word in map(_bare, piece.split()) if _tells(word)}
    if said & telling or any(piece in reason for piece in target.pieces):
        raise InvalidInputError(
            "the reason repeats what is to be erased, and reasons stay", hint="say why, not what"
        )


def _probe(store: Store, target: _Target, before: Sighting, after: Sighting) -> Probe:
    verdict, reasons = judged(
        before,
        after,
        pieces=len(target.own),
        all_pieces=len(target.pieces),
        files=bool(store.backend.files()),
    )
    if target.elsewhere.atoms:
        reasons = (*reasons, "other atoms hold pieces of it, too")
    return Probe(verdict, reasons, len(target.own), before, after, target.elsewhere.atoms)
