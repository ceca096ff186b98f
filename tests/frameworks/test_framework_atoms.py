"""Names of frameworks as sources."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base import limits, validation
from engine.base.errors import InvalidInputError
from engine.frameworks.framework_atoms import coded, decoded, parts_of, source_of

PARTS = st.text(st.characters(exclude_categories=["Cs", "Mn", "Mc", "Me"]), min_size=1, max_size=8)


@settings(max_examples=400)
@given(st.lists(PARTS, min_size=1, max_size=4))
def test_the_parts_of_a_name_come_back_from_a_valid_source(parts: list[str]) -> None:
    """Any parts give a source that a memory accepts, and that stands for itself in a filter."""
    source = source_of("x", parts, "a part")
    assert validation.line(source, "source", limits.SOURCE_BYTES_MAX) == source
    assert "*" not in source
    assert parts_of(source) == tuple(parts)


@settings(max_examples=200)
@given(PARTS)
def test_a_key_comes_back(part: str) -> None:
    """`decoded` reverts `coded`."""
    assert decoded(coded(part, "a key")) == part


def test_different_names_have_different_sources() -> None:
    """A separator inside a part is not the separator of parts."""
    assert source_of("x", ["a/b"], "a part") != source_of("x", ["a", "b"], "a part")
    assert source_of("x", ["a", "b"], "a part") == "x:a/b"


def test_a_star_in_a_name_is_no_pattern() -> None:
    """In a filter, a source that ends in `*` would stand for many sources."""
    assert source_of("x", ["a*"], "a part") == "x:a%2A"


def test_an_empty_part_is_refused() -> None:
    """The message says which name is empty."""
    with pytest.raises(InvalidInputError, match="a part of a namespace must be text that is not empty"):
        source_of("x", ["a", ""], "a part of a namespace")
