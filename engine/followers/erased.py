"""What followers must know of an erased atom: the ordinals that its contents had."""

from __future__ import annotations

from engine.ledger.journal import read_header
from engine.ledger.records import Lookup
from proofs.events import AtomDetail, EventKind, Header


def erased_ordinals(rows: Lookup, erased: Header) -> set[int]:
    """All ordinals that the subject of an event `erased` had since it was last erased.

    Headers say them, so nothing of what was destroyed is needed.

    Raises:
        CorruptionError: the journal lacks a header.
    """
    header, found = erased, set[int]()
    while isinstance(header.detail, AtomDetail):
        found.add(header.detail.ordinal)
        # A journal made by hand may name anything as the event before.
        if header.prev is None or header.prev >= header.seq:
            break
        before, _ = read_header(rows, header.prev)
        if before.kind is EventKind.ERASED or subject_of(before) != subject_of(header):
            break
        header = before
    return found


def subject_of(header: Header) -> bytes:
    """The id of the atom that an event is about; empty for others."""
    return header.detail.id if isinstance(header.detail, AtomDetail) else b""
