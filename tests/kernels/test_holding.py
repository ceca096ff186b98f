"""The compiled look-up of keys in a tree finds what its twin finds, and leaves errors to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.base import Batch
from engine.base.errors import CorruptionError
from engine.ledger.pages import PagedTree
from proofs.hashing import key_digest, value_digest
from tests.kernels.native import native
from tests.ledger.support import Rows

TREE = PagedTree("atoms")
PREFIX = b"t/atoms/"
KEYS = st.sets(st.integers(0, 600), max_size=300)


def key_of(number: int) -> bytes:
    """Return a key of 16 bytes."""
    return number.to_bytes(16, "big")


def tree_of(numbers: set[int]) -> Rows:
    """Return the pages of a tree with these keys."""
    rows, batch = Rows(), Batch()
    changes = {key_digest("atoms", key_of(one)): value_digest("atoms", b"") for one in numbers}
    TREE.update(rows, batch, dict(changes))
    rows.rows.update({key: page for key, page in batch.rows.items() if page is not None})
    return rows


@given(KEYS, KEYS)
def test_the_keys_in_a_tree_are_found(held: set[int], asked: set[int]) -> None:
    """The answers and the remembered pages are those of the twin; the second time, nothing is read."""
    rows, keys = tree_of(held), [key_of(one) for one in asked]
    pages: dict[bytes, bytes | None] = {}
    twins: dict[bytes, bytes | None] = {}
    found = native().tree_holds("atoms", PREFIX, keys, pages, rows.multi_get)
    assert found == TREE.holds_twin(rows, keys, twins) == [one in held for one in asked]
    assert pages == twins
    assert native().tree_holds("atoms", PREFIX, keys, pages, Rows().multi_get) == found


@given(KEYS, st.randoms(use_true_random=False), st.sampled_from(["cut", "random", "missing"]))
def test_damaged_pages_are_declined_or_read_alike(held: set[int], random: object, damage: str) -> None:
    """Whatever the bytes of a page are, the kernel gives the answer of the twin, or none."""
    rows, keys = tree_of(held), [key_of(one) for one in held]
    if not rows.rows:
        return
    name = random.choice(sorted(rows.rows))  # type: ignore[attr-defined]
    page = rows.rows[name]
    if damage == "missing":
        del rows.rows[name]
    elif damage == "cut":
        rows.rows[name] = page[: random.randrange(len(page))]  # type: ignore[attr-defined]
    else:
        rows.rows[name] = random.randbytes(len(page))  # type: ignore[attr-defined]
    found = native().tree_holds("atoms", PREFIX, keys, {}, rows.multi_get)
    if found is None:
        return
    assert found == TREE.holds_twin(rows, keys, {})


def test_a_missing_page_is_an_error_of_the_twin() -> None:
    """The kernel declines, and the caller gets the twin's error."""
    rows = tree_of(set(range(300)))
    del rows.rows[max(rows.rows)]
    keys = [key_of(one) for one in range(300)]
    assert native().tree_holds("atoms", PREFIX, keys, {}, rows.multi_get) is None
    with pytest.raises(CorruptionError, match="is missing"):
        TREE.holds(rows, keys, {})
