"""Filters that are written as one line of text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.base.errors import InvalidInputError
from engine.query.filter_text import Wanted, parse_filter
from engine.query.filters import Filters


def test_every_condition_can_be_written() -> None:
    """Each term sets its field, and a term for a list may occur several times."""
    text = (
        "tag:a tag:b -tag:c bucket:inbox source:notes/* kind:note provenance:external category:causal "
        "after:2024-01-31 before:2024-02-01T12:00:00+01:00 superseded:yes as_of:17"
    )
    assert parse_filter(text) == Wanted(
        Filters(
            tags=("a", "b"),
            without_tags=("c",),
            buckets=("inbox",),
            sources=("notes/*",),
            kinds=("note",),
            provenances=("external",),
            categories=("causal",),
            since=datetime(2024, 1, 31, tzinfo=UTC),
            until=datetime(2024, 2, 1, 11, tzinfo=UTC),
            superseded=True,
        ),
        17,
    )


def test_the_names_of_the_command_line_are_known_too() -> None:
    """`since` is `after`, and `until` is `before`."""
    assert parse_filter("since:2024-01-01 until:2025-01-01") == parse_filter(
        "after:2024-01-01 before:2025-01-01"
    )


def test_the_moment_may_be_a_time() -> None:
    """`as_of` takes an event or a time."""
    assert parse_filter("as_of:2024-01-01").as_of == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("blank", ["", " ", "\n\t "])
def test_a_blank_filter_sets_no_condition(blank: str) -> None:
    """Nothing is restricted."""
    assert parse_filter(blank) == Wanted()


def test_values_with_spaces_are_quoted() -> None:
    """A quoted value may contain spaces, colons and escapes."""
    found = parse_filter(r'source:"my notes: a \"b\" \u00e9" tag:"x y"  tag:a:b').filters
    assert (found.sources, found.tags) == (('my notes: a "b" é',), ("x y", "a:b"))


def test_entries_of_meta_are_terms_of_their_own() -> None:
    """A value is a JSON scalar or a text; terms with one key allow several values."""
    found = parse_filter('meta.n:1 meta.n:true meta.n:"1" meta.a.b-C:"x y" meta.a.b-C:tea').filters
    assert found.meta == {"n": [1, True, "1"], "a.b-C": ["x y", "tea"]}
    assert [type(value) for value in found.meta["n"]] == [int, bool, str]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kettle", "'kettle' in the filter is not name:value"),
        ("tag: x", "'tag:' in the filter is not name:value"),
        ('tag:"x', "is not name:value"),
        ('tag:"x"y', "is not name:value"),
        (r'tag:"\x"', "is not one quoted text"),
        ("colour:red", "the filter has no term 'colour'"),
        ("-bucket:x", "the filter has no term '-bucket'"),
        ("after:soon", "after 'soon' is not a date or time"),
        ("after:2024-01-01 since:2025-01-01", "two terms"),
        ("as_of:1 as_of:2", "two terms as_of:"),
        ("superseded:maybe", "superseded:yes"),
        ("meta.a:null", "meta.a: the value must be text, a number, true or false"),
        ("meta.:x", "is not name:value"),
    ],
)
def test_what_is_not_a_filter_is_refused_with_the_reason(text: str, said: str) -> None:
    """The message quotes the term."""
    with pytest.raises(InvalidInputError) as refused:
        parse_filter(text)
    assert said in str(refused.value)
