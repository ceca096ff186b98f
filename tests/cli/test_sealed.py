"""The commands on sealed stores: init, seal, unseal and key, and what they say of what is readable."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.sealed import seal as sealing
from engine.cli.mcp_command import environment
from tests.support.command_line import Cli

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def key(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with the passphrase; new headers cost nothing."""
    monkeypatch.setattr(sealing, "COST", sealing.Cost(1, 1, 8))
    file = surroundings / "key"
    file.write_text("correct horse\n")
    monkeypatch.setenv("ENGINE_KEY_FILE", str(file))
    return file


def readable(folder: Path) -> bool:
    """Whether a file below the folder has the text."""
    return any(b"quokka" in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_store_is_sealed_used_and_unsealed(
    cli: Cli, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealing and unsealing keep the root; without the key the exit code is 11; the recovery phrase opens."""
    cli("add", "the quokka eats")
    root = cli("root").out
    assert readable(surroundings)
    phrase = cli("seal", "--json").data["recovery_phrase"]
    assert not readable(surroundings)
    assert cli("root").out == root
    assert cli("status", "--json").data["sealed"]
    monkeypatch.delenv("ENGINE_KEY_FILE")
    locked = cli("recall", "quokka", "--json")
    assert (locked.code, locked.envelope["error"]["code"]) == (11, "locked")
    assert cli("unseal").code == 11
    monkeypatch.setenv("ENGINE_KEY_COMMAND", f"echo {phrase}")
    assert cli("verify-root").code == 0
    assert cli("unseal").code == 0
    assert cli("root").out == root
    assert readable(surroundings)


def test_a_new_store_is_sealed_before_its_first_text(cli: Cli, surroundings: Path) -> None:
    """`init --sealed` makes a sealed store, says so if there is one, and refuses an open one."""
    assert cli("init", "--sealed", "--json").data["created"]
    assert not cli("init", "--sealed", "--json").data["created"]
    cli("add", "the quokka eats")
    assert not readable(surroundings)
    assert cli("init", "--store", "open").code == 0
    assert cli("init", "--sealed", "--store", "open").code == 7


def test_slots_are_added_changed_removed_and_the_key_rotated(
    cli: Cli, key: Path, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new secret opens the store and the earlier one does not; a rotation leaves two slots."""
    (surroundings / "new").write_text("battery staple")
    cli("init", "--sealed")
    assert cli("key", "add", "anna").code == 11
    monkeypatch.setenv("ENGINE_NEW_KEY_FILE", str(surroundings / "new"))
    assert cli("key", "add", "anna", "--json").data["slots"] == ["passphrase", "recovery", "anna"]
    assert cli("key", "add", "anna").code == 2
    assert cli("key", "change").code == 0
    assert cli("status").code == 11
    key.write_text("battery staple")
    first = cli("key", "list", "--json").data
    assert cli("key", "remove", "anna", "--json").data["slots"] == ["passphrase", "recovery"]
    assert cli("key", "change", "recovery", "--json").data["recovery_phrase"]
    rotated = cli("key", "rotate", "--json").data
    assert rotated["key_id"] != first["key_id"]
    assert rotated["slots"] == ["passphrase", "recovery"]
    assert cli("verify-root").code == 0


def test_what_leaves_a_sealed_store_says_whether_it_is_readable(cli: Cli, surroundings: Path) -> None:
    """A copy and a sealed backup have no text; an export and a backup have it, and say so."""
    cli("init", "--sealed")
    cli("add", "the quokka eats")
    assert "not sealed" not in cli("copy", "store", "copy").err + cli("backup", "one", "--sealed").err
    assert not readable(surroundings)
    for words in (("backup", "two"), ("export", "three"), ("export", "-")):
        assert "not sealed: everybody who can read it" in cli(*words).err
    assert cli("backup", "four", "--sealed", "--store", "copy").code == 0
    assert cli("init", "--store", "open").code == 0
    assert cli("backup", "five", "--sealed", "--store", "open").code == 2


def test_an_entry_of_a_client_names_where_the_key_comes_from(key: Path) -> None:
    """The entry of an MCP client has the file of the key, and never the key."""
    assert environment("leveldb:store")["ENGINE_KEY_FILE"] == str(key)
