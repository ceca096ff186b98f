"""The commands `duplicates`, `merge` and `unmerge`."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.engine import Engine
from tests.index.copies.support import CHAIN, KETTLE, TRAIN, copy_of
from tests.support.command_line import Cli

pytestmark = pytest.mark.slow

Ids = list[str]


@pytest.fixture
def copies(cli: Cli) -> Ids:
    """The ids of three copies of a text, tagged, and of two of another."""
    texts = [
        *(copy_of(KETTLE, number) for number in range(3)),
        *(copy_of(TRAIN, number) for number in range(2)),
    ]
    return [cli("add", "--again", text, "-t", f"t{number}").out.strip() for number, text in enumerate(texts)]


def live(cli: Cli) -> Ids:
    """The ids of all live atoms."""
    return [found["id"] for found in cli("find", "--json").data]


def test_groups_are_listed_for_people(cli: Cli, copies: Ids) -> None:
    """Each atom has a line, the one to keep first, and each group ends with an empty line."""
    lines = cli("duplicates").out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        [copies[0][:8], "keep"],
        [copies[1][:8], "0"],
        [copies[2][:8], "0"],
        [],
        [copies[3][:8], "keep"],
        [copies[4][:8], "0"],
        [],
    ]
    assert KETTLE in lines[0]
    assert lines[1].endswith("#t1")


def test_groups_are_listed_for_programs(cli: Cli, copies: Ids) -> None:
    """In JSON, a group has the atom to keep and the others with their distances."""
    result = cli("duplicates", "--json")
    assert result.envelope["count"] == 2
    assert [[group["keep"]["id"], *(other["id"] for other in group["others"])] for group in result.data] == [
        copies[:3],
        copies[3:],
    ]
    assert result.data[0]["others"][0] == {
        "id": copies[1],
        "distance": 0,
        "title": None,
        "snippet": copy_of(KETTLE, 1),
        "tags": ["t1"],
        "source": None,
    }


def test_the_group_of_one_atom(cli: Cli, copies: Ids) -> None:
    """`--of` accepts a short id, and `--limit` limits the list."""
    assert cli("duplicates", "--of", copies[4][:8], "--json").data[0]["keep"]["id"] == copies[3]
    assert len(cli("duplicates", "--limit", "1", "--json").data) == 1
    assert cli("duplicates", "--of", cli("add", "Nothing is like it.").out.strip()).out == ""


def test_two_atoms_are_merged_and_taken_apart(cli: Cli, copies: Ids) -> None:
    """Merging and unmerging accept short ids and print the id of the kept or restored atom."""
    assert cli("merge", copies[0][:8], copies[1][:8]).out == copies[0] + "\n"
    assert copies[1] not in live(cli)
    assert cli("get", copies[0], "--json").data["tags"] == ["t0", "t1"]
    assert "already merged" in cli("merge", copies[0], copies[1]).err
    assert cli("unmerge", copies[1][:8]).out == copies[1] + "\n"
    assert cli("get", copies[0], "--json").data["tags"] == ["t0"]
    assert "nothing to do" in cli("unmerge", copies[1]).err


def test_what_is_not_near_needs_force(cli: Cli, copies: Ids) -> None:
    """Merging atoms that are not near fails with exit code 7 and a hint at --force."""
    result = cli("merge", copies[0], copies[3])
    assert (result.code, "--force" in result.err) == (7, True)
    assert cli("merge", copies[0], copies[3], "--force").code == 0


def test_merging_all_needs_yes(cli: Cli, copies: Ids) -> None:
    """Without `--yes` the groups are shown, nothing is merged, and the exit code is 7."""
    events = cli("status", "--json").data["events"]
    result = cli("duplicates", "--merge")
    assert (result.code, result.out) == (7, cli("duplicates").out)
    assert "3 atoms would be merged into 2" in result.err
    assert "--yes" in result.err
    assert cli("status", "--json").data["events"] == events


def test_a_dry_run_merges_nothing(cli: Cli, copies: Ids) -> None:
    """`--dry-run` shows the merges and succeeds, also with `--yes`."""
    for options in (["--dry-run"], ["--dry-run", "--yes"]):
        result = cli("duplicates", "--merge", *options)
        assert (result.code, "3 atoms would be merged into 2" in result.err) == (0, True)
    assert live(cli) == copies


def test_all_groups_are_merged(cli: Cli, copies: Ids) -> None:
    """With `--yes` each group is merged into the atom to keep; JSON has the result of each."""
    data = cli("duplicates", "--merge", "--yes", "--json").data
    assert [group["merged"] for group in data] == [copies[1:3], copies[4:]]
    assert live(cli) == [copies[0], copies[3]]
    again = cli("duplicates", "--merge", "--yes")
    assert (again.code, again.out) == (0, "")


def test_only_the_group_that_was_asked_for_is_merged(cli: Cli, copies: Ids) -> None:
    """Only the groups selected by `--of` and `--limit` are merged."""
    cli("duplicates", "--of", copies[3], "--merge", "--yes")
    assert live(cli) == copies[:4]


def test_what_is_only_near_to_another_is_left(cli: Cli) -> None:
    """An atom that is not near the atom to keep itself is not merged."""
    ids = [cli("add", "--again", text).out.strip() for text in CHAIN]
    data = cli("duplicates", "--merge", "--yes", "--json").data
    assert [other["distance"] for other in data[0]["others"]] == [2, 4]
    assert data[0]["merged"] == [ids[1]]
    assert live(cli) == [ids[0], ids[2]]


def test_a_group_that_cannot_be_merged_does_not_stop_the_others(
    cli: Cli, copies: Ids, surroundings: Path
) -> None:
    """A failing merge is reported, others are done, and the exit code is 6."""
    with Engine.open(str(surroundings / "store")) as engine:
        for place, atom in enumerate(copies[:2]):
            engine.tag(atom, *(f"{place}-{number}" for number in range(200)))
    result = cli("duplicates", "--merge", "--yes", "--json")
    assert result.code == 6
    assert "more than 256 tags" in result.err
    assert result.envelope["error"]["message"] == "not merged: 1 of 2 groups"
    assert [group["merged"] for group in result.envelope["data"]] == [[], [copies[4]]]


@pytest.mark.parametrize("option", ["--yes", "--dry-run"])
def test_saying_how_to_merge_without_merging_is_a_usage_error(cli: Cli, copies: Ids, option: str) -> None:
    """`--yes` and `--dry-run` require `--merge`."""
    assert cli("duplicates", option).code == 2


def test_unmerging_what_was_tombstoned_is_a_conflict(cli: Cli, copies: Ids) -> None:
    """Unmerging another tombstone fails with exit code 6, its reason and a hint."""
    cli("tombstone", copies[0], "--reason", "stale")
    result = cli("unmerge", copies[0])
    assert (result.code, "stale" in result.err, "engine revive" in result.err) == (6, True, True)


def test_texts_that_share_one_frequent_word_are_no_group(cli: Cli) -> None:
    """Texts whose fingerprints are equal only because of one repeated word are not listed."""
    for start in (0, 50, 100):
        cli("add", "--again", " ".join(f"word{number}" for number in range(start, start + 50)))
    assert cli("duplicates", "--json").data == []
