"""The commands that move stores: output, exit codes, and pipes between commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.exchange.other_programs.test_chat_exports import BRANCHED
from tests.support.command_line import Cli


def test_an_export_goes_through_a_pipe(cli: Cli, pair: tuple[str, str], surroundings: Path) -> None:
    """An export through a pipe gives the same root and the same bytes as one through a file."""
    text = cli("--quiet", "export", "-").out
    assert cli("export", "notes.jsonl").code == 0
    assert (surroundings / "notes.jsonl").read_text("utf-8") == text
    made = cli("import", "journal", "-", "--store", "sqlite:new.db", "--json", stdin=text.encode())
    assert (made.data["created"], made.data["root"]) == (True, cli("root").out.strip())
    assert cli("verify-root", "--store", "sqlite:new.db").code == 0


def test_a_damaged_line_is_exit_4(cli: Cli, pair: tuple[str, str], surroundings: Path) -> None:
    """A damaged line gives exit code 4, is named, and no store is created."""
    cli("backup", "b")
    raw = (surroundings / "b").read_text("utf-8")
    (surroundings / "b").write_text(raw.replace("Mondays", "Fridays"), "utf-8")
    for args in (["verify-backup", "b"], ["import", "journal", "b", "--store", "sqlite:new.db"]):
        result = cli(*args, "--json")
        assert (result.code, result.envelope["error"]["code"]) == (4, "corrupt")
        assert "b line 3: " in result.err
    assert not (surroundings / "new.db").exists()
    dry = cli("import", "journal", "b", "--dry-run")
    assert dry.code == 4


def test_a_backup_of_another_store_is_exit_9(cli: Cli, pair: tuple[str, str]) -> None:
    """A backup over one of another store, or over a longer one, gives exit code 9 and keeps it."""
    cli("backup", "b")
    cli("init", "--store", "sqlite:other.db")
    assert cli("backup", "b", "--store", "sqlite:other.db").code == 9
    cli("import", "journal", "b", "--store", "sqlite:old.db")
    cli("add", "More.")
    assert cli("backup", "b").code == 0
    assert cli("backup", "b", "--store", "sqlite:old.db").code == 9
    assert cli("import", "journal", "b", "--store", "sqlite:old.db").code == 0
    assert cli("root").out == cli("root", "--store", "sqlite:old.db").out


def test_a_backup_is_checked_against_roots_and_checkpoints(cli: Cli, surroundings: Path) -> None:
    """`verify-backup` checks the expected root and checkpoint, and keeps both files if they differ."""
    cli("add", "a")
    note = cli("-q", "checkpoint").out
    (surroundings / "n").write_text(note)
    cli("backup", "b")
    assert cli("verify-backup", "b", "--expect", cli("root").out.strip(), "--checkpoint", "n").code == 0
    assert cli("verify-backup", "b", "--expect", "0" * 64).code == 4
    assert cli("verify-backup", "b", "--expect", "x").code == 2
    cli("add", "x", "--store", "sqlite:other.db")
    cli("backup", "c", "--store", "sqlite:other.db")
    assert cli("verify-backup", "c", "--checkpoint", "n").code == 9
    assert list(surroundings.glob("n.evidence*"))


def test_an_import_with_bad_items_is_exit_8(cli: Cli, surroundings: Path) -> None:
    """An import with invalid items gives exit code 8, lists them and imports the others."""
    (surroundings / "c.json").write_text(json.dumps([BRANCHED, 7]))
    dry = cli("import", "chatgpt", "c.json", "--dry-run", "--json")
    assert (dry.code, dry.envelope["data"]["added"]) == (8, 4)
    assert not (surroundings / "store").exists()
    result = cli("import", "chatgpt", "c.json", "--bucket", "talks", "--provenance", "quarantine")
    assert result.code == 8
    assert "skipped c.json:2: " in result.err
    assert "1 skipped; the rest was imported" in result.err
    found = cli("find", "--bucket", "talks", "--json").data
    assert len(found) == 4


def test_an_import_that_took_nothing_in_says_so(cli: Cli, surroundings: Path) -> None:
    """An import or ingest that adds nothing says so."""
    (surroundings / "c.json").write_text("[7]")
    (surroundings / "m.jsonl").write_text("7\n")
    for args in (["import", "chatgpt", "c.json"], ["import", "mcp-memory", "m.jsonl"], ["ingest", "m.jsonl"]):
        result = cli(*args)
        assert result.code == 8
        assert "1 skipped; nothing was imported" in result.err


@pytest.mark.parametrize(
    "args",
    [
        ["export", "x", "--format", "nothing"],
        ["export", "-", "--json"],
        ["export", "-", "--format", "basic-memory"],
        ["import", "nothing", "x"],
        ["import", "journal", "x", "--provenance", "internal"],
        ["import", "journal", "x", "--bucket", "a"],
        ["import", "mem0", "made.json", "--provenance", "x"],
        ["import", "mem0", "made.txt"],
    ],
    ids=" ".join,
)
def test_wrong_uses_are_exit_2(cli: Cli, pair: tuple[str, str], surroundings: Path, args: list[str]) -> None:
    """Wrong usage gives exit code 2 before anything is written."""
    (surroundings / "made.json").write_text("[]")
    (surroundings / "made.txt").write_text("text")
    before = cli("root").out
    assert cli(*args).code == 2
    assert cli("root").out == before
    assert not (surroundings / "x").exists()


def test_a_bad_file_leaves_no_store_behind(cli: Cli, surroundings: Path) -> None:
    """A bad file creates no store."""
    (surroundings / "made.txt").write_text("text")
    for form in ("chatgpt", "mem0", "journal"):
        assert cli("import", form, "made.txt").code in {2, 4}
        assert cli("import", form, "missing").code == 3
    assert not (surroundings / "store").exists()


@pytest.mark.parametrize("form", ["mem0", "mcp-memory"])
def test_other_formats_go_to_stdout_too(
    cli: Cli, pair: tuple[str, str], surroundings: Path, form: str
) -> None:
    """Other formats can be written to stdout, and omitted things are reported on stderr."""
    result = cli("export", "-", "--format", form)
    assert cli("export", "out", "--format", form).code == 0
    assert (surroundings / "out").read_text("utf-8") == result.out
    if form == "mcp-memory":
        assert "not exported: 2 atoms of kind note" in result.err


def test_nothing_is_written_over(cli: Cli, pair: tuple[str, str], surroundings: Path) -> None:
    """An export over an existing file is refused in all formats."""
    (surroundings / "out").write_text("mine")
    for form in ("journal", "mem0", "mcp-memory", "basic-memory"):
        assert cli("export", "out", "--format", form).code == 7
    assert cli("backup", "out").code == 7
    assert (surroundings / "out").read_text() == "mine"
