"""`engine mcp install` adds the server to the configuration of a client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.base.errors import ConflictError, InvalidInputError
from engine.mcp.client_config_edit import with_member
from engine.mcp.client_install import CLIENTS, Client, client_of, install, program, snippet
from tests.mcp.support import INITIALIZE, environment
from tests.support.command_line import Cli
from tests.support.pages import parse

COMMENT = "// kept\n"


@pytest.fixture
def home(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder without any configuration, which is also the current folder."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(surroundings))
    monkeypatch.setattr(sys, "platform", "linux")
    return surroundings


def entry_in(client: Client, text: str, name: str = "memory") -> Any:
    """Return the entry of the server in the text of a configuration file."""
    return (tomllib.loads if client.is_toml else json.loads)(text)[client.key][name]


@pytest.mark.parametrize("name", CLIENTS)
def test_every_client_gets_an_entry_that_starts_the_server(bare: Cli, home: Path, name: str) -> None:
    """The command and the store have full paths, and the options are those that the user gave."""
    result = bare("mcp", "install", name, "--store", "notes", "--read-only", "--secrets", "off", "--json")
    assert result.code == 0
    entry = entry_in(CLIENTS[name], Path(result.data["file"]).read_text())
    assert entry == result.data["entry"]
    assert Path(entry["command"]).is_absolute()
    assert entry["env"] == {"ENGINE_STORE": f"leveldb:{home / 'notes'}"} or "sqlite" in str(entry["env"])
    assert entry["args"][-4:] == ["mcp", "--read-only", "--secrets", "off"]
    parse(entry["args"][entry["args"].index("mcp") :])
    assert Path(result.data["file"]).is_relative_to(home)


@pytest.mark.parametrize("name", CLIENTS)
def test_what_is_printed_is_what_would_be_written(bare: Cli, home: Path, name: str) -> None:
    """With --print, nothing is written, and stdout has only the text to paste."""
    printed = bare("mcp", "install", name, "--print", "--name", "tea")
    assert not any(home.rglob("*.json")) | any(home.rglob("*.toml"))
    result = bare("mcp", "install", name, "--name", "tea", "--json")
    client = CLIENTS[name]
    assert printed.out.rstrip("\n") == snippet(client, "tea", result.data["entry"])
    assert entry_in(client, printed.out, "tea") == result.data["entry"]


def test_the_entry_really_starts_the_server(bare: Cli, home: Path, tmp_path: Path) -> None:
    """A client that starts the command in another folder gets answers from the store in the entry."""
    bare("--store", "notes", "add", "The kettle is descaled on Mondays.")
    entry = bare("mcp", "install", "cursor", "--store", "notes", "--json").data["entry"]
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input=json.dumps(INITIALIZE) + "\n",
        check=False,
        env=environment(**entry["env"]),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "memroot"


def test_a_project_has_a_file_of_its_own(bare: Cli, home: Path) -> None:
    """With --project, the file is in the current folder; a client without such a file is refused."""
    for name in ("claude-code", "cursor", "vs-code", "codex", "gemini-cli", "zed"):
        assert bare("mcp", "install", name, "--project").code == 0
    found = {str(file.relative_to(home)) for file in home.rglob("*") if file.is_file()}
    assert found == {
        ".mcp.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".zed/settings.json",
    }
    assert bare("mcp", "install", "windsurf", "--project").code == 2


def test_the_rest_of_the_file_and_its_mode_are_kept(bare: Cli, home: Path) -> None:
    """Comments and other entries stay, the backup equals the old file, and a link stays a link."""
    real = home / "dotfiles.json"
    real.write_text(COMMENT + '{\n  "servers": {"git": {}}, // git\n}\n')
    real.chmod(0o640)
    place = home / ".config" / "Code" / "User" / "mcp.json"
    place.parent.mkdir(parents=True)
    place.symlink_to(real)
    before = real.read_text()
    result = bare("mcp", "install", "VS Code", "--json")
    after = real.read_text()
    assert place.is_symlink()
    assert (real.stat().st_mode & 0o777) == 0o640
    assert after.startswith(COMMENT)
    assert '"git": {}' in after
    assert "// git" in after
    assert Path(result.data["backup"]).read_text() == before
    assert Path(result.data["backup"]).stat().st_mode & 0o077 == 0


def test_the_same_entry_again_changes_nothing(bare: Cli, home: Path) -> None:
    """The second call writes neither the file nor a backup."""
    first = bare("mcp", "install", "codex", "--json").data
    again = bare("mcp", "install", "codex", "--json").data
    assert (first["changed"], again["changed"], again["backup"]) == (True, False, None)
    assert [file.name for file in (home / ".codex").iterdir()] == ["config.toml"]


def test_another_entry_is_not_overwritten_unless_asked(bare: Cli, home: Path) -> None:
    """A different server with this name is a conflict; each replacement makes a new backup."""
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"memory": {"command": "npx"}}}')
    refused = bare("mcp", "install", "cursor")
    assert (refused.code, file.read_text()) == (6, '{"mcpServers": {"memory": {"command": "npx"}}}')
    assert "--replace" in refused.err
    assert bare("mcp", "install", "cursor", "--name", "notes").err.startswith("added")
    assert bare("mcp", "install", "cursor", "--replace").err.startswith("replaced")
    assert list(json.loads(file.read_text())["mcpServers"]) == ["memory", "notes"]
    assert {one.name for one in file.parent.iterdir()} == {"mcp.json", "mcp.json.bak", "mcp.json.bak2"}


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("cursor", ".cursor/mcp.json", b'{\n  "mcpServers": {,}\n}'),
        ("cursor", ".cursor/mcp.json", b"\xff{}"),
        ("zed", ".config/zed/settings.json", b'{"context_servers": []}'),
        ("codex", ".codex/config.toml", b"[a\nb = 1"),
        ("codex", ".codex/config.toml", b'mcp_servers = { git = { command = "git" } }'),
    ],
)
def test_a_malformed_file_is_left_alone(bare: Cli, home: Path, name: str, file: str, content: bytes) -> None:
    """The error names the file and what to do, and nothing is written."""
    place = home / file
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    result = bare("mcp", "install", name)
    assert result.code in {2, 7}
    assert str(place) in result.err
    assert "hint: " in result.err
    assert (place.read_bytes(), list(place.parent.iterdir())) == (content, [place])


def test_a_fifo_is_refused_and_not_waited_for(bare: Cli, home: Path) -> None:
    """Where the file of a client is a FIFO, nothing waits for a program that writes to it."""
    file = CLIENTS["cursor"].user_file()
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    result = bare("mcp", "install", "cursor")
    assert (result.code, "is not a regular file" in result.err, file.is_fifo()) == (2, True, True)


def test_a_change_by_the_client_meanwhile_is_not_lost(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the client writes the file after it was read, nothing is replaced."""
    file = home / "mcp.json"
    file.write_text("{}")

    def slow(*given: Any, **more: Any) -> str:
        file.write_text('{"mine": 1}')
        return with_member(*given, **more)

    monkeypatch.setattr("engine.mcp.client_install.with_member", slow)
    with pytest.raises(ConflictError, match="changed by another program"):
        install(CLIENTS["cursor"], file, "memory", {"command": "x"}, replace=False)
    assert file.read_text() == '{"mine": 1}'


@pytest.mark.parametrize(
    "given",
    [
        ("install",),
        ("install", "emacs"),
        ("install", "c"),
        ("remove", "cursor"),
        ("install", "cursor", "--name", "a b"),
        ("install", "cursor", "--name", ""),
        ("install", "cursor", "--store", "memory:"),
        ("install", "cursor", "--profile", "mine"),
        ("install", "cursor", "--secrets", "maybe"),
        ("--print",),
        ("--name", "tea"),
    ],
)
def test_what_makes_no_sense_is_refused(bare: Cli, home: Path, given: tuple[str, ...]) -> None:
    """Bad arguments are a usage error, and nothing is written."""
    assert bare("mcp", *given).code == 2
    assert not [file for file in home.rglob("*") if file.is_file()]


@pytest.mark.parametrize(
    ("given", "title"),
    [("vscode", "VS Code"), ("VS Code", "VS Code"), ("gemini", "Gemini CLI"), ("claude_code", "Claude Code")],
)
def test_a_client_is_found_by_the_name_that_people_type(given: str, title: str) -> None:
    """Case, spaces and hyphens do not matter, and the beginning of a name is enough if it is unambiguous."""
    assert client_of(given).title == title
    with pytest.raises(InvalidInputError):
        client_of("claude")


@pytest.mark.parametrize(
    ("invoked", "origin", "expected"),
    [
        ("bin/engine", None, ["bin/engine"]),
        (".cache/uv/archive-v0/x1/bin/memroot", None, ["uvx", "memroot"]),
        (".cache/uv/archive-v0/x1/bin/memroot", "file:///a%20b", ["uvx", "--from", "/a b", "memroot"]),
        (".local/pipx/.cache/x1/bin/memroot", None, ["pipx", "run", "memroot"]),
        (
            ".local/pipx/.cache/x1/bin/memroot",
            "https://a.example/b.whl",
            ["pipx", "run", "--spec", "https://a.example/b.whl", "memroot"],
        ),
        (".local/pipx/venvs/memroot/bin/engine", None, [".local/pipx/venvs/memroot/bin/engine"]),
        ("bin/pytest", None, [sys.executable, "-m", "engine"]),
    ],
)
def test_the_command_still_works_tomorrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoked: str, origin: str | None, expected: list[str]
) -> None:
    """A program in an environment that is only a cache is not entered; uvx or pipx runs it again."""
    place = tmp_path / invoked
    place.parent.mkdir(parents=True)
    place.touch(0o755)
    monkeypatch.setattr(sys, "argv", [str(place)])
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("UV", raising=False)
    said = None if origin is None else json.dumps({"url": origin})
    monkeypatch.setattr(
        "importlib.metadata.distribution", lambda name: SimpleNamespace(read_text=lambda file: said)
    )
    assert program() == [str(tmp_path / one) if one == invoked else one for one in expected]


def test_on_macos_the_files_are_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three clients follow the customs of macOS or not, and XDG_CONFIG_HOME does not matter there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert CLIENTS["zed"].user_file() == Path("/elsewhere/zed/settings.json")
    monkeypatch.setattr(sys, "platform", "darwin")
    support = home / "Library" / "Application Support"
    assert CLIENTS["claude-desktop"].user_file() == support / "Claude" / "claude_desktop_config.json"
    assert CLIENTS["vs-code"].user_file() == support / "Code" / "User" / "mcp.json"
    assert CLIENTS["zed"].user_file() == home / ".config" / "zed" / "settings.json"


def test_a_client_may_name_another_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAUDE_CONFIG_DIR and CODEX_HOME are honoured."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/c")
    monkeypatch.setenv("CODEX_HOME", "/x")
    assert CLIENTS["claude-code"].user_file() == Path("/c/.claude.json")
    assert CLIENTS["codex"].user_file() == Path("/x/config.toml")
