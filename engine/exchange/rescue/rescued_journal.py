"""Choosing the contents of a rescued journal, deciding where it must end, and writing it.

A content may be missing only if a later event of the same journal erased its atom or edge. If that later
event is lost, the rescued journal must record again that the content does not exist. Therefore the rescued
journal ends with erasures by the actor `rescue`. The reason of each erasure says whether an event of the
damaged store destroyed the content, or whether the damage did.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from backends.base import Backend, Batch
from backends.salvaged_rows import FoundRows
from engine.base import limits
from engine.base.errors import CorruptionError
from engine.base.validation import show_id
from engine.exchange.rescue.rescue_headers import Headers, header_rows
from engine.ledger.journal import encode_log, open_payload, subject_key
from engine.ledger.layout import (
    JOURNAL,
    LOG,
    decode_header,
    encode_seq,
    erasure_key,
    journal_key,
    payload_key,
)
from proofs.codec import encode_body, encode_header
from proofs.events import (
    ERASING_KINDS,
    AtomDetail,
    Body,
    EdgeDetail,
    ErasedBody,
    EventKind,
    Header,
    ReasonBody,
)
from proofs.hashing import SALT_BYTES, commitment
from proofs.log import Frontier, leaf_hash

ACTOR = "rescue"
"""The actor of the events that a rescue appends."""


@dataclass
class _Subject:
    """The last event on an atom or edge."""

    detail: AtomDetail | EdgeDetail
    last: int
    erased_at: int = -1
    """The seq of the last event that erased the atom or edge, or -1."""

    @property
    def is_erased(self) -> bool:
        return self.last == self.erased_at


class Written(NamedTuple):
    """The journal that was written."""

    size: int
    """The number of events in the journal, including the erasures at its end."""
    erased: tuple[str, ...]
    """The ids of the atoms that these erasures concern, ascending."""


def write_journal(
    found: FoundRows, headers: Headers, contents: Contents, size: int, rows: Backend
) -> Written:
    """Write the first `size` events to an empty backend, and the erasures that follow them."""
    unexplained = contents.unexplained(size)
    subjects = _subjects(found, headers, size, set(unexplained))
    erasures = list(_erasures(found, unexplained, subjects))
    closed = {subject_key(detail): subject_of for detail, subject_of, _ in erasures}
    writer = _Writer(rows)
    missing = {one.seq for one in contents.missing}
    for seq, raw in header_rows(found, headers):
        if seq >= size:
            break
        header = decode_header(raw, seq)
        subject = closed.get(subject_key(header.detail))
        payload = None
        if seq not in missing and (subject is None or seq <= subject.erased_at):
            payload = contents.rows.get(seq) or found.values(payload_key(seq))[0]
        writer.put(header, raw, payload)
    for detail, subject, body in erasures:
        writer.append(detail, subject.last, body)
    writer.finish()
    return Written(writer.size, tuple(sorted(show_id(key) for key in unexplained if len(key) == 16)))


def _subjects(found: FoundRows, headers: Headers, size: int, wanted: set[bytes]) -> dict[bytes, _Subject]:
    """Return the atoms and edges in `wanted`, and the edges of these atoms, after the first `size` events."""
    subjects: dict[bytes, _Subject] = {}
    if not wanted:
        return subjects
    for seq, raw in header_rows(found, headers):
        if seq >= size:
            break
        header = decode_header(raw, seq)
        detail, key = header.detail, subject_key(header.detail)
        if not isinstance(detail, (AtomDetail, EdgeDetail)):
            continue
        if key in wanted or (isinstance(detail, EdgeDetail) and wanted & {detail.src, detail.dst}):
            subject = subjects.setdefault(key, _Subject(detail, seq))
            subject.detail, subject.last = detail, seq
            if header.kind in ERASING_KINDS:
                subject.erased_at = seq
    return subjects


_Erasure = tuple[AtomDetail | EdgeDetail, _Subject, ErasedBody | ReasonBody]


def _erasures(
    found: FoundRows, unexplained: Mapping[bytes, int | None], subjects: Mapping[bytes, _Subject]
) -> Iterator[_Erasure]:
    """Yield the erasures that end the journal. Edges come first: an edge is erased before its atoms."""
    for key, subject in subjects.items():
        detail = subject.detail
        if isinstance(detail, EdgeDetail) and not subject.is_erased:
            by = unexplained.get(key)
            atom = next((end for end in (detail.src, detail.dst) if end in unexplained), None)
            reason = _reason(by) if atom is None else f"erased with {show_id(atom)}"
            yield detail, subject, ReasonBody(reason)
    for key, by in unexplained.items():
        subject = subjects[key]
        if isinstance(subject.detail, AtomDetail) and not subject.is_erased:
            yield AtomDetail(key, subject.detail.ordinal), subject, _erased_body(found, by)


def _reason(by: int | None) -> str:
    if by is None:
        return "the content was lost when the store was damaged"
    return f"event {by} of the damaged store erased it"


def _erased_body(found: FoundRows, by: int | None) -> ErasedBody:
    """Return the body of an erasure, with the same hashes of contents as the lost erasure."""
    event = None if by is None else erasing_event(found, by, found.values(journal_key(by)))
    contents = event[1].contents if event is not None and isinstance(event[1], ErasedBody) else ()
    return ErasedBody(_reason(by), contents)


class _Writer:
    """Writes the rows of consecutive events, and at the end the rows that depend on all events."""

    def __init__(self, rows: Backend) -> None:
        self._rows = rows
        self._batch = Batch()
        self._bytes = 0
        self._frontier = Frontier()
        self._time = 0
        self._erased: dict[bytes, int] = {}

    @property
    def size(self) -> int:
        return self._frontier.size

    def put(self, header: Header, raw: bytes, payload: bytes | None) -> None:
        self._batch.put(journal_key(header.seq), raw)
        if payload is not None:
            self._batch.put(payload_key(header.seq), payload)
        self._frontier.append(leaf_hash(raw))
        self._time = header.time
        if header.kind in ERASING_KINDS:
            self._erased[subject_key(header.detail)] = header.seq
        self._bytes += len(raw) + len(payload or b"")
        if self._bytes >= limits.FOLLOW_BYTES_MAX or len(self._batch) >= 2 * limits.FOLLOW_EVENTS_MAX:
            self._write()

    def append(self, detail: AtomDetail | EdgeDetail, prev: int, body: ErasedBody | ReasonBody) -> None:
        """Append an event that erases an atom or an edge, at the time of the last event."""
        kind = EventKind.ERASED if isinstance(body, ErasedBody) else EventKind.EDGE_ERASED
        salt, raw_body = os.urandom(SALT_BYTES), encode_body(body)
        header = Header(self.size, self._time, kind, ACTOR, commitment(salt, raw_body), prev, detail)
        self.put(header, encode_header(header), salt + raw_body)

    def finish(self) -> None:
        for subject, seq in self._erased.items():
            self._batch.put(erasure_key(subject), encode_seq(seq))
        self._batch.put(LOG, encode_log(self._time, self._frontier.to_bytes()))
        self._write()

    def _write(self) -> None:
        self._rows.write(self._batch, durable=False)
        self._batch, self._bytes = Batch(), 0


@dataclass(frozen=True, slots=True)
class Missing:
    """An event whose content was not found, or was destroyed."""

    seq: int
    subject: bytes
    """The key of the atom or edge that the event changes; empty if there is no such atom or edge."""
    erased: int | None
    """The seq of the first later event that destroyed the content, or None if the content is lost."""
    damaged: bool = False
    """True if a row was found whose content does not match the commitment."""
    erasable: bool = False
    """True if the content is lost, and an event can record the loss."""


@dataclass
class Contents:
    """The contents that were chosen."""

    missing: list[Missing] = field(default_factory=list)
    """The events without a content, ascending."""
    rows: dict[int, bytes] = field(default_factory=dict)
    """Seq → payload, for each event for which the first payload row found was not chosen."""

    def end(self, size: int, *, erase_lost: bool) -> int:
        """Return the size of the longest journal of at most `size` events in which no content is lost.

        With `erase_lost`, a content may be lost if an event can record the loss.
        """
        lost = (one.seq for one in self.missing if one.erased is None and not (erase_lost and one.erasable))
        return min((seq for seq in lost if seq < size), default=size)

    def unexplained(self, size: int) -> dict[bytes, int | None]:
        """Return the atoms and edges with a missing content that was not destroyed by an event before `size`.

        Each atom or edge is mapped to the seq of the later event that destroyed the content, or to None if
        the content is lost.
        """
        subjects: dict[bytes, int | None] = {}
        for one in self.missing:
            if one.seq < size and (one.erased is None or one.erased >= size):
                subjects[one.subject] = one.erased
        return subjects

    def problem_at(self, size: int) -> str:
        """Return the reason why a journal cannot be longer than `size` events, or an empty text."""
        for one in self.missing:
            if one.seq == size:
                return f"the content of event {size} is {'damaged' if one.damaged else 'missing'}"
        return ""


def choose_contents(found: FoundRows, headers: Headers) -> Contents:
    """Choose the payload of each event."""
    contents = Contents()
    erased = _erasing_events(found, headers)
    recorded: set[bytes] = set()
    for seq, raw in header_rows(found, headers):
        header = decode_header(raw, seq)
        subject = subject_key(header.detail)
        if header.kind in (EventKind.ATOM_ADDED, EventKind.EDGE_ADDED):
            recorded.add(subject)
        erasing = header.kind in ERASING_KINDS
        by = None if erasing else next((one for one in erased.get(subject, ()) if one > seq), None)
        # A destroyed content is not restored, even if its bytes were found.
        if by is not None:
            contents.missing.append(Missing(seq, subject, by))
            continue
        values = found.values(payload_key(seq))
        payload = right_payload(values, header)
        if payload is None:
            # A fact can be about an atom that is not recorded; such an atom cannot be erased.
            erasable = subject in recorded and not erasing
            contents.missing.append(Missing(seq, subject, None, bool(values), erasable))
        elif payload is not values[0]:
            contents.rows[seq] = payload
    return contents


def right_payload(values: Collection[bytes], header: Header) -> bytes | None:
    """Return the payload that matches the commitment of a header, or None."""
    return next((raw for raw in values if _commitment(raw) == header.commitment), None)


def _commitment(raw: bytes) -> bytes | None:
    return commitment(raw[:SALT_BYTES], raw[SALT_BYTES:]) if len(raw) >= SALT_BYTES else None


def _erasing_events(found: FoundRows, headers: Headers) -> dict[bytes, list[int]]:
    """Return, for each atom and edge, the seqs of the events that erased it, ascending.

    Events after a gap in the headers count, too, if both of their rows were found.
    """
    erased: dict[bytes, list[int]] = {}
    for header in _later_erasing(found, headers.size):
        erased.setdefault(subject_key(header.detail), []).append(header.seq)
    for seq, raw in header_rows(found, headers):
        header = decode_header(raw, seq)
        if header.kind in ERASING_KINDS:
            erased.setdefault(subject_key(header.detail), []).append(seq)
    return {subject: sorted(seqs) for subject, seqs in erased.items()}


def _later_erasing(found: FoundRows, size: int) -> Iterator[Header]:
    for key, values in found.scan_prefix(JOURNAL):
        seq = int.from_bytes(key[len(JOURNAL) :], "big")
        if seq >= size and len(key) == len(JOURNAL) + 8:
            event = erasing_event(found, seq, values)
            if event is not None:
                yield event[0]


def erasing_event(found: FoundRows, seq: int, values: list[bytes]) -> tuple[Header, Body] | None:
    """Return the header and body of an intact event that erases. Return None for any other event."""
    for raw in values:
        try:
            header = decode_header(raw, seq)
            if header.kind in ERASING_KINDS:
                payload = right_payload(found.values(payload_key(seq)), header)
                return None if payload is None else (header, open_payload(header, payload))
        except CorruptionError:
            continue
    return None
