"""The values in leaves have one form."""

from __future__ import annotations

import sys
from array import array

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.forms import FormError
from proofs.leaves import bits_of, decode_tags, encode_tags, members_in, sparse_members

IDENTITIES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)


@given(st.sets(IDENTITIES, min_size=1, max_size=5))
def test_the_tags_of_an_ordinal_are_read_as_they_were_written(identities: set[str]) -> None:
    """Tags are ascending by their UTF-8 bytes, and any other order is refused."""
    tags = decode_tags(encode_tags(identities))
    assert set(tags) == identities
    assert list(tags) == sorted(identities, key=str.encode)
    if len(tags) > 1:
        with pytest.raises(FormError, match="ascending"):
            decode_tags(cbor2.dumps(list(reversed(tags))))


@pytest.mark.parametrize("odd", [[], "red", {"red": 1}, ["red", 1], [b"red"], ["a", "a"], None, 7])
def test_a_row_of_tags_is_an_ascending_array_of_texts(odd: object) -> None:
    """What is no array of texts, has none, or has one twice is no row of tags."""
    with pytest.raises(FormError):
        decode_tags(cbor2.dumps(odd))


@given(st.sets(st.integers(0, 0xFFFF), min_size=1, max_size=20), st.sampled_from(["little", "big"]))
def test_members_of_a_chunk_are_little_endian(members: set[int], order: str) -> None:
    """A chunk has the same members on a machine of either byte order."""
    raw = b"".join(member.to_bytes(2, "little") for member in sorted(members))
    with pytest.MonkeyPatch.context() as patched:
        if order != sys.byteorder:
            patched.setattr("proofs.leaves.array", _Foreign)
            patched.setattr(sys, "byteorder", order)
        assert list(sparse_members(raw)) == sorted(members)
        assert list(members_in(bits_of(raw))) == sorted(members)


class _Foreign(array):  # type: ignore[type-arg]
    """An array as a machine of the other byte order reads it."""

    def frombytes(self, buffer: bytes, /) -> None:  # type: ignore[override]
        """Append the members that such a machine sees in these bytes."""
        super().frombytes(buffer)
        self.byteswap()
