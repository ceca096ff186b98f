"""The command `mirror`, and the mirror named in the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.base.errors import InvalidInputError
from engine.files.mirror.mirror_place import MANIFEST
from engine.memory.memory_settings import find_mirror
from tests.files.mirror.parsing import tree
from tests.support.command_line import Cli


def test_mirror_and_check(cli: Cli, pair: tuple[str, str], surroundings: Path) -> None:
    """`mirror` makes a mirror, and `mirror check` gives exit code 4 once it is stale."""
    made = cli("mirror", "shown", "--json").data
    assert (made["atoms"], made["changed"], made["style"]) == (2, True, "plain")
    assert cli("mirror", "check", "shown", "--json").data["ok"] is True
    cli("add", "More.")
    stale = cli("mirror", "check", "shown", "--json")
    assert (stale.code, stale.envelope["error"]["code"]) == (4, "verification_failed")
    assert [finding["verdict"] for finding in stale.envelope["data"]["findings"]] == ["stale"]
    assert "1 event behind" in cli("mirror", "check", "shown").out


def test_mirror_refuses(cli: Cli, pair: tuple[str, str], surroundings: Path) -> None:
    """A folder with other files, and the folder that contains the store, give exit code 7."""
    (surroundings / "full").mkdir()
    (surroundings / "full" / "precious").write_text("x")
    assert [cli("mirror", name).code for name in ("full", ".", "store", "store/in", "/")] == [7] * 5
    assert tree(surroundings / "full") == {"precious": b"x"}


@pytest.mark.parametrize(
    "args",
    [
        ["make", "shown"],
        ["check", "shown", "--style", "plain"],
        ["check", "shown", "--dry-run"],
        ["shown", "--style", "html"],
        [],
        ["check"],
    ],
)
def test_wrong_words_are_input_errors(
    cli: Cli, pair: tuple[str, str], surroundings: Path, args: list[str]
) -> None:
    """Wrong arguments give exit code 2, and no folder is created."""
    assert cli("mirror", *args).code == 2
    assert not (surroundings / "shown").exists()


def test_a_dry_run_of_the_command(cli: Cli, pair: tuple[str, str], surroundings: Path) -> None:
    """A dry run reports counts and writes nothing."""
    assert cli("mirror", "shown", "--dry-run", "--json").data["written"] == 3
    assert not (surroundings / "shown").exists()


@pytest.fixture
def configured(surroundings: Path) -> Path:
    """Return a project whose settings name a store and its mirror, and a folder of notes."""
    (surroundings / ".engine.toml").write_text('store = "mine"\nmirror = "shown"\n')
    (surroundings / "notes").mkdir()
    (surroundings / "notes" / "tea.md").write_text("# Tea\n\nGreen tea at 80 degrees.\n")
    return surroundings


def test_ingest_brings_the_mirror_up_to_date(bare: Cli, configured: Path) -> None:
    """Ingest updates the mirror in the settings, unless it is a dry run."""
    assert bare("ingest", "notes", "--dry-run").code == 0
    assert not (configured / "shown").exists()
    assert bare("ingest", "notes").code == 0
    assert bare("mirror", "check", "--json").data["ok"] is True
    assert b"Green tea" in b"".join(tree(configured / "shown").values())
    assert bare("mirror", "--json").data["changed"] is False


def test_another_store_is_not_mirrored_there(bare: Cli, configured: Path) -> None:
    """With --store or ENGINE_STORE, the mirror in the settings is not written."""
    assert bare("--store", "other", "ingest", "notes").code == 0
    assert not (configured / "shown").exists()
    assert find_mirror("other") is None


def test_doctor_shows_the_mirror(bare: Cli, configured: Path) -> None:
    """`doctor` shows the folder of the mirror, or that there is none."""
    assert bare("doctor", "--json").data["mirror"] == str(configured / "shown")
    assert bare("--store", "other", "doctor", "--json").data["mirror"] is None


@pytest.mark.parametrize(
    "text",
    ['mirror = "x"', 'store = "a"\nmirror = ""', 'store = "a"\nmirror = 3', 'store = "a"\nmiror = "x"'],
)
def test_a_setting_of_the_mirror_with_a_mistake(surroundings: Path, text: str) -> None:
    """A misspelled setting of the mirror is an error that names the known settings."""
    (surroundings / ".engine.toml").write_text(text)
    with pytest.raises(InvalidInputError, match="mirror"):
        find_mirror(None)


def test_the_manifest_is_hidden(cli: Cli, pair: tuple[str, str], surroundings: Path) -> None:
    """A mirror contains only the folders of buckets and the manifest."""
    cli("mirror", "shown")
    assert {path.name for path in (surroundings / "shown").iterdir()} == {MANIFEST, "@inbox"}
