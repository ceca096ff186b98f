"""Whether each event can follow from the ones before it: what deciding guarantees, checked again.

Folding judges nothing, so a journal made by hand could say things that no command decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from backends.base import Reader
from engine.audit.compare import Difference
from engine.events import AtomDetail, EdgeDetail, Entry, EventKind, TypeDetail
from engine.followers.records import count
from engine.followers.trees import Value, read_value, subject_of, value_after
from engine.journal import read_log
from engine.layout import journal_key
from engine.model import State
from engine.records import read_counters

_NEEDS_LIVE = frozenset(
    {
        EventKind.ATOM_REVISED,
        EventKind.ATOM_TOMBSTONED,
        EventKind.TAGS_ADDED,
        EventKind.TAGS_REMOVED,
        EventKind.EDGE_REMOVED,
    }
)
_NEEDS_HIDDEN = frozenset({EventKind.ATOM_REVIVED})
_CREATES = frozenset({EventKind.ATOM_ADDED, EventKind.EDGE_ADDED})


def check_chain(entries: Sequence[Entry], before: Reader) -> Difference | None:
    """The first of `entries` that no command would have decided on top of `before`; None if all may stand."""
    values: dict[tuple[str, bytes], Value | None] = {}
    counters, time = read_counters(before), read_log(before).time
    for entry in entries:
        header = entry.header
        subject = subject_of(entry)
        problem = None
        if header.time < time:
            problem = "is earlier than the event before it"
        elif (header.seq == 0) is not (header.kind is EventKind.GENESIS):
            problem = "is a genesis that is not the first event, or a first event that is none"
        elif subject[0]:
            if subject not in values:
                values[subject] = read_value(before, *subject)
            problem = _subject_problem(entry, values[subject], counters.next_ordinal)
            values[subject] = value_after(entry, values[subject]) or values[subject]
        elif isinstance(header.detail, TypeDetail):
            code = int.from_bytes(header.detail.code, "big")
            problem = None if code == counters.next_type else "skips or repeats the code of a predicate"
        if problem:
            return Difference("journal", journal_key(header.seq).hex(), header.seq, f"event {problem}")
        time, counters = header.time, count((entry,), counters)
    return None


def _subject_problem(entry: Entry, value: Value | None, next_ordinal: int) -> str | None:
    header, detail = entry.header, entry.header.detail
    if header.prev != (None if value is None else value.last_seq):
        return "does not name the event before it on its subject"
    if value is None:
        wrong_state = header.kind not in _CREATES
    elif header.kind is EventKind.ATOM_ADDED:
        wrong_state = True
    else:
        hidden = value.state != State.LIVE
        needs_hidden = header.kind in _NEEDS_HIDDEN or header.kind is EventKind.EDGE_ADDED
        wrong_state = (hidden and header.kind in _NEEDS_LIVE) or (not hidden and needs_hidden)
    if wrong_state:
        return "is not possible in the state its subject is in"
    if isinstance(detail, AtomDetail):
        return _ordinal_problem(header.kind, detail, value, next_ordinal)
    if isinstance(detail, EdgeDetail) and detail.src == detail.dst:
        return "joins an atom to itself"
    return None


def _ordinal_problem(
    kind: EventKind, detail: AtomDetail, value: Value | None, next_ordinal: int
) -> str | None:
    current = None if value is None else value.ordinal
    gives = kind is EventKind.ATOM_ADDED or kind is EventKind.ATOM_REVISED
    expected = (next_ordinal, current) if gives else (current, None)
    return None if (detail.ordinal, detail.replaced) == expected else "has another ordinal than it must"
