"""The commands on sealed stores: init, seal, unseal and key, and what they say of what is readable."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.sealed import seal as sealing
from engine.base.errors import RefusedError
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


@pytest.mark.parametrize(
    "words", ["init --sealed --store new", "seal --store open", "key rotate", "key change recovery"]
)
def test_a_recovery_phrase_is_printed_before_it_is_needed(
    cli: Cli, words: str, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that ends while it writes the new seal has printed the recovery phrase."""
    monkeypatch.setenv("ENGINE_NEW_KEY_COMMAND", "echo battery staple")
    cli("init", "--store", "open")
    cli("init", "--sealed")

    def refuse(*_: object, **__: object) -> None:
        raise RefusedError("the command ends here")

    for name in ("backends.sealed.sealed_backend._write_header", "engine.cli.sealed_commands.reseal"):
        monkeypatch.setattr(name, refuse)
    ended = cli(*words.split())
    assert ended.code == 7
    assert "recovery phrase" in ended.out


def test_a_recovery_phrase_opens_the_store_however_it_was_written_down(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Capitals, spaces and missing hyphens do not matter; a wrong letter does."""
    phrase = cli("init", "--sealed", "--json").data["recovery_phrase"]
    monkeypatch.delenv("ENGINE_KEY_FILE")
    for written, code in (
        (phrase.upper(), 0),
        (phrase.replace("-", ""), 0),
        (phrase.replace("-", " – "), 0),
        (phrase[1:] + phrase[0], 11),
    ):
        monkeypatch.setenv("ENGINE_KEY_COMMAND", f"echo '{written}'")
        assert cli("root").code == code


def test_a_key_that_cannot_be_had_is_explained(cli: Cli, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file or program and a failing one end with 11, and an empty passphrase with 2."""
    key.write_text("")
    assert (cli("init", "--sealed").code, cli("init", "--sealed").out) == (2, "")
    key.unlink()
    assert cli("init", "--sealed").code == 11
    monkeypatch.delenv("ENGINE_KEY_FILE")
    for line, why in (("false", "exit code 1"), ("no-such-program", "not found"), (" ", "not found")):
        monkeypatch.setenv("ENGINE_KEY_COMMAND", line)
        ended = cli("init", "--sealed")
        assert (ended.code, why in ended.err) == (11, True)


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
