"""Conflicts between devices: versions of which none had seen the other, and edits that erasures reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.errors import ConflictError, NotFoundError
from engine.base.model import Receipt
from engine.base.validation import show_id
from engine.commands.atoms import Revise, live
from engine.commands.known import known_before, read_foreign_heads
from engine.commands.transaction import Transaction, receipt
from engine.followers.log import header_runs
from engine.ledger.heads import of_kinds
from engine.ledger.journal import read_header, read_log
from engine.ledger.layout import decode_header
from engine.ledger.merging import VERSIONS, Dot, ForeignHeads, Original, Subject, dot_of, known_of
from engine.ledger.records import type_name
from proofs.events import AtomBody, AtomDetail, EdgeDetail, EventKind, Header
from proofs.leaves import State

_ALWAYS: Final = frozenset({EventKind.VERSION_NOTED, EventKind.EDGE_NOTED, EventKind.ERASED})
_BEGINNING: Final = _ALWAYS | {EventKind.ATOM_REVISED, EventKind.EDGE_ADDED, EventKind.ATOM_NOTED}
"""The kinds of events with which a conflict may begin if they have an origin."""


class OpenConflicts(NamedTuple):
    """What is in conflict: the heads of each subject, and the lost edits of each atom; ascending."""

    heads: dict[Subject, list[Original]]
    lost: dict[bytes, list[Dot]]


@dataclass(frozen=True, slots=True)
class Version:
    """What one device made of a text or an edge."""

    device: str
    """The id of the device's store."""
    seq: int
    """The number of the event there."""
    time: int | None
    actor: str
    content: str | None
    """The text; None for an edge, and for a lost edit."""


@dataclass(frozen=True, slots=True)
class Concurrent:
    """Versions that devices wrote without knowing of each other, until one of them is confirmed.

    Every device shows the same version. If the text was erased on another device, its edits are lost.
    """

    subject: str
    """The id of the atom; or the edge: its two ends, with the type between them."""
    shown: str
    """The id of the device whose version is shown; empty if the atom was erased."""
    versions: tuple[Version, ...]


def concurrent(rows: Reader) -> list[Concurrent]:
    """Return the conflicts between devices, sorted by subject.

    If this store has taken in events of others, the headers of the journal are read.

    Raises:
        CorruptionError: a row does not have the bytes that were written.
    """
    heads = read_foreign_heads(rows)
    conflicts, lost = open_conflicts(rows, heads)
    found = []
    for subject, versions in conflicts.items():
        merged = known_of(rows, heads, subject).merged()
        shown = "" if merged is None else show_id(merged.current.origin.store_id)
        found.append(Concurrent(_name(rows, subject), shown, tuple(map(_version, versions))))
    for atom, dots in lost.items():
        edits = tuple(Version(show_id(device), seq, None, "", None) for device, seq in dots)
        found.append(Concurrent(show_id(atom), "", edits))
    return found


def open_conflicts(rows: Reader, heads: ForeignHeads) -> OpenConflicts:
    """Return what is in conflict, given what each store had seen."""
    found = OpenConflicts({}, {})
    candidates = set(_candidates(rows, heads)) if heads.known else ()
    for subject in sorted(candidates, key=lambda one: (isinstance(one, EdgeDetail), one)):
        known = known_of(rows, heads, subject)
        if versions := known.conflict():
            found.heads[subject] = versions
        if isinstance(subject, bytes) and (dots := known.lost()):
            found.lost[subject] = dots
    return found


def _candidates(rows: Reader, heads: ForeignHeads) -> Iterator[Subject]:
    """Yield the subjects of events that may begin a conflict: a version whose writer had not seen another."""
    for start, run in header_runs(rows, read_log(rows).size):
        for at in of_kinds(run, _BEGINNING):
            header = decode_header(run[at], start + at)
            kind, detail = header.kind, header.detail
            if header.origin is None or not isinstance(detail, (AtomDetail, EdgeDetail)):
                continue
            if kind in _ALWAYS or (
                _is_version(header)
                and (kind is EventKind.ATOM_NOTED or _replaces_unseen(rows, heads, header))
            ):
                yield detail if isinstance(detail, EdgeDetail) else detail.id


def _is_version(header: Header) -> bool:
    return header.origin is not None and header.origin.kind in VERSIONS


def _replaces_unseen(rows: Reader, heads: ForeignHeads, header: Header) -> bool:
    """Return True if the version before the one in `header` is none that its writer had seen."""
    origin, prev = header.origin, header.prev
    while origin is not None and prev is not None:
        before, _ = read_header(rows, prev)
        if before.kind in VERSIONS:
            store, seq = dot_of(before, heads.own)
            return seq >= heads.seen(origin[:2]).get(store, 0)
        prev = before.prev
    return False


def _name(rows: Reader, subject: Subject) -> str:
    if isinstance(subject, EdgeDetail):
        return f"{show_id(subject.src)} {type_name(rows, subject.type)} {show_id(subject.dst)}"
    return show_id(subject)


def _version(one: Original) -> Version:
    content = one.body.content if isinstance(one.body, AtomBody) else None
    return Version(show_id(one.origin.store_id), one.origin.seq, one.origin.time, one.actor, content)


@dataclass(frozen=True, slots=True)
class KeepVersion:
    """Settle a conflict between devices: the atom gets the version of one of them. Its tags stay."""

    id: str
    device: str
    """The id of the device, or the beginning of it."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the revision.

        Raises:
            NotFoundError: The atom was never recorded, or no version in conflict is of this device.
            ConflictError: There is no conflict, or the atom is hidden or erased.
        """
        record = live(tx, self.id, "settle")
        known = known_before(tx, record.id, record.last_seq)
        versions = [] if known is None else known.conflict()
        if not versions:
            raise ConflictError(
                f"no devices have different versions of atom {show_id(record.id)}",
                hint="`engine conflicts` lists the conflicts",
            )
        wanted = [one for one in versions if show_id(one.origin.store_id).startswith(self.device)]
        devices = {one.origin.store_id for one in wanted}
        if not self.device or len(devices) != 1 or not isinstance(body := wanted[-1].body, AtomBody):
            raise NotFoundError(
                f"no single device {self.device!r} has a version of atom {show_id(record.id)}"
            )
        fields = {name: getattr(body, name) for name in _KEPT}
        Revise(self.id, **fields, force=True).decide(tx)
        return receipt(record.id, State.LIVE, *tx.events)


_KEPT: Final = (
    "content", "title", "kind", "buckets", "source", "provenance", "trust", "created", "meta", "aliases",
)  # fmt: skip
