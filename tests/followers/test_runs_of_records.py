"""The follower of the records gives the records that the fold gives, event by event."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.followers.records import Records
from engine.ledger.fold import Overlay, fold
from engine.ledger.layout import COUNTERS
from proofs.events import AtomBody, AtomDetail, Body, Entry, EventKind, Header, ReasonBody

KINDS = (EventKind.ATOM_ADDED, EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.ATOM_TOMBSTONED)


def entry(seq: int, atom: int, kind: EventKind, *, destroyed: bool) -> Entry:
    """Return an event on an atom. Nothing keeps it from being an event that no command would append."""
    content = AtomBody(f"text {seq}", None, "note", ("a",), ("inbox",), "s", seq, "internal", None, None, 0)
    body: Body = ReasonBody("hidden") if kind is EventKind.ATOM_TOMBSTONED else content
    header = Header(seq, 1000 + seq, kind, "user", bytes(32), None, AtomDetail(bytes([atom]) * 16, seq, None))
    return Entry(header, None if destroyed else body, bytes(32))


events = st.tuples(st.integers(1, 60), st.sampled_from(KINDS), st.sampled_from([False] * 9 + [True]))


@settings(deadline=None)
@given(st.lists(events), st.integers(0, 30))
def test_records_of_runs(history: list[tuple[int, EventKind, bool]], cut: int) -> None:
    """The rows are the same if the follower gets all events at once, after some that came before."""
    entries = [entry(seq, atom, kind, destroyed=gone) for seq, (atom, kind, gone) in enumerate(history)]
    base, before = MemoryBackend(), Batch()
    for one in entries[:cut]:
        fold([one], Overlay(base, before))
    base.write(before)
    together, single = Batch(), Batch()
    Records().follow(entries[cut:], base, together)
    del together.rows[COUNTERS]
    for one in entries[cut:]:
        fold([one], Overlay(base, single))
    assert together.rows == single.rows
