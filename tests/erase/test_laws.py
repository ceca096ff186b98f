"""After erasures, rows depend only on the headers and the remaining payloads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.memory import MemoryBackend
from engine.followers.base import catch_up, drop
from engine.index import index_follower as index
from engine.ledger.journal import read_entries, read_log
from engine.ledger.layout import ERASURE, INDEX_SUMMARIES, PAYLOAD, payload_key
from engine.ledger.paged_tree import PagedTree
from engine.store.maintenance import copy
from engine.store.store import Store
from engine.store.views import projections
from engine.trust.audit.verify import verify
from tests.erase.support import erased, mixed, rows_made, small
from tests.support.engines import backend_of, copied_rows, engine_on, fresh_rows, put_rows
from tests.support.workloads import id_of

pytestmark = pytest.mark.slow

few = settings(max_examples=12, deadline=None)


@few
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_a_rebuild_gives_the_rows_that_erasing_left(seed: int, erasures: int, lag: bool) -> None:
    """After erasures, a rebuild from the journal gives the same rows, and the store verifies."""
    engine = mixed(seed, 60, erasures, lag=lag)
    rows, root = rows_made(engine), engine.root()
    report = verify(backend_of(engine), expect=root.root)
    assert report.ok, report.differences
    assert engine.rebuild() == root
    assert rows_made(engine) == rows


@few
@given(st.integers(0, 10_000), st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_however_the_journal_is_cut_the_rows_are_the_same(seed: int, cuts: list[int]) -> None:
    """Followers that process the journal in chunks of any size end with the same rows."""
    engine = mixed(seed, 50, 3)
    rows = rows_made(engine)
    target = copied_rows(backend_of(engine))
    drop(target, projections())
    stop, size, at = 0, read_log(target).size, 0
    while stop < size:
        stop = min(size, stop + cuts[at % len(cuts)])
        at += 1
        for follower in projections():
            catch_up(target, follower, read_entries, stop=stop)
    assert rows_made(engine_on(target)) == rows


@few
@given(st.integers(0, 10_000))
def test_a_follower_that_had_seen_it_and_one_that_had_not_agree(seed: int) -> None:
    """Followers that lag behind an erasure remove all rows and cached values of the destroyed content."""
    engine = mixed(seed, 40, 0)
    late = copied_rows(backend_of(engine))
    for known in (0, 1):
        engine.erase(id_of(known), "asked for")
    # The same journal, whose followers had all rows before it was as it is now.
    with_rows = engine_on(late)
    with_rows.catch_up()
    for prefix in (b"j/", PAYLOAD, ERASURE, b"meta/log"):
        fresh = dict(backend_of(engine).scan_prefix(prefix))
        old = {key: None for key, _ in late.scan_prefix(prefix)}
        put_rows(late, {**old, **fresh})
    drop(late, [projections()[0]])
    assert rows_made(engine_on(late)) == rows_made(engine)


def test_a_copy_has_the_same_root_and_rows() -> None:
    """A copy of a store with erased atoms, also if interrupted and continued, has the same rows and root."""
    engine = mixed(5, 60, 3)
    engine.checkpoint()
    rows, root = rows_made(engine), engine.root()
    target = MemoryBackend()
    assert copy(backend_of(engine), target) == root
    assert rows_made(engine_on(target)) == rows
    assert fresh_rows(backend_of(engine)) == dict(backend_of(engine).scan())


@pytest.mark.parametrize("ordinal", [0, 255, 256, 511, 512, 600])
def test_the_segment_that_held_it_is_as_if_it_had_never_been_read(ordinal: int) -> None:
    """Erasing an atom inside or at the ends of a segment, or in the tail, gives the rows of a rebuild."""
    engine = engine_on()
    ids = [
        engine.add(f"word{number} shared {number % 7}", title=f"t{number}").subject for number in range(610)
    ]
    engine.catch_up()
    before = dict(backend_of(engine).scan_prefix(INDEX_SUMMARIES))
    engine.erase(ids[ordinal], "asked for", probe=False)
    rows = rows_made(engine)
    assert (before != {key: row for key, row in rows.items() if key.startswith(INDEX_SUMMARIES)}) is (
        ordinal < 512
    )
    assert not [key for key in rows if key.endswith(b"word%d" % ordinal)]
    assert ids[ordinal] not in {hit.id for hit in engine.recall(f"word{ordinal}").hits}
    with engine.store.view(engine.store.index) as snapshot:
        view = engine.store.index.view(snapshot)
    assert (view.documents, view.counted) == (610, 609)
    root = engine.root()
    assert engine.rebuild() == root
    assert rows_made(engine) == rows


def test_an_erasure_across_the_making_of_a_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Erasing an atom before or in the batch that creates its segment gives the rows of a rebuild."""
    monkeypatch.setattr(index, "BULK_DOCUMENTS", 256)
    for lag in (False, True):
        engine = engine_on()
        ids = [engine.add(f"early{number}").subject for number in range(200)]
        if not lag:
            engine.catch_up()
        engine.erase(ids[7], "asked for", probe=False)
        engine.apply_many([])
        for number in range(1100):
            engine.add(f"late{number}")
        engine.erase(ids[9], "asked for", probe=False)
        rows, root = rows_made(engine), engine.root()
        assert engine.rebuild() == root
        assert rows_made(engine) == rows


def test_rarity_does_not_count_what_is_erased() -> None:
    """Scores equal those of a store that contains only the remaining atoms."""
    plain, other = engine_on(), engine_on()
    for engine in (plain, other):
        for number in range(20):
            engine.add(f"common text {number} about tea", id=id_of(number))
        engine.add("a rare zebra drinks tea", id=id_of(99))
    for number in range(100, 130):
        other.add(f"common text {number} about tea and more words", id=id_of(number))
    for number in range(100, 130):
        other.erase(id_of(number), "asked for", probe=False)
    assert [(hit.id, hit.score) for hit in other.recall("zebra tea").hits] == [
        (hit.id, hit.score) for hit in plain.recall("zebra tea").hits
    ]


def test_edges_and_payloads_of_both_are_gone() -> None:
    """Only the payloads of the erasing events remain of an atom and its edges."""
    engine = erased()
    kinds = {item.seq: item.kind.name for item in engine.log()}
    left = {seq for seq in kinds if backend_of(engine).get(payload_key(seq)) is not None}
    others = {item.seq for number in (2, 3) for item in engine.history(id_of(number))}
    assert left == {0, *others, *(seq for seq, name in kinds.items() if name in ("ERASED", "EDGE_ERASED"))}
    assert [name for _, name in sorted(kinds.items())][-3:] == ["EDGE_ERASED", "EDGE_ERASED", "ERASED"]


def test_an_atom_with_very_many_edges_takes_several_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """An atom with more edges than a batch holds is erased in several commits, edges first."""
    monkeypatch.setattr("engine.erase.destroy.EDGES_AT_ONCE", 3)
    engine = engine_on()
    for number in range(10):
        engine.add(f"text {number}", id=id_of(number))
    for number in range(1, 10):
        engine.link(id_of(number), "part_of", id_of(0))
    receipt = engine.erase(id_of(0), "asked for")
    assert (receipt.edges, len(receipt.events)) == (9, 10)
    assert verify(backend_of(engine)).ok
    rows, root = rows_made(engine), engine.root()
    assert engine.rebuild() == root
    assert rows_made(engine) == rows


def test_erasing_twice_is_erasing_once() -> None:
    """Erasing an atom twice changes nothing the second time."""
    engine = erased()
    root = engine.root()
    again = engine.erase(id_of(1), "again")
    assert (again.events, again.purged, again.probe) == ((), False, None)
    assert engine.root() == root


def test_the_roots_of_atoms_and_edges_of_before_can_still_be_made() -> None:
    """The roots of atoms and edges at earlier sizes can be recomputed from headers."""
    engine = small()
    roots = {}
    for size in range(2, engine.size + 1):
        with engine.as_of(size - 1) as past:
            roots[size] = tree_roots(past.store)
    engine.erase(id_of(1), "asked for")
    for size, found in roots.items():
        with engine.as_of(size - 1) as past:
            assert tree_roots(past.store) == found


def tree_roots(store: Store) -> tuple[bytes, bytes]:
    """Return the roots of `atoms` and `edges`."""
    with store.view(*store.followers) as rows:
        size = read_log(rows).size
        return PagedTree("atoms").sealed_root(rows, size), PagedTree("edges").sealed_root(rows, size)
