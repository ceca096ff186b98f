"""What a store hands out of its journal to the other stores of its family, and checking what others hand out.

The receiver needs the originals, the registrations of predicates, and the foreign heads that the store itself
recorded. Everything else is left out: a run of such events is one record with the roots of the subtrees that
they form in the log. So the receiver can compute the root of the writer's log, and compare it with a head.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from engine.base.errors import InconsistentError, VerificationError
from engine.ledger.heads import extended
from engine.ledger.journal import decoded_entries, open_payload, read_log, read_raw
from engine.ledger.layout import decode_header
from engine.ledger.merging import ORIGINALS
from engine.store.store import Store
from engine.trust.proving.log_witnesses import LogPaths, complete_subtrees
from proofs.codec import DETAILS, HEADER_FIELDS, kind_of
from proofs.events import Entry, EventKind, ForeignHeadDetail
from proofs.log import DIGEST_BYTES, SIZE_BYTES, Frontier, leaf_hash, node_hash

HANDED_OUT: Final = ORIGINALS | {EventKind.EDGE_TYPE_REGISTERED, EventKind.FOREIGN_HEAD}
"""The kinds of events that are handed out, unless they have an origin."""
PART_BYTES: Final = 8 << 20
"""The size of the records of one part, at about which it ends."""

_GAP, _EVENT = b"\x00", b"\x01"
_LENGTH_BYTES = 2
_KINDS = frozenset(map(int, DETAILS))
_ARRAY = 0x80
"""The first byte of an array in CBOR is this, plus the number of its items if there are at most 23."""


class Head(NamedTuple):
    """A state of the log of a store."""

    store_id: bytes
    size: int
    log_root: bytes


class Written(NamedTuple):
    """A part of a journal, as it is handed out: the events `first` to `stop` − 1."""

    first: int
    stop: int
    frontier: bytes
    """The frontier of the log at `first`, encoded."""
    head: Head
    """The head of the log at `stop`."""
    records: list[bytes]
    """One record for each event that is handed out, and one for each run of events that are left out."""


class Piece(NamedTuple):
    """An event that was handed out, or a run of events that were left out."""

    first: int
    stop: int
    hashes: list[bytes]
    """The roots of the subtrees into which the leaves divide."""
    header: bytes = b""
    """The header, empty for a run."""
    payload: bytes | None = None


def written(store: Store, first: int, bytes_max: int = PART_BYTES, stop: int | None = None) -> Written:
    """Return a part of the journal for other stores, from event `first` on.

    The part ends when its records have about `bytes_max` bytes, at event `stop`, or with the journal.
    Payloads that were destroyed are missing in it. The memory that this needs does not grow with the journal.

    Raises:
        InvalidInputError: the journal never had `first` events.
        CorruptionError: a row of the journal does not have the bytes that were written.
    """
    with store.view() as rows:
        log = read_log(rows)
        end = log.size if stop is None else min(stop, log.size)
        paths = LogPaths(rows, log.size)
        frontier = first.to_bytes(SIZE_BYTES, "big") + b"".join(paths.subtrees(0, first))
        records: list[bytes] = []
        gap, at, size = first, end, 0
        for entry, raw, payload, _ in read_raw(rows, first, end, sys.maxsize, _has_origin):
            header = entry.header
            if header.kind in HANDED_OUT and header.origin is None:
                if size >= bytes_max:
                    at = header.seq
                    break
                records += _run(paths, gap, header.seq)
                records.append(record_of(raw, payload))
                size += len(records[-1])
                gap = header.seq + 1
        records += _run(paths, gap, at)
        return Written(first, at, frontier, Head(store.identity.store_id, at, paths.root(at)), records)


def record_of(header: bytes, payload: bytes | None) -> bytes:
    """Return the record of an event that is handed out; without a payload, it was destroyed."""
    return _EVENT + len(header).to_bytes(_LENGTH_BYTES, "big") + header + (payload or b"")


def _has_origin(header: bytes) -> bool:
    """Return True if an encoded header has an origin, which makes its array one item longer.

    Decoding the events that a store took in, which it does not hand out, took a third of the time of a join.
    """
    kind = kind_of(header)
    return kind in _KINDS and header[0] == _ARRAY + len(HEADER_FIELDS) + len(DETAILS[EventKind(kind)][1]) + 1


def _run(paths: LogPaths, first: int, stop: int) -> list[bytes]:
    """Return the record of a run of events that are left out, if there are any."""
    if first == stop:
        return []
    return [_GAP + stop.to_bytes(SIZE_BYTES, "big") + b"".join(paths.subtrees(first, stop))]


def opened(part: Written, known: ForeignHeadDetail | None) -> list[Piece]:
    """Return the pieces of a part, after checking that they are those of the log with its head.

    Args:
        part: The part.
        known: The last head of the store that was taken in, or None.

    Raises:
        InconsistentError: the log does not continue the known head.
        VerificationError: a record is malformed, or the records are not those of the log.
    """
    store = part.head.store_id.hex()
    try:
        frontier = Frontier.from_bytes(part.frontier)
        pieces = list(_pieces(part))
        if frontier.size != part.first or (pieces[-1].stop if pieces else part.first) != part.stop:
            raise ValueError("the records do not begin or end where the part does")
        at = part.first if known is None or not part.first <= known.size <= part.stop else known.size
        before = [piece for piece in pieces if piece.stop <= at]
        past = advanced(frontier, before)
        if (part.head.size, part.head.log_root) != (part.stop, advanced(past, pieces[len(before) :]).root()):
            raise ValueError("the records are not those of the head")
    except ValueError as error:
        raise VerificationError(f"events {part.first} to {part.stop} of store {store}: {error}") from error
    if known is not None and at == known.size and (past.size, past.root()) != (at, known.log_root):
        raise InconsistentError(
            f"the journal of store {store} is another one than at its first {at} events",
            known=known.log_root.hex(),
            found=(past.root().hex(),),
        )
    return pieces


def _pieces(part: Written) -> Iterator[Piece]:
    at = part.first
    for record in part.records:
        if record[:1] == _EVENT:
            start = 1 + _LENGTH_BYTES
            end = start + int.from_bytes(record[1:start], "big")
            header = record[start:end]
            yield Piece(at, at + 1, [leaf_hash(header)], header, record[end:] or None)
            at += 1
        elif record[:1] == _GAP and len(record) % DIGEST_BYTES == 1 + SIZE_BYTES:
            start = 1 + SIZE_BYTES
            stop = int.from_bytes(record[1:start], "big")
            hashes = [record[one : one + DIGEST_BYTES] for one in range(start, len(record), DIGEST_BYTES)]
            yield Piece(at, stop, hashes)
            at = stop
        else:
            raise ValueError("a record is malformed")


def advanced(frontier: Frontier, pieces: list[Piece]) -> Frontier:
    """Return the frontier after the pieces, which must follow it.

    Raises:
        ValueError: a piece does not follow, or has too few or too many hashes.
    """
    leaves: list[bytes] = []
    for piece in pieces:
        if piece.header:
            leaves += piece.hashes
            continue
        frontier, leaves = extended(frontier, leaves), []
        if frontier.size != piece.first:
            raise ValueError("a record does not follow the one before it")
        for (height, _), root in zip(complete_subtrees(piece.first, piece.stop), piece.hashes, strict=True):
            frontier = _with_subtree(frontier, height, root)
    return extended(frontier, leaves)


def _with_subtree(frontier: Frontier, height: int, root: bytes) -> Frontier:
    """Return a frontier to which a complete subtree is appended; its size is a multiple of the leaves."""
    raw, at = frontier.to_bytes()[SIZE_BYTES:], frontier.size >> height
    while at & 1:
        root = node_hash(raw[-DIGEST_BYTES:], root)
        raw, at = raw[:-DIGEST_BYTES], at >> 1
    return Frontier.from_bytes((frontier.size + (1 << height)).to_bytes(SIZE_BYTES, "big") + raw + root)


def entries_of(pieces: list[Piece]) -> Iterator[Entry]:
    """Yield the events that were handed out, after checking each payload against its commitment.

    Raises:
        VerificationError: an event is malformed, or is none that is handed out.
    """
    start = 0
    while start < len(pieces):
        stop = start
        while stop < len(pieces) and pieces[stop].header:
            stop += 1
        run = pieces[start:stop]
        if run:
            headers, payloads = [one.header for one in run], [one.payload for one in run]
            for piece, found in zip(run, decoded_entries(headers, payloads, run[0].first), strict=True):
                yield _checked(found or _decoded(piece))
        start = stop + 1


def _decoded(piece: Piece) -> Entry:
    header = decode_header(piece.header, piece.first)
    body = None if piece.payload is None else open_payload(header, piece.payload)
    return Entry(header, body, piece.hashes[0])


def _checked(entry: Entry) -> Entry:
    header = entry.header
    missing = entry.body is None and header.kind in {
        EventKind.ERASED,
        EventKind.FOREIGN_HEAD,
        EventKind.EDGE_TYPE_REGISTERED,
    }
    if header.kind not in HANDED_OUT or header.origin is not None or missing:
        raise VerificationError(f"event {header.seq} of another store is none that is handed out")
    return entry
