"""Entries of meta on the command line."""

from __future__ import annotations

import pytest

from engine.base.errors import InvalidInputError
from engine.query.filter_text import parse_conditions, parse_meta, parse_value
from tests.support.command_line import Cli, bare, cli, surroundings

__all__ = ["bare", "cli", "surroundings"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("atlas", "atlas"), ("two words", "two words"), ("", ""), ("a=b", "a=b"), ('"2"', "2"), ("2", 2)),
        *(("2.5", 2.5), ("true", True), ("True", "True"), ("01", "01"), ("NaN", "NaN")),
    ],
)
def test_a_value_is_json_or_else_text(text: str, value: object) -> None:
    """A JSON scalar stands for itself, and every other text for a text."""
    found = parse_value(text, "here")
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("text", ["null", "[1]", '{"a": 1}'])
def test_lists_objects_and_null_are_refused(text: str) -> None:
    """The error names the place and says how to store the characters as text."""
    with pytest.raises(InvalidInputError, match="here: the value must be text") as caught:
        parse_value(text, "here")
    assert "double quotes" in (caught.value.hint or "")


def test_a_key_has_one_value_in_an_atom_and_several_in_a_filter() -> None:
    """A repeated key is refused for an atom; in a filter its values are collected in order."""
    assert parse_conditions(["a=1", "b=x", "a=2"], "--meta") == {"a": (1, 2), "b": ("x",)}
    assert parse_meta(["a=1", "b=x"], "--meta") == {"a": 1, "b": "x"}
    with pytest.raises(InvalidInputError, match="--meta gives 'a' twice"):
        parse_meta(["a=1", "a=1"], "--meta")
    with pytest.raises(InvalidInputError, match="--meta 'a' is not KEY=VALUE"):
        parse_conditions(["a"], "--meta")


def test_a_value_that_was_added_is_found_with_the_same_option(cli: Cli) -> None:
    """What `add --meta` and `revise --meta` store, `get` shows and `find`, `recall` and `context` select."""
    first = cli("add", "The lamp is in the kitchen.", "--meta", "project=atlas", "--meta", "n=2").out.strip()
    second = cli("add", "The lamp is in the garden.", "--meta", "project=zeus").out.strip()
    assert cli("get", first, "--json").data["meta"] == {"n": 2, "project": "atlas"}
    assert cli("find", "--meta", "n=2", "--form", "short").out.split()[0] == first
    assert [hit["id"] for hit in cli("recall", "lamp", "--meta", "project=zeus", "--json").data["hits"]] == [
        second
    ]
    cli("revise", first, "--meta", "project=zeus")
    assert "kitchen" in cli("context", "lamp", "--meta", "project=zeus").out
    both = cli("find", "--meta", "project=atlas", "--meta", "project=zeus", "--json").data
    assert sorted(one["id"] for one in both) == sorted([first, second])
    assert cli("find", "--meta", "n=2", "--json").data == []
