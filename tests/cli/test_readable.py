"""Lists are made for people: short ids, names, times and hints; --full and --json print whole ids."""

from __future__ import annotations

import re

import pytest

from tests.support.command_line import Cli

Pair = tuple[str, str]

WHOLE = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
MICROSECONDS = re.compile(r"\b1[0-9]{15}\b")

LISTS = [
    ["recall", "kettle"],
    ["bright", "kettle"],
    ["find"],
    ["find", "--from", "FIRST", "--direction", "both"],
    ["edges", "FIRST"],
    ["duplicates"],
    ["log"],
    ["history", "FIRST"],
    ["diff", "0"],
    ["why", "SECOND"],
    ["revert", "2", "--dry-run"],
]


@pytest.fixture
def linked(cli: Cli, pair: Pair) -> Pair:
    """The ids of two atoms with an edge, a relation and a near-duplicate; the second is superseded."""
    cli("link", pair[0], "references", pair[1])
    cli("relate", "kettle", "listens on", "stove", "--source", pair[0])
    for text in ("The tea kettle is descaled on every first Monday.",) * 2:
        cli("add", text, "--again", "--source", f"notes/{len(cli('find', '--json').data)}.md")
    cli("supersede", pair[1], pair[0])
    return pair


def arguments(words: list[str], pair: Pair) -> list[str]:
    """Return the words of a command with the ids of the pair."""
    return [{"FIRST": pair[0], "SECOND": pair[1]}.get(word, word) for word in words]


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_a_list_shows_short_ids_and_no_microseconds(cli: Cli, linked: Pair, words: list[str]) -> None:
    """A list for people has no whole id and no time in microseconds, and at least one short id."""
    result = cli(*arguments(words, linked))
    assert result.code == 0
    assert WHOLE.findall(result.out) == MICROSECONDS.findall(result.out) == []
    assert re.search(r"\b[0-9a-f]{8}\b", result.out)


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_full_shows_whole_ids(cli: Cli, linked: Pair, words: list[str]) -> None:
    """With --full, the same list has whole ids."""
    assert WHOLE.search(cli(*arguments(words, linked), "--full").out)


def test_the_short_form_of_find_keeps_whole_ids(cli: Cli, pair: Pair) -> None:
    """`find --form short` prints whole ids and titles, separated by tabs, because programs read it."""
    lines = cli("find", "--form", "short").out.splitlines()
    assert [line.split("\t") for line in lines] == [[pair[0], "Kettle"], [pair[1], "untitled"]]


def test_edges_of_both_directions_name_the_other_atom(cli: Cli, pair: Pair) -> None:
    """`edges` marks the direction, and names the entity, title or text at the other end."""
    cli("link", pair[0], "references", pair[1])
    cli("relate", "kettle", "listens on", "stove", "--source", pair[0])
    rows = [line.split("\t") for line in cli("edges", pair[0]).out.splitlines()]
    assert {(row[0], row[1], row[3]) for row in rows} == {
        ("→", "references", "Tea needs a clean kettle."),
        ("→", "mentions", "kettle"),
        ("→", "mentions", "stove"),
    }
    (back,) = (line.split("\t") for line in cli("edges", pair[1]).out.splitlines())
    assert back == ["←", "references", pair[0][:8], "Kettle", "1", "live"]


def test_edges_say_that_the_other_atom_is_hidden(cli: Cli, pair: Pair) -> None:
    """A live edge to a tombstoned atom says so."""
    cli("link", pair[0], "references", pair[1])
    cli("tombstone", pair[1])
    assert cli("edges", pair[0]).out.endswith("\tlive, the atom is tombstoned\n")


@pytest.mark.parametrize("options", [("--as_of", "2"), ("--as-of", "2")])
def test_options_take_hyphens_and_underscores(cli: Cli, pair: Pair, options: tuple[str, str]) -> None:
    """`-` and `_` are the same in the names of commands and options, but not in values."""
    assert cli("verify_root").code == 0
    assert cli("tags", *options).code == 0
    assert cli("find", "--without_tag", "a_b", "--json").code == 0
    cli("tag", pair[0], "a_b")
    assert "a_b" in cli("tags").out


@pytest.mark.parametrize(
    ("word", "meant"), [("recal", "recall"), ("explore-neighbours", "explore-neighbors")]
)
def test_a_suggestion_is_what_was_meant(bare: Cli, word: str, meant: str) -> None:
    """An unknown command suggests those that are spelt alike."""
    assert f"did you mean {meant}?" in bare(word).err


@pytest.mark.parametrize("word", ["create_", "list_all", "xyz", "restoring"])
def test_no_suggestion_is_better_than_a_wrong_one(bare: Cli, word: str) -> None:
    """A word that resembles no command has no suggestion."""
    assert "did you mean" not in bare(word).err


@pytest.mark.parametrize("name", ["doctor", "scrub", "recall", "dream", "diff"])
def test_a_default_is_shown_once(bare: Cli, name: str) -> None:
    """A help page shows no default twice in one entry."""
    text = " ".join(bare(name, "--help").out.split())
    assert not re.search(r"\[default: [^]]*\]\s*\[default", text)


def test_the_hops_are_refused_in_the_words_of_the_command_line(cli: Cli, pair: Pair) -> None:
    """The message about a wrong number of hops has no name of an argument in Python."""
    result = cli("find", "--from", pair[0], "--min-hops", "3", "--max-hops", "2")
    assert result.code == 2
    assert "minimum number of hops, 3, is above the maximum number of hops, 2" in result.err
