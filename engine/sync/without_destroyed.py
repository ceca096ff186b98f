"""The events of another store without the payloads that erasures in this store have reached."""

from __future__ import annotations

from backends.base import Reader
from engine.commands.known import read_foreign_heads
from engine.ledger.layout import erasure_key
from engine.ledger.merging import ForeignHeads, known_of
from engine.store.store import Store
from engine.sync.originals import Written, entries_of, opened, record_of
from proofs.events import AtomDetail, EdgeDetail, EventKind, Header


def without_destroyed(store: Store, part: Written) -> Written:
    """Return a part of the journal of another store, without the payloads that are destroyed here.

    Raises:
        VerificationError: The part is malformed.
    """
    pieces = opened(part, None)
    headers = {entry.header.seq: entry.header for entry in entries_of(pieces)}
    records = list(part.records)
    with store.view(store.requests) as rows:
        heads = read_foreign_heads(rows)
        for at, piece in enumerate(pieces):
            if piece.payload is not None and not _is_kept(rows, heads, part, headers[piece.first]):
                records[at] = record_of(piece.header, None)
    return part._replace(records=records)


def _is_kept(rows: Reader, heads: ForeignHeads, part: Written, header: Header) -> bool:
    detail = header.detail
    if header.kind is EventKind.ERASED:
        return True
    if isinstance(detail, AtomDetail):
        ends = [detail.id]
    elif isinstance(detail, EdgeDetail):
        ends = [detail.src, detail.dst]
    else:
        return True
    if all(rows.get(erasure_key(end)) is None for end in ends):
        return True
    known = known_of(rows, heads, detail if isinstance(detail, EdgeDetail) else detail.id)
    dot = part.head.store_id, header.seq
    return any(one.dot == dot and one.body is not None for one in known.unreached())
