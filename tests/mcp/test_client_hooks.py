"""Hooks are added to the configuration of a client, and removed again."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError
from engine.capture.hook_events import EVENTS
from engine.mcp.client_config_edit import elements_at, with_element, without_elements
from engine.mcp.client_hooks import FILES, add_hooks, has_server, hooks_in, remove_hooks
from engine.mcp.client_install import CLIENTS, install
from tests.mcp.test_client_config_edit_json import CASES, value_of

COMMAND = "/usr/bin/python3 -P /lib/hook_process.py claude-code leveldb:/home/kim/notes"
FOREIGN = """\
{
  // My hooks.
  "hooks": {
    "Stop": [
      // The bell.
      {"hooks": [{"type": "command", "command": "bell"}]}, // keep
    ],
  },
  "model": "opus"
}
"""


@pytest.mark.parametrize("client", FILES)
@pytest.mark.parametrize("text", [None, FOREIGN, *(text for text, _ in CASES.values())])
def test_removing_hooks_restores_the_file(tmp_path: Path, client: str, text: str | None) -> None:
    """After hooks were added and removed, the folder is byte for byte what it was, and twice adds nothing."""
    file = tmp_path / "settings.json"
    if text is not None:
        file.write_bytes(text.encode())
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    assert not add_hooks(client, file, COMMAND, dry_run=True).backup
    assert before == {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    assert add_hooks(client, file, COMMAND).changed
    assert hooks_in(client, file).events == tuple(EVENTS[client])
    assert hooks_in(client, file).command == COMMAND
    assert not add_hooks(client, file, COMMAND).changed
    assert remove_hooks(client, file).changed
    assert before == {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    assert not remove_hooks(client, file).changed


def test_foreign_hooks_and_comments_stay(tmp_path: Path) -> None:
    """Only the program's own entries are added and removed, also if the file was edited in between."""
    file = tmp_path / "settings.json"
    file.write_text(FOREIGN)
    add_hooks("claude-code", file, COMMAND)
    added = file.read_text()
    assert all(line in added for line in FOREIGN.splitlines() if "//" in line)
    file.write_text(added.replace('"opus"', '"haiku"'))
    remove_hooks("claude-code", file)
    left = file.read_text()
    assert value_of(left) == value_of(FOREIGN.replace('"opus"', '"haiku"'))
    assert "// The bell." in left


@pytest.mark.parametrize("client", FILES)
def test_a_server_of_the_program_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    """The entry that `engine mcp install` adds counts as a server; others and broken files do not."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    one = CLIENTS[client]
    one.user_file().parent.mkdir(exist_ok=True)
    install(one, one.user_file(), "other", one.entry(["/bin/engine", "serve"], {}), replace=False)
    assert not has_server(client)
    one.project_file().parent.mkdir(exist_ok=True)
    one.project_file().write_text("{")
    install(one, one.user_file(), "memory", one.entry(["/bin/engine", "mcp"], {}), replace=False)
    assert has_server(client)


def test_a_malformed_file_is_named(tmp_path: Path) -> None:
    """The message has the path of the file, and the hint does not offer what hooks do not have."""
    (file := tmp_path / "settings.json").write_text("{broken")
    for attempt in (hooks_in, partial(add_hooks, command=COMMAND), remove_hooks):
        with pytest.raises(InvalidInputError, match=r"settings.json: line 1.*not JSON") as caught:
            attempt("claude-code", file)
        assert caught.value.hint == "repair the file"


def test_a_new_command_replaces_the_old_one(tmp_path: Path) -> None:
    """Adding hooks for another store leaves one hook for each event."""
    file = tmp_path / "settings.json"
    add_hooks("claude-code", file, COMMAND)
    add_hooks("claude-code", file, COMMAND + "2")
    assert hooks_in("claude-code", file).command == COMMAND + "2"
    assert file.read_text().count("hook_process.py") == len(EVENTS["claude-code"])


@given(st.lists(st.integers(0, 3), max_size=5), st.integers(0, 3), st.booleans())
def test_elements_are_added_and_removed(numbers: list[int], one: int, spaced: bool) -> None:
    """An array has the elements that were added, without those that were removed."""
    text = json.dumps({"a": {"b": numbers}, "c": 1}, indent=2 if spaced else None)
    added = with_element(text, ["a", "b"], one)
    assert elements_at(added, ["a", "b"]) == [*numbers, one]
    left = without_elements(added, ["a", "b"], lambda value: value == one)
    kept = [number for number in numbers if number != one]
    assert json.loads(left) == ({"a": {"b": kept}, "c": 1} if kept else {"c": 1})


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', "[1]", '{"hooks": '])
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    """If hooks cannot be where they belong, the file stays as it is."""
    file = tmp_path / "settings.json"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=r"settings\.json"):
        add_hooks("claude-code", file, COMMAND)
    assert file.read_text() == text
