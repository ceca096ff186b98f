"""The records that a kernel computes for added atoms equal those of the fold."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.followers import records
from engine.ledger.fold import fold
from proofs.events import AtomBody, AtomDetail, Body, Entry, EventKind, Header, ReasonBody, TagsBody
from proofs.limits import CREATED_MAX, CREATED_MIN, INTEGER_MAX
from tests.kernels.native import native

ADDED, REVISED = EventKind.ATOM_ADDED, EventKind.ATOM_REVISED
OTHER = [EventKind.ATOM_TOMBSTONED, EventKind.TAGS_ADDED, EventKind.ATOM_REVIVED]
TEXTS = st.text(max_size=8) | st.sampled_from(["note", "internal", "inbox"])
LABELS = st.text("abc", max_size=8) | st.sampled_from(["note", "internal", "inbox", "external"])
LISTS = st.lists(LABELS, max_size=3).map(tuple)
NUMBERS = st.integers(0, 30) | st.integers(0, INTEGER_MAX)
BODIES = st.builds(
    AtomBody,
    TEXTS,
    st.none() | TEXTS,
    LABELS,
    LISTS,
    LISTS,
    st.none() | TEXTS,
    st.none() | NUMBERS,
    LABELS,
    st.none() | st.integers(0, 100),
    st.none() | st.integers(CREATED_MIN, CREATED_MAX),
    NUMBERS,
    st.none() | TEXTS,
)


@st.composite
def journals(draw: st.DrawFn) -> list[Entry]:
    """Return events on a few atoms, in any order, as a forged journal may have them."""
    entries = []
    for seq in range(draw(st.integers(0, 10))):
        kind = draw(st.sampled_from([ADDED] * 6 + [REVISED, *OTHER]))
        detail = AtomDetail(bytes([draw(st.integers(0, 12))]) * 16, seq, draw(st.none() | st.just(0)))
        body: Body | None = draw(st.none() | BODIES)
        if kind in OTHER and body is not None:
            body = TagsBody(("t",)) if kind is EventKind.TAGS_ADDED else ReasonBody("why")
        prev = draw(st.sampled_from([None] * 5 + [0]))
        entries.append(Entry(Header(seq, 10 + seq, kind, "me", bytes(32), prev, detail), body, bytes(32)))
    return entries


def followed(store: MemoryBackend, entries: list[Entry]) -> Batch:
    """Return the batch of the records after these entries."""
    batch = Batch()
    with store.snapshot() as rows:
        records.Records().follow(entries, rows, batch)
    return batch


@given(journals(), st.integers(0, 10))
def test_records_are_those_of_the_fold(entries: list[Entry], cut: int) -> None:
    """In one batch or two, the rows equal those that the fold computes event by event."""
    store = MemoryBackend()
    for part in (entries[:cut], entries[cut:]):
        with patch.object(records, "NATIVE", None):
            expected = followed(store, part)
        assert followed(store, part).rows == expected.rows
        store.write(expected)


def test_most_atoms_take_the_short_way() -> None:
    """Of a run of new atoms, only the other events are folded one by one."""
    body = AtomBody("text", None, "note", (), (), None, None, "internal", None, None, 0)
    details = [AtomDetail(bytes([at]) * 16, at, None) for at in range(5)]
    entries = [
        Entry(Header(at, 1, ADDED, "me", bytes(32), None, detail), body, b"")
        for at, detail in enumerate(details)
    ]
    tagged = Header(5, 1, EventKind.TAGS_ADDED, "me", bytes(32), 2, details[2])
    entries.append(Entry(tagged, TagsBody(("t",)), b""))
    short_way = patch.object(records, "NATIVE", native())
    with short_way, patch.object(records, "fold", wraps=fold) as folded:
        assert len(followed(MemoryBackend(), entries).rows) == 2 * 5 + 1
    assert [call.args[0] for call in folded.call_args_list] == entries[5:]
