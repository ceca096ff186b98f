"""The follower `log` has a row for each complete subtree, also in stores that are older than the follower."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backends.base import Backend
from engine.base.errors import CorruptionError
from engine.followers.base import drop
from engine.followers.log import LogFollower, complete_root
from engine.ledger.journal import read_log
from engine.ledger.layout import JOURNAL, SUBTREE, cursor_key, journal_key, subtree_key
from engine.trust.audit.verify import verify
from engine.trust.proving.log_witnesses import LogPaths
from proofs.log import root_of
from tests.spec.spec_rows import log_rows
from tests.support.engines import backend_of, copied_rows, engine_on, fresh_rows, put_rows
from tests.support.workloads import commands
from tests.trust.tiles.support import Definition, follow, leaves, log_of

pytestmark = pytest.mark.slow

LARGEST = 65_537
DEFINED = Definition(leaves(LARGEST))


def rows_of(size: int) -> dict[bytes, bytes]:
    """Return the rows of the follower after this number of events, computed from the definition."""
    return {
        subtree_key(level, index): DEFINED.mth(index * 256**level, (index + 1) * 256**level)
        for level in (1, 2)
        for index in range(size // 256**level)
    }


@cache
def real_store() -> Backend:
    """Return a shared store with 900 commands and all followers at the head; tests must not change it."""
    engine = engine_on()
    engine.apply(commands(900, seed=21, relating=False))
    engine.catch_up()
    return backend_of(engine)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537])
def test_there_is_a_row_for_every_complete_subtree_and_no_other(size: int) -> None:
    """Each complete subtree of 256 and 65,536 leaves has a row with its RFC 6962 root."""
    assert dict(log_of(size, size).scan_prefix(SUBTREE)) == rows_of(size)


@settings(max_examples=40, deadline=None)
@given(cuts=st.sets(st.integers(1, 1_099), max_size=12))
@example(cuts={255, 256, 257, 511, 512, 513})
@example(cuts={1, 1_099})
def test_rows_do_not_depend_on_batches(cuts: set[int]) -> None:
    """Batches that end at any event give the rows of a single batch."""
    store = log_of(1_100)
    stops = [0, *sorted(cuts), 1_100]
    for start, stop in pairwise(stops):
        follow(store, start, stop)
    assert dict(store.scan_prefix(SUBTREE)) == rows_of(1_100)


@pytest.mark.parametrize("cut", [65_279, 65_280, 65_281, 65_535])
def test_the_second_level_is_completed_from_rows_written_before(cut: int) -> None:
    """A batch that completes 65,536 leaves reads the missing hashes from earlier rows."""
    store = log_of(65_536)
    follow(store, 0, cut)
    follow(store, cut, 65_536)
    assert dict(store.scan_prefix(SUBTREE)) == rows_of(65_536)


def test_complete_root_equals_the_definition() -> None:
    """`complete_root` equals the definition for powers of two and rejects other numbers."""
    for count in (1, 2, 4, 256):
        assert complete_root(leaves(256)[:count]) == root_of(leaves(256)[:count])
    with pytest.raises(ValueError, match="zip"):
        complete_root(leaves(3))


def test_a_missing_header_stops_the_follower() -> None:
    """A missing header raises CorruptionError."""
    store = log_of(256)
    follow(store, 0, 200)
    put_rows(store, {journal_key(77): None})
    with pytest.raises(CorruptionError):
        follow(store, 200, 256)


def test_an_older_store_verifies_and_gets_the_rows() -> None:
    """A store without rows and cursor of `log` verifies, and computing the root builds the rows."""
    store = copied_rows(real_store())
    theirs: dict[bytes, bytes | None] = dict.fromkeys(dict(store.scan_prefix(SUBTREE)))
    assert len(theirs) == 2
    put_rows(store, {**theirs, cursor_key("log"): None})
    report = verify(store)
    assert report.ok, report.differences
    engine = engine_on(store)
    assert engine.status().followers["log"] == 0
    assert engine.root().root == report.root
    assert dict(store.scan()) == dict(real_store().scan()) == fresh_rows(store)


def test_an_older_store_still_has_paths() -> None:
    """Before the follower catches up, roots and paths are computed from the headers."""
    store = copied_rows(real_store())
    drop(store, [LogFollower()])
    put_rows(store, {key: None for key, _ in store.scan_prefix(SUBTREE)})
    log = read_log(store)
    assert LogPaths(store, log.size).root(log.size) == log.frontier.root()


def test_rows_without_a_cursor_are_reported() -> None:
    """Rows of `log` without a cursor are reported as a difference."""
    store = copied_rows(real_store())
    drop(store, [LogFollower()])
    report = verify(store)
    assert [difference.family for difference in report.differences] == ["log"]


def test_the_root_of_all_subtrees_is_that_of_the_frontier() -> None:
    """The root that is computed from the rows of the follower equals that of the frontier."""
    log = read_log(real_store())
    assert LogPaths(real_store(), log.size).root(log.size) == log.frontier.root()


def test_the_rows_of_a_real_store_are_those_that_the_spec_defines() -> None:
    """The rows that SPEC derives from the headers equal the rows of the follower."""
    headers = [header for _, header in real_store().scan_prefix(JOURNAL)]
    assert dict(real_store().scan_prefix(SUBTREE)) == log_rows(headers) != {}
