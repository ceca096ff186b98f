"""`engine start`: what it finds on a machine, what it asks, and what it takes in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli.cli_output import Output
from engine.files.ingest.note_folders import note_folders
from tests.capture.samples import DECISION, claude_file
from tests.support.command_line import Cli


@pytest.fixture
def home(surroundings: Path) -> Path:
    """A home folder with a vault of Obsidian, a folder of notes, and a session of Claude Code."""
    home = Path.home()
    for folder in (".config/obsidian", "vault/inner/notes", "Documents/Notes", "notes"):
        (home / folder).mkdir(parents=True)
    vaults = {"a": {"path": str(home / "vault")}, "b": {"path": str(home / "gone")}, "c": 7, "d": {"path": 1}}
    (home / ".config/obsidian/obsidian.json").write_text(json.dumps({"vaults": vaults}))
    (home / "vault" / "boiler.md").write_text("Ms Okafor services the boiler.\n")
    (home / "Documents/Notes/todo.txt").write_text("Buy milk.\n")
    claude_file(home / ".claude" / "projects")
    return home


def test_notes_and_sessions_are_found(cli: Cli, home: Path) -> None:
    """Vaults, folders named for notes and sessions are listed if they are not empty; nothing is written."""
    found = cli("--json", "start").data
    assert [(one["what"], Path(one["where"]).name, one["number"]) for one in found] == [
        ("notes", "Notes", 1),
        ("notes", "vault", 1),
        ("claude-code", "projects", 1),
    ]
    assert cli("status").code == 3


def test_only_what_a_person_agrees_to_is_taken_in(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each place is asked about. A question is answered from what was taken in; `no` leaves a place alone."""
    monkeypatch.setattr(Output, "can_ask", True)
    answered = cli("start", stdin=b"n\nn\ny\nwhat is the retry limit?\n")
    assert answered.code == 0
    assert DECISION in answered.out
    assert cli("--json", "recall", "boiler milk").data["hits"] == []
    assert cli("start", "--yes").code == 0
    assert len(cli("--json", "recall", "boiler milk").data["hits"]) == 2


def test_nobody_is_asked_without_a_terminal(cli: Cli, home: Path) -> None:
    """Without a terminal nothing is taken in, and the message names the option."""
    told = cli("start")
    assert (told.code, "--yes" in told.err, cli("status").code) == (0, True, 3)
    assert cli("--json", "start", "--yes").code == 2


@pytest.mark.parametrize(
    "settings", ["", "[]", '{"vaults": []}', "[" * 100_000, '{"vaults": {"a": {"path": "a\\u0000"}}}']
)
def test_odd_settings_of_another_program_are_passed_over(home: Path, settings: str) -> None:
    """Settings that cannot be read name no folder."""
    (home / ".config/obsidian/obsidian.json").write_text(settings)
    assert [folder.name for folder in note_folders(home)] == ["Notes", "notes"]
