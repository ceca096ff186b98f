"""Runs of events fold to the records that the events give one by one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.ledger.adding import fold_all
from engine.ledger.fold import Overlay, fold
from proofs.events import AtomBody, AtomDetail, Body, Entry, EventKind, Header, ReasonBody

KINDS = (EventKind.ATOM_ADDED, EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.ATOM_TOMBSTONED)


def entry(seq: int, atom: int, kind: EventKind, *, destroyed: bool) -> Entry:
    """Return an event on an atom. Nothing keeps it from being an event that no command would append."""
    content = AtomBody(f"text {seq}", None, "note", ("a",), ("inbox",), "s", seq, "internal", None, None, 0)
    body: Body = ReasonBody("hidden") if kind is EventKind.ATOM_TOMBSTONED else content
    header = Header(seq, 1000 + seq, kind, "user", bytes(32), None, AtomDetail(bytes([atom]) * 16, seq, None))
    return Entry(header, None if destroyed else body, bytes(32))


histories = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from(KINDS), st.sampled_from([False] * 9 + [True]))
)


@settings(deadline=None)
@given(histories, st.integers(0, 30))
def test_fold_all(events: list[tuple[int, EventKind, bool]], cut: int) -> None:
    """The rows are those of the fold, event by event, also if some atoms are recorded before."""
    entries = [entry(seq, atom, kind, destroyed=gone) for seq, (atom, kind, gone) in enumerate(events)]
    base = MemoryBackend()
    before = Batch()
    for one in entries[:cut]:
        fold(one, Overlay(base, before))
    base.write(before)
    together, single = Batch(), Batch()
    fold_all(entries[cut:], Overlay(base, together))
    for one in entries[cut:]:
        fold(one, Overlay(base, single))
    assert together.rows == single.rows
