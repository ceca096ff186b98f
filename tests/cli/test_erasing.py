"""`engine erase`: confirmation and report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import Cli

Pair = tuple[str, str]
TEXT = "The safe opens with 4711-Quillfeather."


@pytest.fixture(name="atom")
def _atom(cli: Cli) -> str:
    """Return the id of an atom to erase that has an edge."""
    first = cli("add", TEXT, "--tag", "secret", "--json").data["subject"]
    other = cli("add", "Something else.", "--json").data["subject"]
    cli("link", first, "references", other)
    return str(first)


def test_without_a_terminal_it_takes_yes(cli: Cli, atom: str) -> None:
    """Without a terminal or with --json, `erase` needs --yes: exit code 7, and nothing is erased."""
    for more in ((), ("--json",)):
        result = cli("erase", atom, "--reason", "asked for", *more)
        assert result.code == 7
    assert cli("get", atom, "--content").out.strip() == TEXT


def test_a_dry_run_says_what_would_go(cli: Cli, atom: str) -> None:
    """A dry run prints payloads, edges and contents, and does not change the root."""
    root = cli("root").out
    data = cli("erase", atom, "--reason", "asked for", "--dry-run", "--json").data
    assert (data["payloads"], data["edges"], data["contents"], data["dry_run"]) == (2, 1, 1, True)
    assert "would erase" in cli("erase", atom, "--reason", "asked for", "--dry-run").out
    assert cli("root").out == root


def test_it_destroys_and_says_so(cli: Cli, atom: str, surroundings: Path) -> None:
    """The receipt lists what was destroyed, the verdict, and what is out of reach; no file has the text."""
    data = cli("erase", atom, "--reason", "asked for", "--yes", "--json").data
    assert (data["payloads"], data["edges"], data["contents"], data["purged"]) == (2, 1, 1, True)
    assert data["probe"]["verdict"] == "confirmed"
    assert data["probe"]["before"]["files"]
    assert data["probe"]["after"] == {"files": [], "answers": []}
    assert data["out_of_reach"]
    files = [path for path in surroundings.rglob("*") if path.is_file()]
    assert [path for path in files if b"Quillfeather" in path.read_bytes()] == []
    assert cli("verify-root").code == 0


def test_what_is_erased_is_shown_as_such(cli: Cli, atom: str) -> None:
    """`get` shows the state and reason, `history` marks destroyed payloads, `find` omits the atom."""
    out = cli("erase", atom, "--reason", "asked for", "--yes").out
    assert "not reached" in out
    shown = cli("get", atom)
    assert "erased" in shown.out
    assert "asked for" in shown.out
    assert cli("get", atom, "--json").data["state"] == "erased"
    assert "destroyed" in cli("history", atom).out
    assert atom not in cli("find").out
    again = cli("erase", atom, "--reason", "again", "--yes", "--json")
    assert (again.code, again.data["changed"]) == (0, False)


def test_adding_it_again_is_refused_until_forced(cli: Cli, atom: str) -> None:
    """Adding erased content is exit code 7 with a hint; --force adds it."""
    cli("erase", atom, "--reason", "asked for", "--yes")
    result = cli("add", TEXT, "--json")
    assert result.code == 7
    assert "--force" in result.envelope["error"]["hint"]
    assert cli("revive", atom).code == 7
    assert cli("add", TEXT, "--force", "--json").data["changed"] is True
    assert cli("get", atom, "--content").out.strip() == TEXT


def test_checkpoints_of_before_are_named_in_a_verification(cli: Cli, atom: str) -> None:
    """`verify-root` succeeds and names the checkpoints that an erasure made partly uncheckable."""
    cli("checkpoint")
    cli("erase", atom, "--reason", "asked for", "--yes", "--forget", "--no-probe")
    result = cli("verify-root")
    assert result.code == 0
    assert "tags and index cannot be checked (erasure at event" in result.out
    assert len(cli("verify-root", "--json").data["unchecked"]) == 1
