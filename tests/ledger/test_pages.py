"""The stored tree equals its definition and depends on the set of leaves alone."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import Batch
from engine.base.errors import CorruptionError, InvalidInputError
from engine.ledger.paged_tree import PagedTree
from proofs import smt
from proofs.hashing import EMPTY
from tests.ledger.support import (
    BASE,
    Changes,
    Rows,
    apply,
    histories,
    key_digests,
    leaves_after,
    sharing,
    values,
)

pytestmark = pytest.mark.slow

TREE = PagedTree("atoms")
V, W = b"\x01" * 32, b"\x02" * 32


def built(leaves: Changes) -> Rows:
    """Return the rows of a tree to which all leaves were added in one batch."""
    rows = Rows()
    apply(TREE, rows, leaves)
    return rows


def many(count: int, seed: int) -> dict[bytes, bytes | None]:
    """Return `count` leaves that are distributed like real key digests."""
    source = random.Random(seed)
    return {source.randbytes(32): source.randbytes(32) for _ in range(count)}


@given(histories())
def test_every_intermediate_root_equals_the_definition(history: list[Changes]) -> None:
    """After each batch the returned root and the stored root equal `smt.root_of`."""
    rows = Rows()
    roots = [(apply(TREE, rows, changes), TREE.root(rows)) for changes in history]
    expected = [smt.root_of(leaves_after(history[: at + 1])) for at in range(len(history))]
    assert roots == [(root, root) for root in expected]


@given(histories())
def test_the_rows_do_not_depend_on_the_history(history: list[Changes]) -> None:
    """After any history the rows are those of one batch with the remaining leaves."""
    rows = Rows()
    for changes in history:
        apply(TREE, rows, changes)
    assert rows.rows == built(leaves_after(history)).rows


@given(histories())
def test_removing_everything_leaves_no_rows(history: list[Changes]) -> None:
    """A tree whose leaves are removed in one batch has no rows and the empty root."""
    rows = Rows()
    for changes in history:
        apply(TREE, rows, changes)
    root = apply(TREE, rows, dict.fromkeys(leaves_after(history)))
    assert (root, TREE.root(rows), rows.rows) == (EMPTY, EMPTY, {})


@given(histories(), st.dictionaries(key_digests, st.none() | values, max_size=6))
def test_an_update_changes_no_row_before_its_batch_is_written(
    history: list[Changes], changes: Changes
) -> None:
    """`update` returns the root that the batch leads to, and changes no row itself."""
    rows = Rows()
    for earlier in history:
        apply(TREE, rows, earlier)
    before = dict(rows.rows)
    foretold = TREE.update(rows, Batch(), changes)
    assert rows.rows == before
    assert foretold == apply(TREE, rows, changes)


@given(histories(), st.lists(key_digests, max_size=4))
def test_an_update_without_effect_puts_nothing(history: list[Changes], absent: list[bytes]) -> None:
    """Setting leaves to their values and removing absent leaves puts nothing into the batch."""
    rows = Rows()
    for changes in history:
        apply(TREE, rows, changes)
    leaves = leaves_after(history)
    batch = Batch()
    root = TREE.update(rows, batch, {**dict.fromkeys(absent), **leaves})
    assert (batch.rows, root) == ({}, smt.root_of(leaves))


@given(histories(), st.dictionaries(key_digests, st.none() | values, max_size=6))
def test_only_pages_that_differ_are_written(history: list[Changes], changes: Changes) -> None:
    """Each put has other bytes than the stored row, and each delete is of a stored row."""
    rows = Rows()
    for earlier in history:
        apply(TREE, rows, earlier)
    batch = Batch()
    TREE.update(rows, batch, changes)
    assert [key for key, value in batch.rows.items() if rows.rows.get(key) == value] == []


@pytest.mark.parametrize("tail", [bytes(32), b"\xff" * 32, BASE])
def test_keys_that_share_any_number_of_bits_have_a_page_for_each_shared_nibble(tail: bytes) -> None:
    """Two leaves that share 0 to 255 bits have a page for each nibble up to the first different one."""
    wrong = []
    for shared in range(256):
        leaves = {BASE: V, sharing(shared, tail): W}
        rows = built(leaves)
        if len(rows.rows) != shared // 4 + 1 or TREE.root(rows) != smt.root_of(leaves):
            wrong.append(shared)
    assert wrong == []


def test_a_large_tree_equals_the_definition() -> None:
    """3,000 leaves in uneven batches, with changes and removals, give the defined root and rows."""
    rows = Rows()
    leaves = many(3000, seed=1)
    keys = list(leaves)
    rest = {key: (W if at % 3 == 1 else leaves[key]) for at, key in enumerate(keys) if at % 3}
    for start, end in [(0, 1), (1, 18), (18, 1000), (1000, 3000)]:
        apply(TREE, rows, {key: leaves[key] for key in keys[start:end]})
    apply(TREE, rows, {key: rest.get(key) for key in keys})
    assert TREE.root(rows) == smt.root_of(leaves_after([rest]))
    assert rows.rows == built(rest).rows


def test_namespaces_do_not_touch() -> None:
    """Two trees that are updated in one batch have separate pages and roots."""
    rows, batch = Rows(), Batch()
    edges = PagedTree("edges")
    TREE.update(rows, batch, {BASE: V})
    edges.update(rows, batch, {BASE: W, sharing(9, V): V})
    rows.write(batch)
    apply(edges, rows, {BASE: None, sharing(9, V): None})
    assert rows.rows == built({BASE: V}).rows


def test_the_mapping_of_changes_is_not_modified() -> None:
    """`update` does not modify the mapping of changes."""
    changes: dict[bytes, bytes | None] = {sharing(3, V): V, BASE: None}
    apply(TREE, Rows(), changes)
    assert list(changes.items()) == [(sharing(3, V), V), (BASE, None)]


def test_reading_the_root_takes_one_row() -> None:
    """Reading the root takes one row for a tree of any size."""
    rows = built(many(500, seed=2))
    rows.gets = rows.multi_gets = 0
    TREE.root(rows)
    assert (rows.gets, rows.multi_gets) == (1, 0)


def test_an_update_reads_once_a_level() -> None:
    """An update reads the pages of each level with one call."""
    rows = built({BASE: V, sharing(17, V): V, sharing(2, V): V})
    rows.multi_gets = 0
    apply(TREE, rows, {BASE: W, sharing(2, V): W, sharing(17, V): W, sharing(40, V): W})
    assert (rows.gets, rows.multi_gets) == (0, 5)


def test_a_second_update_in_the_same_batch_is_refused() -> None:
    """A second update of a tree in the same batch is rejected and leaves the batch unchanged."""
    rows, batch = Rows(), Batch()
    TREE.update(rows, batch, {BASE: V})
    before = dict(batch.rows)
    with pytest.raises(InvalidInputError, match="already updated"):
        TREE.update(rows, batch, {sharing(5, V): W})
    assert batch.rows == before


@pytest.mark.parametrize("change", [(b"", V), (BASE[1:], V), (BASE + b"x", None), (BASE, b""), (BASE, V[1:])])
def test_a_digest_of_another_width_is_refused(change: tuple[bytes, bytes | None]) -> None:
    """A digest of a wrong size is rejected, and nothing is put into the batch."""
    batch = Batch()
    with pytest.raises(InvalidInputError, match="32 bytes"):
        TREE.update(Rows(), batch, {sharing(1, V): V, change[0]: change[1]})
    assert batch.rows == {}


def test_a_missing_page_is_reported_and_nothing_is_put() -> None:
    """An update reports the key of a missing page and puts nothing into the batch."""
    rows = built({BASE: V, sharing(6, V): V, sharing(1, V): V})
    missing = max(rows.rows)
    del rows.rows[missing]
    batch = Batch()
    with pytest.raises(CorruptionError, match=missing.hex()):
        TREE.update(rows, batch, {BASE: W, sharing(0, V): W})
    assert batch.rows == {}
