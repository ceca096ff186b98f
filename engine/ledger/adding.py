"""The rows of a run of new atoms: journal, payloads and records, computed together (SPEC: Journal, Records).

Bulk work consists almost only of events that add an atom that was never recorded. The effect of such an event
depends on nothing but the event, so the rows of a whole run can be computed in one step. The result equals
that of `engine.ledger.journal.Appender.append` and `engine.ledger.fold.fold`, called for one event after the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.kernels import NATIVE
from engine.ledger.fold import content_record
from engine.ledger.layout import atom_key, journal_key, ordinal_key, payload_key
from engine.ledger.records import default_id, encode_atom
from proofs.codec import encode_body, encode_header
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, Header
from proofs.hashing import commitment
from proofs.log import Frontier, leaf_hash


class Added(NamedTuple):
    """The result of a run of events that add atoms."""

    rows: dict[bytes, bytes]
    """The rows of the headers, the payloads, the records and the ordinals."""
    entries: list[Entry]
    frontier: Frontier
    """The frontier of the log after the events."""
    size: int
    """The number of bytes of all headers and payloads."""


def added(
    frontier: Frontier,
    ordinal: int,
    actor: str,
    ids: Sequence[bytes],
    bodies: Sequence[AtomBody],
    salts: Sequence[bytes],
    times: Sequence[int],
) -> Added:
    """Return the rows and entries of events that add one atom each. No atom may be recorded yet.

    Args:
        frontier: The frontier of the log before the events. It is not changed.
        ordinal: The ordinal of the first atom; the others get the ordinals that follow.
        actor: The author of the events.
        ids: The id of each atom. No id occurs twice.
        bodies: The body of each event.
        salts: The salt of each payload.
        times: The time of each event.

    Raises:
        ValueError: A salt does not have 32 bytes.
    """
    if NATIVE is not None:
        result = NATIVE.added_rows(
            frontier.to_bytes(), ordinal, actor, list(ids), list(bodies), list(salts), list(times)
        )
        if result is not None:
            rows, commitments, leaves, after, size = result
            entries = _entries(frontier.size, ordinal, actor, ids, bodies, times, commitments, leaves)
            return Added(rows, entries, Frontier.from_bytes(after), size)
    return added_twin(frontier, ordinal, actor, ids, bodies, salts, times)


def _entries(
    seq: int,
    ordinal: int,
    actor: str,
    ids: Sequence[bytes],
    bodies: Sequence[AtomBody],
    times: Sequence[int],
    commitments: Sequence[bytes],
    leaves: Sequence[bytes],
) -> list[Entry]:
    # Measured: `tuple.__new__` takes half of the time of the constructors of the named tuples.
    new, kind = tuple.__new__, EventKind.ATOM_ADDED
    entries = []
    for id_, body, time, mark, leaf in zip(ids, bodies, times, commitments, leaves, strict=True):
        detail = new(AtomDetail, (id_, ordinal, None))
        header = new(Header, (seq, time, kind, actor, mark, None, detail))
        entries.append(new(Entry, (header, body, leaf)))
        seq += 1
        ordinal += 1
    return entries


def added_twin(
    frontier: Frontier,
    ordinal: int,
    actor: str,
    ids: Sequence[bytes],
    bodies: Sequence[AtomBody],
    salts: Sequence[bytes],
    times: Sequence[int],
) -> Added:
    """Do the work of `added` in Python. The arguments and the result are those of `added`."""
    rows: dict[bytes, bytes] = {}
    entries = []
    frontier = frontier.copy()
    size = 0
    for id_, body, salt, time in zip(ids, bodies, salts, times, strict=True):
        seq = frontier.size
        raw_body = encode_body(body)
        detail = AtomDetail(id_, ordinal, None)
        header = Header(seq, time, EventKind.ATOM_ADDED, actor, commitment(salt, raw_body), None, detail)
        raw_header = encode_header(header)
        leaf = leaf_hash(raw_header)
        frontier.append(leaf)
        record = content_record(header, detail, body, version=1, created_seq=seq, created=time)
        rows[journal_key(seq)] = raw_header
        rows[payload_key(seq)] = payload = salt + raw_body
        rows[atom_key(id_)] = encode_atom(record)
        rows[ordinal_key(ordinal)] = id_
        entries.append(Entry(header, body, leaf))
        size += len(raw_header) + len(payload)
        ordinal += 1
    return Added(rows, entries, frontier, size)


def default_ids(id_key: bytes, bodies: Sequence[AtomBody]) -> list[bytes]:
    """Return the id of the atom of each body if the caller gives no id (`default_id`)."""
    if NATIVE is not None:
        ids: list[bytes] | None = NATIVE.default_ids(id_key, list(bodies))
        if ids is not None:
            return ids
    return default_ids_twin(id_key, bodies)


def default_ids_twin(id_key: bytes, bodies: Sequence[AtomBody]) -> list[bytes]:
    """Do the work of `default_ids` in Python."""
    return [default_id(id_key, body.source, body.content, body.occurrence, body.key) for body in bodies]
