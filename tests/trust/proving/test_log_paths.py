"""Paths from the follower's rows and the headers are those of RFC 9162, and the verifier accepts them."""

from __future__ import annotations

import json
from base64 import b64decode
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.base import Reader
from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError, InvalidInputError
from engine.ledger.journal import Cursor, encode_cursor
from engine.ledger.layout import JOURNAL, SUBTREE, cursor_key, journal_key, subtree_key
from engine.trust.proving.log_witnesses import LogPaths
from proofs.log import EMPTY_ROOT, check_consistency, check_inclusion, leaf_hash
from tests.support.engines import CountingReader, copied_rows, put_rows
from tests.support.shared_data import needs
from tests.trust.tiles.support import INPUTS, Definition, leaves, log_of, with_headers

pytestmark = pytest.mark.slow

SMALL, AT_ONE, AT_TWO = range(1, 66), range(255, 259), range(511, 515)
AT_LEVEL_TWO = (65_535, 65_536, 65_537)
LARGEST = 65_537
SOME = (0, 1, 127, 255, 256, 40_000, 65_279, 65_280, 65_534, 65_535, 65_536)


@cache
def followed(size: int) -> MemoryBackend:
    """Return a log that the follower has followed to its end."""
    return log_of(size, size)


DEFINED = Definition(leaves(LARGEST))


def check(paths: LogPaths, index: int, size: int) -> None:
    """Check the root, the path of the leaf, and the path from the size that ends with it."""
    root = DEFINED.mth(0, size)
    assert paths.root(size) == root
    path = paths.inclusion(index, size)
    assert path == DEFINED.path(index, 0, size)
    check_inclusion(index, size, leaves(LARGEST)[index], path, root)
    path = paths.consistency(index + 1, size)
    assert path == DEFINED.proof(index + 1, size)
    check_consistency(index + 1, DEFINED.mth(0, index + 1), size, root, path)


@pytest.mark.parametrize("size", [*SMALL, *AT_ONE, *AT_TWO])
def test_every_path_of_a_log_is_the_definitions_and_verifies(size: int) -> None:
    """For every leaf and every earlier size, the path is that of the recursion in the RFC.

    In logs of over 65 events, of every seventh, and of those at the edges of a subtree.
    """
    paths = LogPaths(followed(size), size)
    edges = {0, 127, 128, 254, 255, 256, size - 2, size - 1}
    for index in range(size) if size in SMALL else sorted({*range(0, size, 7), *edges} & {*range(size)}):
        check(paths, index, size)


@pytest.mark.parametrize("size", AT_LEVEL_TWO)
def test_paths_around_the_second_level_are_the_definitions(size: int) -> None:
    """Paths at every edge of a subtree are correct just before, at and after 65,536 events."""
    paths = LogPaths(followed(LARGEST), size)
    for index in SOME:
        if index < size:
            check(paths, index, size)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_follower_that_lags_changes_no_path(data: st.DataObject) -> None:
    """Paths do not depend on the position of the follower or on its existence."""
    size = data.draw(st.integers(1, 1_100), label="size")
    store = log_of(size, data.draw(st.integers(0, size), label="followed"))
    paths = LogPaths(store, size)
    at = data.draw(st.integers(1, size), label="at")
    check(paths, data.draw(st.integers(0, at - 1), label="index"), at)


@pytest.mark.parametrize("behind", [1, 257, 65_537])
def test_a_large_log_whose_follower_lags_gives_the_same_paths(behind: int) -> None:
    """At 65,537 events, rows that the follower lacks are computed from headers."""
    paths = LogPaths(log_of(LARGEST, LARGEST - behind), LARGEST)
    for index in (0, 65_535, 65_536):
        check(paths, index, LARGEST)


@pytest.mark.parametrize("kind", ["inclusion", "consistency"])
def test_paths_are_those_of_the_public_vectors(kind: str) -> None:
    """Valid public proofs over the leaves of Certificate Transparency's reference tests equal these paths."""
    paths = LogPaths(with_headers(INPUTS), len(INPUTS))
    compared = 0
    for file in sorted(needs(f"vectors/rfc6962/transparency-dev/{kind}").glob("*/happy-path.json")):
        case: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if kind == "inclusion":
            if not case["treeSize"] or leaf_hash(INPUTS[case["leafIdx"]]) != b64decode(case["leafHash"]):
                continue
            found = paths.inclusion(case["leafIdx"], case["treeSize"])
        else:
            if not case["size1"]:
                continue
            found = paths.consistency(case["size1"], case["size2"])
        assert found == [b64decode(part) for part in case["proof"] or ()], file
        compared += 1
    assert compared >= 3


def test_a_path_reads_hundreds_of_rows_and_not_the_log() -> None:
    """At 65,537 events a path reads fewer headers and rows than three tiles hold."""
    for index in SOME:
        counting = CountingReader(followed(LARGEST))
        LogPaths(counting, LARGEST).inclusion(index, LARGEST)
        assert len([key for key in counting.scanned if key.startswith((JOURNAL, SUBTREE))]) <= 3 * 256


def test_the_log_without_events_has_the_empty_root() -> None:
    """The root of size 0 is that of no leaves."""
    assert LogPaths(log_of(0), 0).root(0) == EMPTY_ROOT
    assert LogPaths(log_of(3), 3).root(0) == EMPTY_ROOT


@pytest.mark.parametrize("level", [0, 1, 2])
def test_hashes_of_a_level_are_the_roots_of_its_subtrees(level: int) -> None:
    """A tile holds the roots over 256^level leaves each, with or without the follower's rows."""
    for store in (followed(LARGEST), log_of(LARGEST)):
        stop = LARGEST >> 8 * level
        start = max(0, stop - 20)
        width = 256**level
        expected = [DEFINED.mth(at * width, (at + 1) * width) for at in range(start, stop)]
        assert LogPaths(store, LARGEST).hashes(level, start, stop) == expected


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("root", (-1,)),
        ("root", (301,)),
        ("inclusion", (0, 0)),
        ("inclusion", (-1, 300)),
        ("inclusion", (300, 300)),
        ("inclusion", (5, 301)),
        ("consistency", (0, 300)),
        ("consistency", (301, 300)),
        ("consistency", (300, 301)),
        ("hashes", (1, 0, 2)),
    ],
)
def test_what_the_log_has_never_been_is_refused(method: str, given: tuple[int, ...]) -> None:
    """Sizes beyond the end, indexes beyond the size and an older size of 0 raise InvalidInputError."""
    with pytest.raises(InvalidInputError):
        getattr(LogPaths(followed(300), 300), method)(*given)


def whole(rows: Reader, size: int) -> None:
    """Request paths that need every row."""
    paths = LogPaths(rows, size)
    paths.root(size)
    for level in range(3):
        paths.hashes(level, 0, size >> 8 * level)


@pytest.mark.parametrize("value", [None, b"", bytes(31), bytes(33)])
@pytest.mark.parametrize("key", [subtree_key(1, 0), subtree_key(1, 255), subtree_key(2, 0)])
def test_a_row_that_is_missing_or_malformed_is_corruption(key: bytes, value: bytes | None) -> None:
    """A row below the cursor that is missing, or does not have 32 bytes, is a CorruptionError."""
    store = copied_rows(followed(LARGEST))
    put_rows(store, {key: value})
    with pytest.raises(CorruptionError) as caught:
        whole(store, LARGEST)
    assert caught.value.family == "log"


@pytest.mark.parametrize("seq", [0, 130, 299])
def test_a_header_that_is_missing_is_corruption(seq: int) -> None:
    """A missing header in the journal is a CorruptionError."""
    store = log_of(300)
    put_rows(store, {journal_key(seq): None})
    with pytest.raises(CorruptionError) as caught:
        whole(store, 300)
    assert (caught.value.family, caught.value.seq) == ("journal", seq)


@pytest.mark.parametrize("cursor", [Cursor(1, 300, bytes(32)), Cursor(1, 301, bytes(32))])
def test_a_cursor_that_lies_is_corruption(cursor: Cursor) -> None:
    """The cursor of a follower of another or a longer journal is a CorruptionError."""
    store = copied_rows(followed(300))
    put_rows(store, {cursor_key("log"): encode_cursor(cursor)})
    with pytest.raises(CorruptionError):
        LogPaths(store, 300)


def test_rows_of_another_version_are_not_used() -> None:
    """Rows of another version of the follower are ignored in favour of the headers."""
    store = copied_rows(followed(300))
    leaf = leaves(300)[299]
    put_rows(store, {cursor_key("log"): encode_cursor(Cursor(2, 300, leaf)), subtree_key(1, 0): bytes(32)})
    check(LogPaths(store, 300), 17, 300)
