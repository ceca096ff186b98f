"""Checking one record against the events on its atom or edge."""

from __future__ import annotations

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.ledger.journal import read_log
from engine.ledger.records import AtomRecord, EdgeRecord, read_atom, read_edge
from engine.ledger.subject_history import records_after, subject_history


def check_record(rows: Reader, record: AtomRecord | EdgeRecord) -> None:
    """Check that a record equals the record that results from all events on its atom or edge.

    Raises:
        CorruptionError: The two records differ.
    """
    history = records_after(subject_history(rows, record.last_seq), read_log(rows).size)
    if isinstance(record, AtomRecord):
        expected: AtomRecord | EdgeRecord | None = read_atom(history, record.id)
    else:
        expected = read_edge(history, record.src, record.type, record.dst)
    if expected != record:
        family = "atoms" if isinstance(record, AtomRecord) else "edges-from"
        raise CorruptionError(
            f"a record of {family} is not the one that results from the events up to {record.last_seq}",
            hint="run `engine rebuild`, then `engine verify-root`",
            family=family,
            seq=record.last_seq,
        )
