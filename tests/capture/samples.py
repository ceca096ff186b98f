"""Small transcripts in the shapes that clients write. All texts are made up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

SESSION = "5d3f8a0e-91c4-4b7a-8f2e-0c6d1b9e7a42"
PROJECT = "/home/kim/work/parcel"
DECISION = "We decided that the retry limit is five, with a pause that doubles."
QUESTION = "What should the retry limit of the uploader be?"
_NUMBERS = count()


def claude_line(role: str, content: Any, uuid: str, **fields: Any) -> dict[str, Any]:
    """Return a line of Claude Code with a message."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": PROJECT,
        "sessionId": SESSION,
        "version": "2.1.20",
        "gitBranch": "main",
        "type": role,
        "message": {"role": role, "content": content},
        "uuid": uuid,
        "timestamp": "2026-03-04T09:15:00.123Z",
        **fields,
    }


def claude_session() -> list[dict[str, Any]]:
    """Return the lines of a session with a tool, a compaction, a sub-agent and lines of other types."""
    output = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "RETRIES = 3\n" + "x = 1\n" * 900}
    return [
        {"type": "queue-operation", "operation": "dequeue", "sessionId": SESSION},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        claude_line("user", "<command-name>/model</command-name>", "u0"),
        claude_line("user", QUESTION, "u1"),
        claude_line(
            "assistant",
            [
                {"type": "thinking", "thinking": "Let me look.", "signature": "…"},
                {"type": "text", "text": "I look at the present value first."},
                {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "up.py"}},
            ],
            "a1",
        ),
        claude_line("user", [output], "u2", toolUseResult={"file": {"filePath": f"{PROJECT}/src/up.py"}}),
        claude_line("user", "warm up", "s1", isSidechain=True),
        {"type": "system", "subtype": "compact_boundary", "uuid": "c1", "content": "Conversation compacted"},
        claude_line("user", "This session is continued from …", "c2", isCompactSummary=True),
        claude_line("assistant", [{"type": "text", "text": DECISION}], "a2"),
        claude_line("user", "My key is AKIAIOSFODNN7EXAMPLE, keep it.", "u3"),
    ]


def jsonl(path: Path, lines: Iterable[Any]) -> Path:
    """Write lines of JSON; texts are written as they are, with a line end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


def claude_file(folder: Path, lines: Iterable[Any] | None = None, session: str = SESSION) -> Path:
    """Write a transcript where Claude Code keeps it, in a folder `projects`."""
    place = folder / "projects" / PROJECT.replace("/", "-") / f"{session}.jsonl"
    return jsonl(place, claude_session() if lines is None else lines)
