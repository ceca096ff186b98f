"""Hooks: what a running session is given, and what is taken in of it."""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine.base.errors import InvalidInputError
from engine.capture.hook_door import _answer, ask, listen
from engine.capture.hook_events import context_for, event_of
from engine.capture.served import HEADING, receipts
from engine.cli.mcp_command import _handle
from engine.engine import Engine
from engine.memory.lease import Lease
from tests.capture.samples import (
    DECISION,
    PROJECT,
    QUESTION,
    SESSION,
    claude_file,
    claude_line,
    claude_session,
)
from tests.capture.test_session_import import contents, taken
from tests.cli.test_processes import ROOT, environment

pytestmark = pytest.mark.slow

LONG = "wall=50, cpu=50"
"""The time that a hook has on a busy machine."""


@pytest.fixture
def filled(tmp_path: Path) -> Engine:
    """Return a store with one session."""
    engine = Engine.open("memory:", secrets="redact")
    taken(engine, claude_file(tmp_path))
    return engine


def event(name: str, **fields: Any) -> dict[str, Any]:
    """Return an event as Claude Code sends it."""
    common = {"session_id": "other", "transcript_path": "/none", "cwd": PROJECT, "permission_mode": "default"}
    return {**common, "hook_event_name": name, **fields}


def told(engine: Engine, name: str, budget: int = 400, **fields: Any) -> str:
    """Return what a session is given at an event; '' for nothing."""
    return context_for(engine.view, event_of("claude-code", event(name, **fields)), budget)


def test_a_prompt_is_given_what_is_about_it(filled: Engine) -> None:
    """A prompt gets the texts that cover most of its words, with their sources, and marked as data."""
    text = told(filled, "UserPromptSubmit", prompt="Which retry limit did we decide on?")
    assert text.startswith(HEADING)
    assert DECISION in text
    assert SESSION in text


def test_an_unrelated_prompt_is_given_nothing(filled: Engine) -> None:
    """A prompt about something else, a command of the client and an empty prompt get nothing."""
    for prompt in ("Paint the garden fence green before the summer party", "/compact", "", "?!"):
        assert told(filled, "UserPromptSubmit", prompt=prompt) == ""


def test_a_session_is_not_given_its_own_turns(filled: Engine) -> None:
    """What a session said is in its context already, unless it was compacted."""
    asked: dict[str, Any] = {"prompt": "Which retry limit did we decide on?", "session_id": SESSION}
    assert told(filled, "UserPromptSubmit", **asked) == ""
    assert QUESTION in told(filled, "SessionStart", session_id=SESSION, source="compact")
    assert told(filled, "SessionStart", session_id=SESSION, source="resume") == ""


def test_a_new_session_is_given_what_was_said_in_its_project(filled: Engine) -> None:
    """The start of a session gets the last words of the person in this project, and in no other."""
    filled.add("The uploader is owned by Priya.", tags=["project/parcel"])
    text = told(filled, "SessionStart", source="startup")
    assert QUESTION in text
    assert "owned by Priya" in text
    assert DECISION not in text
    assert told(filled, "SessionStart", cwd="/home/kim/work/kettle") == ""


def test_the_budget_bounds_what_is_given(filled: Engine) -> None:
    """With a small budget, less is given."""
    whole = told(filled, "SessionStart")
    part = told(filled, "SessionStart", budget=60)
    assert 0 < len(part) < len(whole)


@pytest.mark.parametrize("value", [None, [], {}, {"hook_event_name": 3}])
def test_events_of_another_form_are_refused(value: object) -> None:
    """An event without a name is an error."""
    with pytest.raises(InvalidInputError):
        event_of("claude-code", value)


def start(store: str, value: Any, limits: str = LONG) -> subprocess.Popen[bytes]:
    """Start a hook as a client does, with other limits of its time; None is an event that never comes."""
    code = f"from engine.cli.hook_process import run; run('claude-code', {store!r}, {limits})"
    with tempfile.TemporaryFile() as file:
        file.write(value if isinstance(value, bytes) else json.dumps(value).encode())
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            env=environment(),
            stdin=subprocess.PIPE if value is None else file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def answered(child: subprocess.Popen[bytes]) -> str:
    """Return what a hook answers, after checking that it does not fail the session."""
    out, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (0, b"")
    return str(json.loads(out)["hookSpecificOutput"]["additionalContext"]) if out else ""


def call(store: str, value: Any, limits: str = LONG) -> str:
    """Call a hook with an event, and return what it answers."""
    return answered(start(store, value, limits))


def test_two_sessions_with_a_compaction_and_a_crash(tmp_path: Path) -> None:
    """Played through the processes that a client starts, nothing is lost and nothing is doubled."""
    store, other = f"leveldb:{tmp_path / 'store'}", "0f0e8c11-0000-4000-8000-000000000001"
    lines, path = claude_session(), claude_file(tmp_path, claude_session()[:7])
    mine = {"session_id": SESSION, "transcript_path": str(path)}
    beside = claude_file(tmp_path, [claude_line("user", "Who owns the uploader?", "o1")], other)
    theirs = {"session_id": other, "transcript_path": str(beside)}
    both = [start(store, event("Stop", **one)) for one in (mine, theirs)]
    assert [answered(child) for child in both] == ["", ""]
    killed = start(store, event("Stop", **mine))
    killed.kill()
    killed.communicate()
    claude_file(tmp_path, lines)
    call(store, event("PreCompact", trigger="auto", **mine))
    assert QUESTION in call(store, event("SessionStart", source="compact", **mine))
    assert DECISION in call(store, event("UserPromptSubmit", prompt="Which retry limit did we decide on?"))
    with Engine.open(store) as engine:
        size, texts = engine.size, contents(engine)
        assert "User: Who owns the uploader?" in texts
        assert sorted(set(texts)) == sorted(texts)
        assert len([text for text in texts if DECISION in text]) == 1
        assert not [text for text in texts if "AKIA" in text]
    call(store, event("SessionEnd", reason="other", **mine))
    with Engine.open(store) as engine:
        assert engine.size == size


@pytest.mark.parametrize(
    "value",
    [b"", b"{", b"\xff", b'{"hook_event_name": "Stop", "transcript_path": "/dev/zero"}', b"[" * 99999],
)
def test_a_hook_never_fails_the_session(tmp_path: Path, value: bytes) -> None:
    """Whatever a client sends, and if there is no store, the exit code is 0 and nothing is printed."""
    assert call(f"leveldb:{tmp_path / 'store'}", value) == ""


def test_a_hook_ends_when_its_time_is_over(tmp_path: Path) -> None:
    """A hook whose event never comes, or whose store is in use, ends by itself."""
    store = f"leveldb:{tmp_path / 'store'}"
    with start(store, None, "") as child:
        assert child.wait(60) == 0
    with Engine.open(store):
        assert call(store, event("SessionStart"), "wall=1, cpu=1") == ""


def test_the_installed_command_runs_in_a_foreign_folder(tmp_path: Path) -> None:
    """The command in the configuration works in a project that has a folder `engine` of its own."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit(9)")
    settings = tmp_path / "home" / "settings.json"
    line = [sys.executable, "-m", "engine", "hooks", "install", "claude-code", "--store", str(tmp_path / "s")]
    ours = environment(CLAUDE_CONFIG_DIR=str(tmp_path / "home"))
    settings.parent.mkdir()
    subprocess.run(line, env=ours, cwd=ROOT, check=True, capture_output=True, timeout=60)
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    done = subprocess.run(
        shlex.split(command), check=False, cwd=tmp_path, input=b"{}", capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_server_that_has_the_store_open_answers_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook passes its event to `engine mcp`, if it runs; turns are taken in after the answer."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    store = f"leveldb:{tmp_path / 'store'}"
    lease = Lease(lambda: Engine.open(store), keep=60)
    assert ask(store, "claude-code", 400, b"{}", 9) is None
    listen(store, partial(_handle, lease))
    listen(store, lambda *_: ("a second server", None))
    saved = event("Stop", session_id=SESSION, transcript_path=str(claude_file(tmp_path)))
    asked = event("UserPromptSubmit", prompt="Which retry limit did we decide on?")
    assert ask(store, "claude-code", 400, json.dumps(saved).encode(), 9) == ""
    answer = ""
    while not answer:
        answer = ask(store, "claude-code", 400, json.dumps(asked).encode(), 9) or ""
    assert DECISION in json.loads(answer)["hookSpecificOutput"]["additionalContext"]
    assert ask(store, "claude-code", 400, b"{", 9) == ""
    lease.close()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_receipt_is_for_what_was_received(
    filled: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """If the hook is gone before the answer, as when its time was over, there is no receipt."""
    monkeypatch.setenv("ENGINE_RECEIPTS", str(tmp_path))
    hook, connection = socket.socketpair()
    asked = event("UserPromptSubmit", prompt="Which retry limit did we decide on?")
    hook.sendall(json.dumps(["s", "claude-code", 400]).encode() + b"\n" + json.dumps(asked).encode())
    hook.shutdown(socket.SHUT_WR)
    if not is_there:
        hook.close()
    _answer(connection, "s", partial(_handle, Lease(lambda: filled)))
    assert len([*receipts(filled.store)]) == is_there
    hook.close()


def test_a_door_that_others_can_reach_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If others can write to the folder of the door, nobody listens there, and no hook asks there."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o777)
    listen("leveldb:x", lambda *_: ("", None))
    assert ask("leveldb:x", "claude-code", 400, b"{}", 9) is None
    assert not list(tmp_path.glob("memroot/*.hooks"))
