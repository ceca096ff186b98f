"""Choosing the contents of a rescued journal, and deciding where the journal must end."""

from __future__ import annotations

from dataclasses import dataclass

from backends.base import Backend, Batch
from backends.found_rows import FoundRows
from engine.base import limits
from engine.ledger.codec import decode_header
from engine.ledger.journal import encode_log, encode_seq, subject_key
from engine.ledger.layout import LOG, erasure_key, journal_key, payload_key
from engine.transfer.rescue.bits import payload_with_one_bit_back
from engine.transfer.rescue.headers import Headers, header_rows
from proofs.events import ERASING_KINDS, Header
from proofs.hashing import SALT_BYTES, commitment
from proofs.log import Frontier, leaf_hash


@dataclass(frozen=True, slots=True)
class Missing:
    """An event whose content was not found."""

    seq: int
    erased: int | None
    """The seq of a later event that destroyed the content, or None if the content is lost."""
    damaged: bool
    """True if a content was found that does not match the commitment."""


@dataclass
class Contents:
    """The contents that were chosen."""

    missing: list[Missing]
    """The events without a content, ascending."""
    repaired: list[int]
    """The events in whose contents a flipped bit was corrected."""

    def end(self, size: int) -> int:
        """Return the size of the longest journal of at most `size` events in which no content is lost.

        In this journal, each content exists, or an event of the same journal destroyed it.
        """
        while True:
            lost = (one.seq for one in self.missing if one.erased is None or one.erased >= size)
            shorter = min((seq for seq in lost if seq < size), default=size)
            if shorter == size:
                return size
            size = shorter

    def problem_at(self, size: int) -> str:
        """Return why a journal cannot be longer than `size` events, or an empty text."""
        for one in self.missing:
            if one.seq == size:
                if one.erased is not None:
                    return f"event {one.erased}, which destroyed the content of event {size}, is lost"
                return f"the content of event {size} is {'damaged' if one.damaged else 'missing'}"
        return ""


def choose_contents(found: FoundRows, headers: Headers, chosen: Backend) -> Contents:
    """Choose the contents, and write the chosen rows of the journal to the empty backend `chosen`."""
    contents = Contents([], [])
    erased = _erasures(found, headers)
    frontier, batch, size, time = Frontier(), Batch(), 0, 0
    for seq, raw in header_rows(found, headers):
        header = decode_header(raw, seq)
        batch.put(journal_key(seq), raw)
        frontier.append(leaf_hash(raw))
        time = header.time
        payload = _payload(found, header, erased, contents)
        if payload is not None:
            batch.put(payload_key(seq), payload)
        size += len(raw) + len(payload or b"")
        if size >= limits.FOLLOW_BYTES_MAX or len(batch) >= 2 * limits.FOLLOW_EVENTS_MAX:
            chosen.write(batch, durable=False)
            batch, size = Batch(), 0
    for subject, seqs in erased.items():
        batch.put(erasure_key(subject), encode_seq(seqs[-1]))
    batch.put(LOG, encode_log(time, frontier))
    chosen.write(batch, durable=False)
    return contents


def _erasures(found: FoundRows, headers: Headers) -> dict[bytes, list[int]]:
    """Return the seqs of the events that erased each subject, ascending."""
    erased: dict[bytes, list[int]] = {}
    for seq, raw in header_rows(found, headers):
        header = decode_header(raw, seq)
        if header.kind in ERASING_KINDS:
            erased.setdefault(subject_key(header.detail), []).append(seq)
    return erased


def _payload(
    found: FoundRows, header: Header, erased: dict[bytes, list[int]], contents: Contents
) -> bytes | None:
    """Return the payload row of an event. If there is none, add the event to `contents.missing`.

    A destroyed content is never taken back, even if its bytes were found.
    """
    seq = header.seq
    if header.kind not in ERASING_KINDS:
        by = next((one for one in erased.get(subject_key(header.detail), ()) if one > seq), None)
        if by is not None:
            contents.missing.append(Missing(seq, by, damaged=False))
            return None
    values = found.values(payload_key(seq))
    for raw in values:
        if len(raw) >= SALT_BYTES and commitment(raw[:SALT_BYTES], raw[SALT_BYTES:]) == header.commitment:
            return raw
    for raw in values:
        mended = payload_with_one_bit_back(raw, header.commitment)
        if mended is not None:
            contents.repaired.append(seq)
            return mended
    contents.missing.append(Missing(seq, None, damaged=bool(values)))
    return None
