"""Sessions of Codex: `sessions/YYYY/MM/DD/rollout-….jsonl`, as versions 0.20 to 0.140 write them.

A line has `timestamp`, `type` and `payload`. The first line describes the session. What the model saw is in
lines of the type `response_item`; the lines of the type `event_msg` repeat it for the display.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    json_lines,
    project_name,
)
from engine.files.ingest.field_values import created_from_text

_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_NOTES: Final = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""The beginnings of texts that the client writes in the name of the user."""


def find(place: Path) -> Iterator[Transcript]:
    """Yield the transcripts of sessions."""
    for path in files(place, "rollout-*.jsonl"):
        metas = (line.get("payload") for line in first_lines(path) if line.get("type") == "session_meta")
        meta = next((one for one in metas if isinstance(one, Mapping)), {})
        session = meta.get("id")
        name = session if isinstance(session, str) and session else path.stem
        yield Transcript(path, name, project_name(meta.get("cwd")), path.stat().st_size)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Yield the lines of a transcript from the byte `start` on."""
    for at, end, line in json_lines(transcript.path, start):
        yield Record(at, end, f"@{at}", _parts(line))


def _parts(line: Mapping[str, Any] | str) -> Iterator[Turn | str]:
    if isinstance(line, str):
        yield line
        return
    # Older versions wrote the payload without the fields around it.
    payload = line.get("payload") if line.get("type") == "response_item" else line
    written = line.get("timestamp")
    created = created_from_text(written) if isinstance(written, str) else None
    kind = payload.get("type") if isinstance(payload, Mapping) else None
    if not isinstance(payload, Mapping) or kind not in ("message", *_OUTPUTS):
        yield f"line of type {kind or line.get('type')!a:.40}"
    elif kind != "message":
        yield Turn(TOOL, _output(payload.get("output")), created)
    elif payload.get("role") not in SPEAKERS:
        yield "note of the client"
    else:
        text = block_texts(payload.get("content"))
        is_note = payload["role"] == USER and text.lstrip().startswith(_NOTES)
        yield "note of the client" if is_note else Turn(payload["role"], text, created)


def _output(output: object) -> str:
    """Return the text of an output, which some versions wrap into JSON."""
    if isinstance(output, str) and output.startswith('{"output"'):
        try:
            output = parse(output)
        except JsonError:
            return str(output)
    inner = output.get("output", output.get("content")) if isinstance(output, Mapping) else output
    return block_texts(inner)
