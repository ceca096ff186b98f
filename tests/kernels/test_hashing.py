"""The compiled hash functions give the hashes of their twins."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proofs.log import leaf_hash
from tests.kernels.native import native


@given(st.lists(st.binary(max_size=200), max_size=20), st.integers(1, 400))
def test_leaf_hashes(leaves: list[bytes], times: int) -> None:
    """The leaf hashes are those of the twin, also when there are enough leaves for several threads."""
    assert native().leaf_hashes(leaves * times) == [leaf_hash(leaf) for leaf in leaves] * times
