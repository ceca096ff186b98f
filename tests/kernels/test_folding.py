"""The records that a kernel computes for added atoms and edges equal those of the fold in Python."""

from __future__ import annotations

from itertools import permutations, product
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.ledger import fold as folding
from engine.ledger.fold import Overlay, fold, fold_twin
from proofs.events import (
    AtomBody,
    AtomDetail,
    Body,
    EdgeBody,
    EdgeDetail,
    Entry,
    EventKind,
    FactBody,
    FactDetail,
    Header,
    Origin,
    ReasonBody,
    TagsBody,
)
from proofs.limits import CREATED_MAX, CREATED_MIN, INTEGER_MAX
from tests.kernels.native import native

ADDED, REVISED = EventKind.ATOM_ADDED, EventKind.ATOM_REVISED
LINKED, UNLINKED = EventKind.EDGE_ADDED, EventKind.EDGE_REMOVED
FACT = EventKind.FACT_40
OTHER = [EventKind.ATOM_TOMBSTONED, EventKind.TAGS_ADDED, EventKind.ATOM_REVIVED, EventKind.ERASED]
NOTED = EventKind.VERSION_NOTED
TEXTS = st.text(max_size=8) | st.sampled_from(["note", "internal", "inbox"])
LABELS = st.text("abc", max_size=8) | st.sampled_from(["note", "internal", "inbox", "external"])
LISTS = st.lists(LABELS, max_size=3).map(tuple)
NUMBERS = st.integers(0, 30) | st.integers(0, INTEGER_MAX)
ORIGINS = st.sampled_from([None, None, None, Origin(bytes(16), 3, 1, bytes(32), 5)])
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
    st.none() | NUMBERS,
    st.none() | TEXTS,
    st.none() | TEXTS,
)


EDGES = st.builds(EdgeBody, st.binary(min_size=4, max_size=4), st.binary(max_size=30), st.none() | TEXTS)
ORDINALS = st.none() | st.integers(0, 9)
"""An ordinal that several events may assign, or None for the seq of the event."""


@st.composite
def journals(draw: st.DrawFn) -> list[Entry]:
    """Return events on a few atoms and edges, in any order, as a forged journal may have them."""
    entries = []
    for seq in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from([ADDED] * 6 + [LINKED] * 3 + [REVISED, NOTED, UNLINKED, FACT, *OTHER]))
        ids = [bytes([draw(st.integers(0, 12))]) * 16 for _ in range(2)]
        prev = draw(st.sampled_from([None] * 5 + [0]))
        detail: AtomDetail | EdgeDetail = EdgeDetail(
            ids[0], draw(st.sampled_from([b"\x01", b"\x80" * 8])), ids[1]
        )
        body: Body | None = draw(st.none() | EDGES)
        if kind in (ADDED, REVISED, NOTED, *OTHER):
            ordinal = draw(ORDINALS)
            detail = AtomDetail(ids[0], seq if ordinal is None else ordinal, draw(st.none() | st.just(0)))
            body = draw(st.none() | BODIES)
        if kind is FACT:
            entries.append(
                Entry(
                    Header(seq, 10 + seq, kind, "me", bytes(32), prev, FactDetail(ids[0])),
                    FactBody(b""),
                    bytes(32),
                )
            )
            continue
        if kind in (*OTHER, UNLINKED) and body is not None:
            body = TagsBody(("t",)) if kind is EventKind.TAGS_ADDED else ReasonBody("why")
        actor = draw(st.sampled_from(["me", "ä"]))
        header = Header(seq, 10 + seq, kind, actor, bytes(32), prev, detail, draw(ORIGINS))
        entries.append(Entry(header, body, bytes(32)))
    return entries


def rows_after(store: MemoryBackend, entries: list[Entry], *, compiled: bool) -> dict[bytes, bytes | None]:
    """Return the rows that folding these entries changes, with the kernel or without."""
    batch = Batch()
    with store.snapshot() as rows, patch.object(folding, "NATIVE", native() if compiled else None):
        fold(entries, Overlay(rows, batch))
    return batch.rows


@given(journals(), st.integers(0, 12))
def test_records_are_those_of_the_twin(entries: list[Entry], cut: int) -> None:
    """In one run or two, the rows equal those that Python computes event by event."""
    store = MemoryBackend()
    for part in (entries[:cut], entries[cut:]):
        expected = rows_after(store, part, compiled=False)
        assert rows_after(store, part, compiled=True) == expected
        batch = Batch()
        batch.rows.update(expected)
        store.write(batch)


def test_an_atom_that_is_recorded_is_not_added_again() -> None:
    """In a forged journal, a second event may add an atom, or assign its ordinal."""
    body = AtomBody("text", None, "note", (), (), None, None, "internal", None, None, 0)
    details = [
        AtomDetail(bytes([at]) * 16, ordinal, None) for at, ordinal in ((1, 0), (1, 1), (2, 1), (1, 1))
    ]
    kinds = (ADDED, ADDED, ADDED, REVISED)
    entries = [
        Entry(Header(seq, 10 + seq, kind, "me", bytes(32), None, detail), body, b"")
        for seq, (kind, detail) in enumerate(zip(kinds, details, strict=True))
    ]
    for order in permutations(entries):
        for cut in range(len(order)):
            store, batch = MemoryBackend(), Batch()
            batch.rows.update(rows_after(store, list(order[:cut]), compiled=False))
            store.write(batch)
            later = list(order[cut:])
            assert rows_after(store, later, compiled=True) == rows_after(store, later, compiled=False)


def test_fields_at_the_end_of_a_record_are_left_out() -> None:
    """The rows are the twin's for every choice of the fields that may be missing."""
    for given_fields in product((False, True), repeat=5):
        title, source, key = (
            text if there else None for text, there in zip("tsk", given_fields[:3], strict=True)
        )
        sequence, trust = (0 if there else None for there in given_fields[3:])
        body = AtomBody("text", title, "note", (), ("inbox",), source, sequence, "x", trust, None, 0, key)
        header = Header(0, 5, ADDED, "user", bytes(32), None, AtomDetail(bytes(16), 0, None))
        found = native().added_records([Entry(header, body, b"")])
        assert found is not None
        assert found[1] == rows_after(MemoryBackend(), [Entry(header, body, b"")], compiled=False)


def test_most_atoms_and_edges_take_the_short_way() -> None:
    """Of a run of new atoms and edges, only the other events are folded one by one."""
    body = AtomBody("text", None, "note", (), (), None, None, "internal", None, None, 0)
    details = [AtomDetail(bytes([at]) * 16, at, None) for at in range(5)]
    entries = [
        Entry(Header(at, 1, ADDED, "me", bytes(32), None, detail), body, b"")
        for at, detail in enumerate(details)
    ]
    edge = EdgeDetail(details[0].id, b"\x01", details[1].id)
    entries.append(Entry(Header(5, 1, LINKED, "me", bytes(32), None, edge), EdgeBody(bytes(4), b""), b""))
    tagged = Header(6, 1, EventKind.TAGS_ADDED, "me", bytes(32), 2, details[2])
    entries.append(Entry(tagged, TagsBody(("t",)), b""))
    short_way = patch.object(folding, "NATIVE", native())
    batch = Batch()
    with short_way, patch.object(folding, "fold_twin", wraps=fold_twin) as folded:
        fold(entries, Overlay(MemoryBackend(), batch))
    assert len(batch.rows) == 2 * 5 + 2
    assert folded.call_args.args[0] == entries[6:]
