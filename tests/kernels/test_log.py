"""The compiled functions on the log give the results of their twins."""

from __future__ import annotations

from unittest.mock import patch

import cbor2
from hypothesis import given
from hypothesis import strategies as st

from engine.followers.log import complete_root
from engine.ledger import heads
from proofs.codec import kind_of
from proofs.log import Frontier
from tests.kernels.native import native

HASH = st.binary(min_size=32, max_size=32)
HASHES = st.lists(HASH, max_size=40)


@given(HASHES, st.sampled_from([1, 2, 4, 8, 32]))
def test_roots_of_complete_subtrees(hashes: list[bytes], width: int) -> None:
    """The root of each complete group of hashes is that of the twin."""
    groups = [hashes[at : at + width] for at in range(0, len(hashes) - width + 1, width)]
    assert native().complete_roots(hashes, width) == [complete_root(group) for group in groups]


@given(HASHES, st.binary(max_size=40), st.integers(0, 40))
def test_other_widths_are_declined(hashes: list[bytes], other: bytes, width: int) -> None:
    """A width that is not a power of two, or a hash of another width, is left to the twin."""
    if width & (width - 1) or not width:
        assert native().complete_roots(hashes, width) is None
    if len(other) != 32:
        assert native().complete_roots([*hashes, other], 1) is None


@given(HASHES, HASHES)
def test_leaves_are_appended_to_a_frontier(first: list[bytes], second: list[bytes]) -> None:
    """Appending leaves in two parts gives the frontier of the twin."""
    frontier = Frontier()
    frontier.extend(first)
    raw = native().extended_frontier(frontier.to_bytes(), second)
    frontier.extend(second)
    assert raw == frontier.to_bytes()


@given(
    st.binary(max_size=80) | st.integers(0, (1 << 63) + 5).map(lambda size: size.to_bytes(8, "big")), HASHES
)
def test_bytes_that_are_no_frontier_are_declined(raw: bytes, leaves: list[bytes]) -> None:
    """What the twin refuses is declined."""
    try:
        frontier = Frontier.from_bytes(raw)
        frontier.extend(leaves)
    except ValueError:
        assert native().extended_frontier(raw, leaves) is None
    else:
        assert native().extended_frontier(raw, leaves) == frontier.to_bytes()


@given(HASHES, st.binary(max_size=40).filter(lambda leaf: len(leaf) != 32))
def test_a_leaf_of_another_width_is_declined(leaves: list[bytes], wrong: bytes) -> None:
    """A wrong leaf is left to the twin, which raises."""
    assert native().extended_frontier(bytes(8), [*leaves, wrong]) is None


ITEMS = st.integers(0, 30) | st.integers(0, (1 << 64) - 1) | st.text(max_size=3) | st.none()
HEADERS = st.lists(ITEMS, max_size=6).map(cbor2.dumps) | st.binary(max_size=40)


@given(st.lists(HEADERS, max_size=10), st.lists(st.integers(0, 30), max_size=12))
def test_headers_of_some_kinds(headers: list[bytes], kinds: list[int]) -> None:
    """The positions of the headers are those that the twin finds, for any bytes."""
    expected = [at for at, header in enumerate(headers) if kind_of(header) in kinds]
    assert native().headers_of_kinds(headers, kinds) == expected
    with patch.object(heads, "NATIVE", None):
        twin = heads.erasing(headers)
    assert heads.erasing(headers) == twin
