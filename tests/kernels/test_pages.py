"""The compiled update of a tree writes the pages of its twin, and leaves errors to it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import Batch
from engine.base.errors import EngineError
from engine.ledger import paged_tree
from engine.ledger.paged_tree import PagedTree
from tests.kernels.native import native
from tests.ledger.support import Changes, Rows, histories

TREE = PagedTree("atoms")
PREFIX = b"t/atoms/"


def by_twin(rows: Rows, changes: Changes) -> tuple[dict[bytes, bytes | None], bytes]:
    """Return the pages and the root of an update in Python."""
    batch = Batch()
    with patch.object(paged_tree, "NATIVE", None):
        root = TREE.update(rows, batch, changes)
    return batch.rows, root


def written(rows: Rows, changes: Mapping[bytes, bytes | None]) -> None:
    """Apply changes to rows."""
    rows.rows.update({key: page for key, page in changes.items() if page is not None})
    for key in (key for key, page in changes.items() if page is None):
        rows.rows.pop(key)


@given(histories())
def test_each_update_of_a_history_writes_the_same_pages_in_the_same_order(history: list[Changes]) -> None:
    """Pages, root, and order of both updates are equal after every batch of a history."""
    rows = Rows()
    for changes in history:
        expected, root = by_twin(rows, changes)
        got = native().update_pages(PREFIX, dict(changes), rows.multi_get, {}, None)
        assert (list(got[0].items()), got[1]) == (list(expected.items()), root)
        written(rows, expected)


def test_a_large_tree_is_the_same() -> None:
    """Thousands of leaves, added, changed and removed in large batches, give the same pages and roots."""
    source = random.Random(1)
    keys = [source.randbytes(32) for _ in range(6000)]
    rows = Rows()
    for _ in range(4):
        changes = {
            key: source.randbytes(32) if source.random() < 0.7 else None for key in source.sample(keys, 3000)
        }
        expected, root = by_twin(rows, changes)
        assert native().update_pages(PREFIX, changes, rows.multi_get, {}, None) == (expected, root)
        written(rows, expected)


@given(histories(), st.randoms(use_true_random=False), st.binary(max_size=70))
def test_damaged_pages_are_left_to_the_twin(
    history: list[Changes], source: random.Random, junk: bytes
) -> None:
    """With a damaged or missing page, the update is declined or equals that of the twin, which may fail."""
    rows = Rows()
    for changes in history[:-1]:
        written(rows, by_twin(rows, changes)[0])
    if not rows.rows or not history[-1]:
        return
    key = source.choice(sorted(rows.rows))
    page = bytearray(rows.rows.pop(key))
    if source.random() < 0.8:
        page[source.randrange(len(page))] ^= 1 << source.randrange(8)
        rows.rows[key] = junk if source.random() < 0.2 else bytes(page[: source.randint(0, 2 * len(page))])
    got = native().update_pages(PREFIX, dict(history[-1]), rows.multi_get, {}, None)
    try:
        expected = by_twin(rows, history[-1])
    except EngineError:
        assert got is None
    else:
        assert got == expected


@pytest.mark.parametrize(
    "changes", [{b"": bytes(32)}, {bytes(31): None}, {bytes(32): b""}, {bytes(32): bytes(33)}, {bytes(32): 1}]
)
def test_changes_that_are_not_digests_are_declined(changes: dict[bytes, bytes | None]) -> None:
    """Keys and values that do not have 32 bytes are left to the twin."""
    assert native().update_pages(PREFIX, changes, Rows().multi_get, {}, None) is None


def test_an_error_while_reading_is_passed_on() -> None:
    """An error of the reader of rows is raised unchanged."""

    def fail(_: object) -> list[bytes | None]:
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        native().update_pages(PREFIX, {bytes(32): bytes(32)}, fail, {}, None)


LEAF, ROOT = bytes([0x11]) + bytes(63), b"\x01" * 32
MALFORMED = [
    b"",
    bytes(4),
    b"\x00\x02\x00\x02" + LEAF,
    b"\x00\x01\x00\x03" + LEAF + ROOT,
    b"\x00\x06\x00\x02" + LEAF + bytes(32),
    b"\x00\x06\x00\x02\x10" + LEAF[1:] + ROOT,
    b"\x00\x06\x00\x02" + LEAF + ROOT + b"\x00",
    b"\x00\x06\x00\x02" + bytes([0x21]) + LEAF[1:] + ROOT,
]
"""Pages at depth 1 below the path 1, each of which breaks one rule."""


@pytest.mark.parametrize("page", MALFORMED)
def test_a_malformed_page_is_declined(page: bytes) -> None:
    """Each rule of the format is checked."""
    root = PREFIX + b"\x00", b"\x00\x02\x00\x00" + ROOT
    rows = Rows(dict([root, (PREFIX + b"\x01\x10", page)]))
    with pytest.raises(EngineError):
        by_twin(rows, {bytes([0x1F]) + bytes(31): bytes(32)})
    change = {bytes([0x1F]) + bytes(31): bytes(32)}
    assert native().update_pages(PREFIX, change, rows.multi_get, {}, None) is None
