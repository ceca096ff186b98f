"""The commands `duplicates`, `merge` and `unmerge`."""

from __future__ import annotations

import pytest

from tests.index.copies.support import KETTLE, TRAIN, copy_of
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
