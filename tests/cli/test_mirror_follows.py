"""Commands that write update the mirror that the settings name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.files.mirror.mirror_place import place_at
from tests.support.command_line import Cli


@pytest.fixture
def mirrored(bare: Cli, surroundings: Path) -> Path:
    """Return a folder whose settings name a store and its mirror."""
    (surroundings / ".engine.toml").write_text('store = "memory"\nmirror = "shown"\n')
    return surroundings


def shown(folder: Path) -> str:
    """Return the text of all pages of the mirror."""
    return "\n".join(page.read_text(encoding="utf-8") for page in sorted((folder / "shown").rglob("*.md")))


def test_it_comes_along_with_an_import(bare: Cli, mirrored: Path) -> None:
    """`import` updates the mirror."""
    item = {"id": "1", "memory": "Ms Okafor services the boiler."}
    (mirrored / "mem0.json").write_text(json.dumps({"results": [item]}))
    assert bare("import", "mem0", "mem0.json").code == 0
    assert "Ms Okafor services the boiler." in shown(mirrored)


def test_it_comes_along_with_a_dream(bare: Cli, mirrored: Path) -> None:
    """`dream` updates the mirror even if it adds nothing itself."""
    bare("add", "The kettle is descaled on Mondays.")
    assert bare("dream").code == 0
    assert "The kettle is descaled on Mondays." in shown(mirrored)


def test_what_is_erased_goes_from_it(bare: Cli, mirrored: Path) -> None:
    """After `erase`, no page has the erased text."""
    atom = bare("add", "The combination is seventeen left.").out.strip()
    bare("dream")
    assert "seventeen left" in shown(mirrored)
    assert bare("erase", atom, "--reason", "not ours", "--yes").code == 0
    assert "seventeen left" not in shown(mirrored)


WRITES = {
    "add": ["add", "More."],
    "revise": ["revise", "ID", "Changed."],
    "tag": ["tag", "ID", "kitchen"],
    "forget": ["tombstone", "ID"],
    "relate": ["relate", "Ann", "knows", "Bob"],
    "checkpoint": ["checkpoint"],
    "revert": ["revert", "1"],
}


@pytest.mark.parametrize("what", WRITES)
def test_it_follows_every_command_that_writes(bare: Cli, mirrored: Path, what: str) -> None:
    """After a command that appends events, the mirror shows the present state."""
    atom = bare("add", "The kettle is descaled on Mondays.").out.strip()
    size = bare("status", "--json").data["events"]
    assert bare(*[atom if word == "ID" else word for word in WRITES[what]]).code == 0
    assert bare("status", "--json").data["events"] > size
    assert bare("mirror", "check", "--json").data["ok"] is True


@pytest.mark.parametrize("command", [["add", "The kettle."], ["ingest", "notes"]], ids=["add", "ingest"])
def test_a_mirror_that_cannot_be_written_is_noted(bare: Cli, mirrored: Path, command: list[str]) -> None:
    """If the mirror cannot be written, the command succeeds, and a note gives the reason."""
    (mirrored / "shown").mkdir()
    (mirrored / "shown" / "precious").write_text("x")
    (mirrored / "notes").mkdir()
    (mirrored / "notes" / "a.md").write_text("The kettle.")
    done = bare(*command)
    assert (done.code, "the store is written" in done.err, "not a mirror" in done.err) == (0, True, True)
    assert bare("recall", "kettle", "--json").data["hits"] != []
    assert (mirrored / "shown" / "precious").read_text() == "x"


def test_status_says_how_far_the_mirror_is_behind(bare: Cli, mirrored: Path) -> None:
    """A mirror that another process writes is left, and `status` counts the events until the next write."""
    bare("add", "One.")
    with place_at(mirrored / "shown", lock=True):
        late = bare("--wait", "0.1", "add", "Two.")
    assert (late.code, "the store is written" in late.err) == (0, True)
    assert bare("status", "--json").data["mirror"] == {"folder": str(mirrored / "shown"), "behind": 1}
    assert "shown, 1 event behind" in bare("status").out
    assert bare("add", "Three.").code == 0
    assert bare("status", "--json").data["mirror"]["behind"] == 0


def test_an_edit_in_a_page_is_taken_by_the_next_command(bare: Cli, mirrored: Path) -> None:
    """A command that writes applies the edits in the pages, and says so."""
    atom = bare("add", "The kettle is descaled on Mondays.").out.strip()
    page = next((mirrored / "shown").rglob("*.md"))
    page.write_text(page.read_text().replace("on Mondays.\n", "on Fridays.\n"))
    done = bare("add", "More.")
    assert "1 edited text applied from the mirror" in done.err
    assert bare("get", atom, "--content").out == "The kettle is descaled on Fridays."


def test_a_command_that_only_reads_leaves_it_alone(bare: Cli, mirrored: Path) -> None:
    """A command without events does not touch an edited page."""
    bare("add", "The kettle is descaled on Mondays.")
    page = next((mirrored / "shown").rglob("*.md"))
    page.write_text("mine")
    assert bare("recall", "kettle").code == 0
    assert bare("add", "The kettle is descaled on Mondays.").code == 0
    assert page.read_text() == "mine"


def test_it_comes_along_with_an_imported_journal(bare: Cli, mirrored: Path) -> None:
    """`import journal` updates the mirror."""
    bare("add", "The kettle is descaled on Mondays.", "--store", "other")
    assert bare("export", "journal.jsonl", "--store", "other").code == 0
    assert bare("import", "journal", "journal.jsonl").code == 0
    assert "The kettle is descaled on Mondays." in shown(mirrored)
