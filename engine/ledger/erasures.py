"""Which payloads were destroyed: the rows by which those are told from lost ones (SPEC: Journal).

    x/ subject    u64be seq of the last event that erased the subject: an atom's id, or source ‖ code ‖ target

They are part of the journal: written with its events, and copied with those whose payloads are gone.
"""

from __future__ import annotations

from engine.base.errors import CorruptionError
from engine.ledger.codec import decode_header
from engine.ledger.layout import erasure_key, journal_key
from engine.ledger.log_state import read_log
from engine.ledger.records import Lookup
from proofs.events import ERASING_KINDS, AtomDetail, Detail, EdgeDetail, Header
from proofs.leaves import edge_key


def subject_key(detail: Detail) -> bytes:
    """What names the atom or edge that an event is about; empty where it is about none."""
    if isinstance(detail, AtomDetail):
        return detail.id
    return edge_key(*detail) if isinstance(detail, EdgeDetail) else b""


def erased_at(rows: Lookup, header: Header) -> int | None:
    """The seq of the event that destroyed the payload of this one; None where none did.

    It may lie behind the last event of `rows`, where they are a beginning of a longer journal.

    Raises:
        CorruptionError: what stands there is no event that erases.
    """
    raw = rows.get(erasure_key(subject_key(header.detail)))
    seq = None if raw is None else decode_seq(raw, "erasure")
    if seq is None or seq <= header.seq or header.kind in ERASING_KINDS:
        return None
    row = rows.get(journal_key(seq))
    if row is None:
        return None if seq < read_log(rows).size else seq
    named = decode_header(row, seq)
    erases = named.kind in ERASING_KINDS and subject_key(named.detail) == subject_key(header.detail)
    return seq if erases else None


def encode_seq(seq: int) -> bytes:
    """The row that names an event."""
    return seq.to_bytes(8, "big")


def decode_seq(raw: bytes, where: str) -> int:
    """The event that a row names.

    Raises:
        CorruptionError: it names none.
    """
    if len(raw) != 8:
        raise CorruptionError(f"{where}: has {len(raw)} bytes, not 8", family="erasures")
    return int.from_bytes(raw, "big")
