"""Runs of new events of one kind: their journal rows and entries, computed together (SPEC: Journal).

Bulk work consists almost only of events that add a new atom or a new edge. The effect of such an event
depends only on the event, so the rows of a whole run can be computed in one step. The result is the same as
if `engine.ledger.journal.Appender.append` and `engine.ledger.fold.fold` were called for each event in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from engine.ledger.layout import journal_key, payload_key
from proofs.codec import encode_body, encode_header
from proofs.events import Body, Detail, Entry, EventKind, Header
from proofs.hashing import commitment
from proofs.log import Frontier, leaf_hash

D = TypeVar("D", bound=Detail)
B = TypeVar("B", bound=Body)


class Run(NamedTuple):
    """The result of a run of events."""

    rows: dict[bytes, bytes]
    """The rows of three kinds: headers, payloads and records."""
    entries: list[Entry]
    frontier: Frontier
    """The frontier of the log after the events."""
    size: int
    """The number of bytes of all headers and payloads."""


Encoded = tuple[dict[bytes, bytes], Sequence[bytes], Sequence[bytes], bytes, int]
"""The result of a compiled kernel: the rows, the commitments, the leaves, the bytes of the new frontier, and
the number of bytes of all headers and payloads."""


def run_of(
    encoded: Encoded,
    seq: int,
    kind: EventKind,
    actor: str,
    details: Sequence[Detail],
    bodies: Sequence[Body],
    times: Sequence[int],
) -> Run:
    """Return the run that a compiled kernel encoded. `seq` is the seq of the first event."""
    rows, commitments, leaves, frontier, size = encoded
    # Measured: `tuple.__new__` takes half of the time of the constructors of the named tuples.
    new = tuple.__new__
    entries = []
    for at, (detail, body, time, mark, leaf) in enumerate(
        zip(details, bodies, times, commitments, leaves, strict=True), seq
    ):
        header = new(Header, (at, time, kind, actor, mark, None, detail))
        entries.append(new(Entry, (header, body, leaf)))
    return Run(rows, entries, Frontier.from_bytes(frontier), size)


def run_twin(
    frontier: Frontier,
    kind: EventKind,
    actor: str,
    details: Sequence[D],
    bodies: Sequence[B],
    salts: Sequence[bytes],
    times: Sequence[int],
    record_rows: Callable[[Header, D, B], dict[bytes, bytes]],
) -> Run:
    """Compute a run in Python. `record_rows` returns the rows of the record that the event adds.

    Raises:
        ValueError: A salt does not have 32 bytes.
    """
    rows: dict[bytes, bytes] = {}
    entries = []
    frontier = frontier.copy()
    size = 0
    for detail, body, salt, time in zip(details, bodies, salts, times, strict=True):
        seq = frontier.size
        raw_body = encode_body(body)
        header = Header(seq, time, kind, actor, commitment(salt, raw_body), None, detail)
        raw_header = encode_header(header)
        leaf = leaf_hash(raw_header)
        frontier.append(leaf)
        rows[journal_key(seq)] = raw_header
        rows[payload_key(seq)] = payload = salt + raw_body
        rows |= record_rows(header, detail, body)
        entries.append(Entry(header, body, leaf))
        size += len(raw_header) + len(payload)
    return Run(rows, entries, frontier, size)
