"""The compiled `held_leaves` finds the leaves of a tree that its twin finds."""

from __future__ import annotations

import random

import pytest

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.base.errors import CorruptionError
from engine.ledger.paged_tree import PagedTree
from proofs.hashing import key_digest
from tests.kernels.native import native

TREE = PagedTree("atoms")
CHOSEN = random.Random(4)
KEYS = [CHOSEN.randbytes(16) for _ in range(1200)]


def filled(count: int) -> MemoryBackend:
    """Return the rows of a tree with leaves for the first `count` keys."""
    rows, batch = MemoryBackend(), Batch()
    changes = {key_digest("atoms", key): CHOSEN.randbytes(32) for key in KEYS[:count]}
    TREE.update(rows, batch, changes)
    rows.write(batch)
    return rows


@pytest.mark.parametrize("count", [0, 1, 2, 17, 600])
def test_present_and_absent_leaves_are_told_apart(count: int) -> None:
    """With and without kernels, exactly the keys in the tree are held, and the same pages are read."""
    assert native() is not None
    rows, wanted = filled(count), [*KEYS[:1200:7], KEYS[0]]
    by_kernel: dict[bytes, bytes | None] = {}
    by_twin: dict[bytes, bytes | None] = {}
    digests = [key_digest("atoms", key) for key in wanted]
    held = TREE.holds(rows, wanted, by_kernel)
    assert held == TREE._holds(rows, digests, by_twin) == [key in KEYS[:count] for key in wanted]
    assert by_kernel == by_twin


def test_pages_that_were_read_are_not_read_again() -> None:
    """The second search reads no row."""
    rows, pages = filled(600), dict[bytes, bytes | None]()
    first = TREE.holds(rows, KEYS, pages)
    assert TREE.holds(MemoryBackend(), KEYS, pages) == first


def test_a_missing_page_is_an_error() -> None:
    """If a page that the root page refers to is missing, the search raises CorruptionError."""
    rows = filled(600)
    deepest = max(key for key, _ in rows.scan())
    batch = Batch()
    batch.delete(deepest)
    rows.write(batch)
    with pytest.raises(CorruptionError):
        TREE.holds(rows, KEYS, {})
