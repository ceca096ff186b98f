"""Sessions of Codex: `sessions/YYYY/MM/DD/rollout-….jsonl`, as versions 0.20 to 0.140 write them.

A line has `timestamp`, `type` and `payload`. The first line describes the session. What the model saw is in
lines of the type `response_item`; the lines of the type `event_msg` repeat it for the display.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from engine.base.json_text import JsonError, parse
from engine.capture.transcripts import (
    SPEAKERS,
    TOOL,
    USER,
    Record,
    Transcript,
    Turn,
    block_texts,
    files,
    first_lines,
    member,
    project_name,
    records,
    text_at,
)
from engine.files.ingest.field_values import created_from_value

_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_NOTES: Final = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""The beginnings of texts that the client writes in the name of the user."""


def find(place: Path) -> Iterator[Transcript]:
    """Yield the transcripts of sessions."""
    for path in files(place, "rollout-*.jsonl"):
        meta = next((line for line in first_lines(path) if line.get("type") == "session_meta"), None)
        name = text_at(meta, "payload", "id") or path.stem
        yield Transcript(path, name, project_name(member(meta, "payload", "cwd")), path.stat().st_size)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Return the lines of a transcript from the byte `start` on."""
    return records(transcript, start, _parts)


def _parts(line: dict[str, Any]) -> Iterator[Turn | str]:
    # Older versions wrote the payload without the fields around it.
    payload = line.get("payload") if line.get("type") == "response_item" else line
    created = created_from_value(line.get("timestamp"))
    kind = text_at(payload, "type")
    if kind in _OUTPUTS:
        yield Turn(TOOL, _output(member(payload, "output")), created)
    elif kind != "message":
        yield f"line of type {kind or line.get('type')!a:.40}"
    else:
        role, text = member(payload, "role"), block_texts(member(payload, "content"))
        is_note = role not in SPEAKERS or (role == USER and text.lstrip().startswith(_NOTES))
        yield "note of the client" if is_note else Turn(role, text, created)


def _output(output: object) -> str:
    """Return the text of an output, which some versions wrap into JSON."""
    if isinstance(output, str) and output.startswith('{"output"'):
        with suppress(JsonError):
            output = parse(output)
    inner = output.get("output", output.get("content")) if isinstance(output, Mapping) else output
    return block_texts(inner)
