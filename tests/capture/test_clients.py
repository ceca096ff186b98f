"""What is read of the transcripts of each client."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.capture.clients import CLIENTS
from engine.engine import Engine
from tests.capture.samples import DECISION, PROJECT, QUESTION, SESSION, claude_file, claude_session, jsonl
from tests.capture.test_session_import import contents, taken

OUTPUT = "RETRIES = 3"
DAY = "2026-03-04T09:15:00.123Z"


def codex(folder: Path) -> Path:
    """Write a rollout of Codex."""

    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": DAY, "type": "response_item", "payload": payload}

    def said(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == "assistant" else "input_text"
        return item(type="message", role=role, content=[{"type": kind, "text": text}])

    meta = {"id": "0199-a", "timestamp": DAY, "cwd": PROJECT, "cli_version": "0.65.0", "source": "cli"}
    jsonl(
        folder / "2026" / "03" / "04" / "rollout-2026-03-04T09-15-00-0199-a.jsonl",
        [
            {"timestamp": DAY, "type": "session_meta", "payload": meta},
            said("developer", "Rules."),
            said("user", "<environment_context>…</environment_context>"),
            said("user", QUESTION),
            {"timestamp": DAY, "type": "event_msg", "payload": {"type": "user_message", "message": QUESTION}},
            item(type="function_call", name="shell", arguments="{}", call_id="c"),
            item(
                type="function_call_output",
                call_id="c",
                output=json.dumps({"output": OUTPUT, "metadata": {}}),
            ),
            item(type="reasoning", summary=[]),
            said("assistant", DECISION),
        ],
    )
    return folder


def gemini(folder: Path) -> Path:
    """Write a session of Gemini CLI as one object."""
    response = {"functionResponse": {"id": "c", "name": "read_file", "response": {"output": OUTPUT}}}
    call = {"id": "c", "name": "read_file", "args": {"file_path": "src/up.py"}, "result": [response]}
    messages = [
        {"id": "m0", "timestamp": DAY, "type": "info", "content": "Update available."},
        {"id": "m1", "timestamp": DAY, "type": "user", "content": [{"text": QUESTION}]},
        {"id": "m2", "timestamp": DAY, "type": "gemini", "content": DECISION, "toolCalls": [call]},
    ]
    chats = folder / "parcel" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(PROJECT)
    whole = {"sessionId": "g1", "projectHash": "0" * 64, "startTime": DAY, "messages": messages}
    (chats / "session-2026-03-04T09-15-g1.json").write_text(json.dumps(whole))
    return folder


def gemini_lines(folder: Path) -> Path:
    """Write a session of Gemini CLI as lines."""
    (path,) = gemini(folder).rglob("*.json")
    whole = json.loads(path.read_text())
    path.unlink()
    jsonl(path.with_suffix(".jsonl"), [{"sessionId": "g1", "kind": "main"}, *whole["messages"], {"$set": {}}])
    return folder


def cursor(folder: Path) -> Path:
    """Write a transcript of Cursor."""

    def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
        return {"role": role, "message": {"content": list(blocks)}}

    asked = {
        "type": "text",
        "text": f"<open_files>\nup.py\n</open_files>\n<user_query>\n{QUESTION}\n</user_query>",
    }
    answer: list[dict[str, Any]] = [
        {"type": "text", "text": DECISION},
        {"type": "tool_use", "name": "Read", "input": {}},
    ]
    lines = [said("user", asked), said("assistant", *answer), {"role": "system"}]
    jsonl(folder / "home-kim-work-parcel" / "agent-transcripts" / "c1" / "c1.jsonl", lines)
    jsonl(folder / "home-kim-work-parcel" / "other.jsonl", lines)
    return folder


MESSAGES: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    ({"role": "user", "time": {"created": 1772615700123}}, [{"type": "text", "text": QUESTION}]),
    (
        {"role": "assistant", "time": {"created": 1772615701000, "completed": 1772615702000}},
        [
            {"type": "step-start"},
            {"type": "tool", "tool": "read", "state": {"output": OUTPUT, "input": {"filePath": "src/up.py"}}},
            {"type": "text", "text": DECISION},
        ],
    ),
    ({"role": "assistant", "time": {"created": 1772615703000}}, [{"type": "text", "text": "Still writi"}]),
]


def opencode(folder: Path) -> Path:
    """Write the database of opencode."""
    folder.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(folder / "opencode.db") as opened:
        opened.execute("CREATE TABLE session (id TEXT, project_id TEXT, directory TEXT, title TEXT)")
        opened.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
        opened.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)")
        opened.execute("INSERT INTO session VALUES ('ses_1', 'p1', ?, 'Uploads')", (PROJECT,))
        for number, (message, parts) in enumerate(MESSAGES):
            row = (f"msg_{number}", "ses_1", number, json.dumps(message))
            opened.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for at, part in enumerate(parts):
                values = (f"prt_{at}", f"msg_{number}", "ses_1", json.dumps(part))
                opened.execute("INSERT INTO part VALUES (?, ?, ?, ?)", values)
    opened.close()
    return folder


def aider(folder: Path) -> Path:
    """Write the history of aider."""
    project = folder / "parcel"
    project.mkdir(parents=True)
    text = (
        "\n# aider chat started at 2026-03-04 09:15:00\n\n> aider v0.60.0\n> Model: x\n\n"
        f"#### {QUESTION}\n\n{DECISION}\n\n> Tokens: 3k sent\n"
    )
    (project / ".aider.chat.history.md").write_text(text)
    return folder


def claude(folder: Path) -> Path:
    """Write a short session of Claude Code."""
    kept = [line for line in claude_session() if line.get("uuid") in {"u0", "u1", "u2", "a2"}]
    kept[2]["message"]["content"][0]["content"] = OUTPUT
    return claude_file(folder, kept).parent


SAMPLES: dict[str, tuple[str, Callable[[Path], Path], str, str]] = {
    "claude-code": ("claude-code", claude, f"claude-code/{SESSION}", "command of the client"),
    "codex": ("codex", codex, "codex/0199-a", "note of the client"),
    "gemini": ("gemini-cli", gemini, "gemini-cli/g1", "message of type 'info'"),
    "gemini in lines": ("gemini-cli", gemini_lines, "gemini-cli/g1", "message of type 'info'"),
    "cursor": ("cursor", cursor, "cursor/c1", "line of the role 'system'"),
    "opencode": ("opencode", opencode, "opencode/ses_1", "part of type 'step-start'"),
    "aider": ("aider", aider, "aider/parcel-2026-03-04T09:15:00", "note of the client"),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_turns_of_each_client(tmp_path: Path, name: str) -> None:
    """Of each client the words of the person and the assistant are read, and the output of tools, once."""
    client, write, source, left = SAMPLES[name]
    engine, place = Engine.open("memory:", secrets="redact"), write(tmp_path / "sessions")
    done = taken(engine, place, client)
    texts = contents(engine)
    assert {f"User: {QUESTION}", f"Assistant: {DECISION}"} <= set(texts)
    assert (OUTPUT in texts) == (client not in {"cursor", "aider"})
    assert len(texts) == (2 if client in {"cursor", "aider"} else 3)
    assert dict(done.left)[left] >= 1
    assert not done.skipped
    hit = engine.recall("What did we decide about the retry limit?").hits[0]
    day = "parcel" if client == "cursor" else "parcel 2026-03-04"
    assert (hit.source, hit.title, hit.tags) == (source, day, ("project/parcel",))
    size = engine.size
    assert not taken(engine, place, client).changed
    assert engine.size == size


def test_every_client_has_a_sample() -> None:
    """Each client whose sessions can be taken in is tested."""
    assert {client for client, *_ in SAMPLES.values()} == set(CLIENTS)


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_files_stop_nothing(tmp_path: Path, name: str) -> None:
    """If the files of a client have another content, nothing is taken in of them, and no import fails."""
    client, write, _, _ = SAMPLES[name]
    place = write(tmp_path / "sessions")
    for path in place.rglob("*"):
        if path.is_file() and path.suffix != ".db":
            path.write_bytes(b'{"type": [], "message": 3, "payload": 1, "messages": [1, {}]}\n[1]\n\xff{\n')
    engine = Engine.open("memory:")
    taken(engine, place, client)
    assert not [text for text in contents(engine) if QUESTION in text and name != "opencode"]
