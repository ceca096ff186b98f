"""Choosing the contents of a rescued journal, and deciding where the journal must end."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from backends.found_rows import FoundRows
from engine.base.errors import CorruptionError
from engine.exchange.rescue.bits import payload_with_one_bit_back
from engine.exchange.rescue.headers import Headers, header_rows
from engine.ledger.codec import decode_header
from engine.ledger.journal import open_payload, subject_key
from engine.ledger.layout import JOURNAL, payload_key
from proofs.events import ERASING_KINDS, Body, Header
from proofs.hashing import SALT_BYTES, commitment


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
    repaired: list[int] = field(default_factory=list)
    """The events in whose contents a flipped bit was corrected."""

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
    erased = _erasures(found, headers)
    for seq, raw in header_rows(found, headers):
        header = decode_header(raw, seq)
        subject = subject_key(header.detail)
        erasing = header.kind in ERASING_KINDS
        by = None if erasing else next((one for one in erased.get(subject, ()) if one > seq), None)
        # A destroyed content is not restored, even if its bytes were found.
        if by is not None:
            contents.missing.append(Missing(seq, subject, by))
            continue
        values = found.values(payload_key(seq))
        payload = right_payload(values, header) or _repaired(values, header, contents)
        if payload is None:
            erasable = bool(subject) and not erasing
            contents.missing.append(Missing(seq, subject, None, bool(values), erasable))
        elif payload is not values[0]:
            contents.rows[seq] = payload
    return contents


def right_payload(values: Collection[bytes], header: Header) -> bytes | None:
    """Return the payload that matches the commitment of a header, or None."""
    return next((raw for raw in values if _commitment(raw) == header.commitment), None)


def _commitment(raw: bytes) -> bytes | None:
    return commitment(raw[:SALT_BYTES], raw[SALT_BYTES:]) if len(raw) >= SALT_BYTES else None


def _repaired(values: list[bytes], header: Header, contents: Contents) -> bytes | None:
    for raw in values:
        payload = payload_with_one_bit_back(raw, header.commitment)
        if payload is not None:
            contents.repaired.append(header.seq)
            return payload
    return None


def _erasures(found: FoundRows, headers: Headers) -> dict[bytes, list[int]]:
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
