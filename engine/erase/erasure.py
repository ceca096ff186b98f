"""The erasure of atoms: searching for their contents, destroying the contents, and searching again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base import limits
from engine.base.errors import InvalidInputError
from engine.base.model import EventRef
from engine.base.validation import atom_id, line, several, show_id
from engine.commands.transaction import event_ref
from engine.erase.destroy import (
    ATOMS_MAX,
    Pending,
    carry_out,
    destroyable_events,
    destroyable_headers,
    read_pending,
    unerased_edges,
)
from engine.erase.erasure_probe import (
    PIECES_MAX,
    PIECES_OF_ONE,
    Occurrences,
    Queries,
    SharedPieces,
    find_occurrences,
    pieces_of,
    shared_pieces,
    stored_pieces,
)
from engine.followers.requests import Once
from engine.index.segments import segments_of
from engine.ledger.layout import payload_key
from engine.ledger.queries import get_record
from engine.ledger.records import AtomRecord, read_counters
from engine.store.replay import Stage, ignore_stage
from engine.store.request_keys import refuse_other
from engine.store.store import Store
from proofs.events import AtomBody, AtomDetail, Entry, ErasedBody, EventKind
from proofs.leaves import State

OUT_OF_REACH: Final = (
    "copies, exports and backups of the store that were made before the erasure",
    "proofs that disclose the content, and every person or program that received an answer with the content",
    "Markdown mirrors in other folders, until they are synchronised",
    "the salted commitments in headers and the roots in checkpoints, which are permanent",
    "disk blocks that the store's files no longer use, if the file system or the disk keeps their content",
    "entities and relations extracted from the text (`engine explore_neighbors`): use `unrelate` and `erase`",
    "temporary folders of processes that were killed, until the next process opens a store",
)
"""Places where the content or traces of it remain after an erasure (docs/forgetting.md)."""


class ProbeVerdict(StrEnum):
    """The result of comparing the searches before and after the erasure."""

    CONFIRMED = "confirmed"
    """The content was found in files and answers before the erasure, and was not found after the erasure."""
    INCONCLUSIVE = "inconclusive"
    """The searches do not prove that the content is gone. `Probe.reasons` contains the reasons."""
    FAILED = "failed"
    """The content was still found after the erasure."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The results of searching for pieces of the content before and after the erasure."""

    verdict: ProbeVerdict
    reasons: tuple[str, ...]
    pieces: int
    """The number of pieces that were searched for. Only pieces that no other payload contains are used."""
    before: Occurrences
    after: Occurrences
    also_in: tuple[str, ...]
    """The ids of at most 20 other atoms that are not erased and contain pieces of the content."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """The receipt of an erasure."""

    ids: tuple[str, ...]
    reason: str
    events: tuple[EventRef, ...] = ()
    """The events that record the erasure; the last event is of kind `erased`. Empty if the atoms were already
    erased."""
    payloads: int = 0
    """The number of events whose payloads were destroyed."""
    payload_bytes: int = 0
    edges: int = 0
    contents: int = 0
    """The number of distinct contents whose hashes were kept, so that adding these contents again is
    refused."""
    segments: int = 0
    """The number of index segments that were rewritten."""
    purged: bool = False
    """True if the backend's files were rewritten."""
    probe: Probe | None = None
    """The result of searching for the erased content; None without a probe, or if nothing was erased."""
    out_of_reach: tuple[str, ...] = OUT_OF_REACH


@dataclass(frozen=True, slots=True)
class Erasable:
    """The amounts of data that an erasure would destroy, and other atoms that share parts of the content."""

    ids: tuple[str, ...]
    payloads: int
    payload_bytes: int
    edges: int
    contents: int
    also_in: tuple[str, ...]
    """The ids of at most 20 other atoms that are not erased and contain pieces of the content."""


def judge(
    before: Occurrences, after: Occurrences, *, pieces: int, files: bool, all_pieces: int
) -> tuple[ProbeVerdict, tuple[str, ...]]:
    """Return the verdict on the searches before and after the erasure, and the reasons for the verdict."""
    remaining = [*after.files, *after.answers]
    if remaining:
        return ProbeVerdict.FAILED, (f"the content is still found in: {', '.join(remaining)}",)
    reasons = []
    if not pieces:
        reasons.append(
            "every piece of the content that is long enough to search for is also in other payloads"
            if all_pieces
            else "the content is too short to search for"
        )
    elif not files:
        reasons.append("this kind of store has no files to search")
    elif not before.files:
        reasons.append(
            "the content was not found in the files before the erasure, so the later search proves nothing"
        )
    if pieces and not before.answers:
        reasons.append("no answer contained the content before the erasure")
    return (ProbeVerdict.INCONCLUSIVE if reasons else ProbeVerdict.CONFIRMED), tuple(reasons)


IDENTIFYING_CHARS_MIN: Final = 4
"""The minimum number of characters of an identifying word.

An identifying word contains a digit. The reason for an erasure must not repeat identifying words of the
content.
"""


class _Target(NamedTuple):
    """The current state of the atoms that are to be erased, and pieces of their contents to search for."""

    records: list[AtomRecord]
    entries: list[Entry]
    """The events of each atom since it was last erased, the newest first."""
    pieces: tuple[str, ...]
    shared: SharedPieces
    segments: int

    @property
    def unique_pieces(self) -> list[str]:
        """The pieces of the content that no other payload contains."""
        return [piece for at, piece in enumerate(self.pieces) if at not in self.shared.pieces]


def erasable(store: Store, ids: str | Sequence[str]) -> Erasable:
    """Return the amounts of data that erasing atoms would destroy; all are 0 if they are already erased.

    Raises:
        NotFoundError: one of the atoms was never recorded.
    """
    with store.view() as rows:
        target = _target(rows, _atoms(ids), find_shared=True)
        edges = {edge for record in target.records for edge in unerased_edges(rows, record.id)}
        seqs = [entry.header.seq for entry in target.entries]
        for edge in edges:
            seqs += [header.seq for header in destroyable_headers(rows, edge.last_seq)]
        return Erasable(
            ids=_shown(target),
            payloads=len(seqs),
            payload_bytes=sum(len(rows.get(payload_key(seq)) or b"") for seq in seqs),
            edges=len(edges),
            contents=len(
                {entry.body.content for entry in target.entries if isinstance(entry.body, AtomBody)}
            ),
            also_in=target.shared.atoms,
        )


def _atoms(ids: str | Sequence[str]) -> list[bytes]:
    """Return the ids in a list of 1 to ATOMS_MAX ids, or one id, without repetitions.

    Raises:
        InvalidInputError: there is no id or there are too many, or one does not have the form of an id.
    """
    given = [ids] if isinstance(ids, str) else list(several(ids, "ids"))
    atoms = list(dict.fromkeys(map(atom_id, given)))
    if not 1 <= len(atoms) <= ATOMS_MAX:
        raise InvalidInputError(f"an erasure takes 1 to {ATOMS_MAX:,} atoms, not {len(atoms):,}")
    return atoms


def _shown(target: _Target) -> tuple[str, ...]:
    return tuple(show_id(record.id) for record in target.records)


def erase(
    store: Store,
    ids: str | Sequence[str],
    reason: str,
    *,
    actor: str,
    queries: Queries,
    forget: Callable[[], None],
    remember: bool = True,
    probe: bool = True,
    progress: Stage = ignore_stage,
    once: Once | None = None,
) -> Erasure:
    """Destroy the content of atoms permanently. The history of the atoms stays verifiable.

    Args:
        store: The store.
        ids: The atom, or the atoms.
        reason: The reason for the erasure. The journal keeps the reason, so it must not repeat the content.
        actor: The actor to record in the journal.
        queries: The queries whose answers are searched for the content.
        forget: Called when the content has been destroyed, or destroying it has failed. It empties caches
            that depend on the content.
        remember: Keep a keyed hash of each version of the content, so that adding it again is refused.
        probe: Search the files and the answers of all queries for the content, before and after the erasure.
        progress: Called with the name of each stage as it begins: events, followers, files.
        once: The key of the call, or None. If the call was made already, the result has the recorded events.

    Raises:
        InvalidInputError: the reason is empty, not valid, or repeats the content.
        NotFoundError: one of the atoms was never recorded.
        ConflictError: the key was used for another call.
        BackendBusy: a snapshot is open, so the files could not be purged. No answer contains the content any
            more. To finish the erasure, repeat it or reopen the store.
    """
    atoms, reason = _atoms(ids), line(reason, "reason", limits.REASON_BYTES_MAX)
    if not reason.strip():
        raise InvalidInputError("an erasure needs a reason", hint="say why, without quoting the content")
    unfinished = read_pending(store.backend)
    if unfinished is not None and unfinished.atoms != atoms:
        carry_out(store, unfinished, progress)  # an earlier erasure that was not completed
        unfinished = None
    if once is not None and unfinished is None:
        recorded = store.recorded(actor, once)
        if recorded:
            _check_same(recorded, once, atoms, reason, remember=remember)
        if any(entry.header.kind is EventKind.ERASED for entry in recorded):
            return _again(recorded, atoms, reason)
    with store.view() as rows:
        target = _target(rows, atoms, find_shared=probe)
    _refuse_repetition(reason, target)
    shown = _shown(target)
    if all(record.state is State.ERASED for record in target.records) and unfinished is None:
        return Erasure(shown, reason)
    seqs = [entry.header.seq for entry in target.entries]
    pieces = target.unique_pieces
    stored = stored_pieces(store, seqs, pieces)
    before = find_occurrences(store, queries, shown, seqs, pieces, stored) if probe and seqs else None
    pending = unfinished or Pending(b"".join(atoms), reason, actor, int(remember))
    try:
        done, events, purged = carry_out(store, pending, progress, None if once is None else once.request)
    finally:
        forget()
    if once is not None and not events:
        events = list(map(event_ref, store.recorded(actor, once)))  # another process was faster
    after = None if before is None else find_occurrences(store, queries, shown, seqs, pieces, stored)
    return Erasure(
        ids=shown,
        reason=reason,
        events=tuple(events),
        payloads=done.payloads,
        payload_bytes=done.size,
        edges=done.edges,
        contents=len(done.contents),
        segments=target.segments,
        purged=purged,
        probe=None if before is None or after is None else _probe(store, target, before, after),
        out_of_reach=OUT_OF_REACH + store.backend.beyond_purge,
    )


def _check_same(
    recorded: list[Entry], once: Once, atoms: Sequence[bytes], reason: str, *, remember: bool
) -> None:
    """Check that the events of a key are events of this erasure."""
    for header, body, _ in recorded:
        if header.kind is EventKind.ERASED and isinstance(body, ErasedBody):
            same = (body.reason, bool(body.contents)) == (reason, remember)
            if not same or not isinstance(header.detail, AtomDetail) or header.detail.id not in atoms:
                refuse_other(once.key)
        elif header.kind is not EventKind.EDGE_ERASED:
            refuse_other(once.key)


def _again(recorded: list[Entry], atoms: Sequence[bytes], reason: str) -> Erasure:
    """Return the report on an erasure that was carried out earlier, as far as the journal shows it."""
    return Erasure(
        ids=tuple(map(show_id, atoms)),
        reason=reason,
        events=tuple(map(event_ref, recorded)),
        edges=sum(entry.header.kind is EventKind.EDGE_ERASED for entry in recorded),
        contents=sum(len(one.body.contents) for one in recorded if isinstance(one.body, ErasedBody)),
    )


def _target(rows: Reader, atoms: Sequence[bytes], *, find_shared: bool) -> _Target:
    records = [get_record(rows, atom) for atom in atoms]
    each = [list(destroyable_events(rows, record.last_seq)) for record in records]
    entries = [entry for some in each for entry in some]
    seqs = {entry.header.seq for entry in entries}
    most = max(PIECES_MAX // len(atoms), PIECES_OF_ONE)
    found = [pieces_of((one.body for one in some if isinstance(one.body, AtomBody)), most) for some in each]
    pieces = list(dict.fromkeys(chain.from_iterable(found)))
    # This reads every payload in the store: half a second for 30,000 payloads, measured.
    shared = shared_pieces(rows, pieces if find_shared else [], frozenset(seqs))
    ordinals = {
        entry.header.detail.ordinal for entry in entries if isinstance(entry.header.detail, AtomDetail)
    }
    covered = [
        name
        for name in segments_of(read_counters(rows).next_ordinal)
        if any(name.start <= ordinal < name.end for ordinal in ordinals)
    ]
    return _Target(records, entries, tuple(pieces), shared, len(covered))


def _normalized(word: str) -> str:
    """Return a word case-folded, without the punctuation around it."""
    return word.strip(".,;:!?()[]{}\"'").casefold()


def _is_identifying(word: str) -> bool:
    """Return True if the word has a digit and at least IDENTIFYING_CHARS_MIN characters."""
    return len(word) >= IDENTIFYING_CHARS_MIN and any(character.isdigit() for character in word)


def _refuse_repetition(reason: str, target: _Target) -> None:
    """Raise InvalidInputError if the reason repeats a piece or an identifying word of the content."""
    words = set(map(_normalized, reason.split()))
    content_words = (word for piece in target.pieces for word in map(_normalized, piece.split()))
    identifying = set(filter(_is_identifying, content_words))
    if words & identifying or any(piece in reason for piece in target.pieces):
        raise InvalidInputError(
            "the reason repeats a part of the content that is to be erased, and reasons are kept",
            hint="give a reason that does not quote the content",
        )


def _probe(store: Store, target: _Target, before: Occurrences, after: Occurrences) -> Probe:
    verdict, reasons = judge(
        before,
        after,
        pieces=len(target.unique_pieces),
        all_pieces=len(target.pieces),
        files=bool(store.backend.files()),
    )
    if target.shared.atoms:
        reasons = (*reasons, "other atoms contain pieces of the content, too")
    return Probe(verdict, reasons, len(target.unique_pieces), before, after, target.shared.atoms)
