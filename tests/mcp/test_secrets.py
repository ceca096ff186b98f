"""The server redacts secrets before a text is stored, unless it is told otherwise, and agents are told so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.base.errors import InvalidInputError
from engine.commands.secrets.policy import SecretsPolicy
from engine.engine import Engine
from engine.mcp.profiles import MODULES, SAID, profile_of, screened
from engine.memory.memory_settings import find_secrets_for_agents
from tests.commands.secrets.samples import SAMPLES
from tests.mcp.support import Memory, Raw, call
from tests.support.leveldb import needs_leveldb

KEY = SAMPLES["anthropic-key"][0][1]
TEXT = f"The key of the lab is {KEY}."


def mode_of(policy: SecretsPolicy | str) -> str:
    """Return the mode of a policy."""
    return str(policy if isinstance(policy, str) else policy.mode)


def test_secrets_are_redacted_unless_a_setting_says_otherwise(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The option beats ENGINE_SECRETS, which beats the file; a file with patterns alone sets no mode."""
    assert mode_of(find_secrets_for_agents(None)) == "redact"
    (surroundings / ".engine.toml").write_text('[secrets]\nallow = ["x{4}"]\n')
    assert find_secrets_for_agents(None) == SecretsPolicy("redact", allow=("x{4}",))
    (surroundings / ".engine.toml").write_text('secrets = "warn"\n')
    assert mode_of(find_secrets_for_agents(None)) == "warn"
    monkeypatch.setenv("ENGINE_SECRETS", "refuse")
    assert mode_of(find_secrets_for_agents(None)) == "refuse"
    assert mode_of(find_secrets_for_agents("off")) == "off"


@pytest.mark.parametrize("mode", ["", "maybe"])
def test_an_unknown_mode_is_refused(surroundings: Path, mode: str) -> None:
    """The error names the option."""
    with pytest.raises(InvalidInputError, match="--secrets"):
        find_secrets_for_agents(mode)


def stored(store: Path, *more: str) -> tuple[str, dict[str, Any]]:
    """Return the text that a server stores, and its instructions."""
    with Raw(store, *more) as server:
        opened = server.open()
        answer = server.ask(call(2, "remember", content=TEXT))
        assert KEY not in json.dumps(answer)
        assert server.end()[0] == 0
    with Engine.open(str(store)) as engine:
        [atom] = engine.find()
        return engine.get(atom.id).content, opened["result"]


@needs_leveldb
def test_a_server_keeps_secrets_out_of_the_journal(tmp_path: Path) -> None:
    """No byte of the store has the secret, and the instructions say what happens."""
    content, opened = stored(tmp_path / "store")
    assert content == "The key of the lab is [REDACTED:anthropic-key]."
    assert SAID["redact"] in opened["instructions"]
    assert not any(KEY.encode() in file.read_bytes() for file in (tmp_path / "store").rglob("*.*"))


def test_a_server_can_be_told_to_store_secrets(tmp_path: Path) -> None:
    """With `--secrets off`, the text is stored unchanged, and the instructions say nothing."""
    content, opened = stored(tmp_path / "store", "--secrets", "off")
    assert content == TEXT
    assert "REDACTED" not in opened["instructions"]


def test_an_agent_is_told_what_was_redacted() -> None:
    """The answers of tools that store a text name the kinds of secrets, if there were secrets."""
    with Engine.open("memory:", secrets="redact") as engine:
        memory = Memory(engine)
        found = memory.found("remember", content=TEXT, tags=["lab"])
        assert found["redacted"] == ["anthropic-key"]
        assert "redacted" not in memory.found("revise", id=found["id"], content="No key.")
        assert memory.found("revise", id=found["id"], content=TEXT)["redacted"] == ["anthropic-key"]


@pytest.mark.parametrize("name", MODULES)
def test_a_profile_says_how_secrets_are_treated(name: str) -> None:
    """The instructions of each profile say so, unless the server only reads or stores secrets unchanged."""
    assert screened(profile_of(name), "redact").instructions.endswith(SAID["redact"])
    assert screened(profile_of(name), "off") == profile_of(name)
    reading = profile_of(name, read_only=True)
    assert screened(reading, "redact") == reading


def test_a_prompt_that_stores_texts_says_how_secrets_are_treated() -> None:
    """The prompt `remember` begins with the sentence."""
    prompts = {one.name: one for one in screened(profile_of("memory"), "refuse").prompts}
    assert prompts["remember"].render({"content": "a"}).startswith(SAID["refuse"])
    assert SAID["refuse"] not in prompts["explore"].render({"query": "a"})
