"""The compiled roots of subtrees of the log equal those of the twin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.followers.log import complete_root
from tests.kernels.native import native

HASHES = st.lists(st.binary(min_size=32, max_size=32), max_size=40)


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
