"""Regular expressions that are compiled when they are first used."""

import re

import pytest

from engine.base.patterns import lazy


def test_a_lazy_pattern_finds_what_the_compiled_one_finds() -> None:
    """The source and the flags are those given, and each method can be called again."""
    pattern = lazy("(?P<word>[a-z]+)", re.IGNORECASE)
    for _ in range(2):
        assert [match["word"] for match in pattern.finditer("One, two")] == ["One", "two"]
        assert pattern.fullmatch("one ") is None


def test_a_malformed_pattern_fails_when_it_is_used() -> None:
    """Nothing is compiled before."""
    pattern = lazy("(")
    with pytest.raises(re.error):
        pattern.search("")
