"""Sessions of Gemini CLI: `tmp/PROJECT/chats/session-….json` or `….jsonl`, of the versions 0.5 to 0.40.

A file is one object with a list of messages, or, in later versions, one message in each line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from engine.base.errors import EngineError
from engine.base.json_text import parse
from engine.base.outside_files import read_file
from engine.capture.transcripts import (
    ASSISTANT,
    LINE_BYTES_MAX,
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

_ROLES: Final = {"user": USER, "gemini": ASSISTANT}
_ROOT_BYTES_MAX: Final = 4096


def find(place: Path) -> Iterator[Transcript]:
    """Yield the transcripts of sessions."""
    for path in files(place, "session-*.json", "session-*.jsonl"):
        if path.suffix == ".json":
            whole = _whole(path)
            session, end = whole.get("sessionId"), len(_messages(whole))
        else:
            session = next((line["sessionId"] for line in first_lines(path) if "sessionId" in line), None)
            end = path.stat().st_size
        yield Transcript(path, session if isinstance(session, str) else path.stem, _project(path), end)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Yield the messages of a transcript from the byte `start` on, or from the message with this number."""
    if transcript.path.suffix == ".jsonl":
        for at, end, line in json_lines(transcript.path, start):
            yield Record(at, end, _key(line, at), _parts(line))
        return
    for number, message in enumerate(_messages(_whole(transcript.path))[start:], start):
        yield Record(number << 20, number + 1, _key(message, number), _parts(message))


def _whole(path: Path) -> dict[str, Any]:
    try:
        value = parse(read_file(path, LINE_BYTES_MAX))
    except EngineError:
        return {}  # the client may be writing it
    return value if isinstance(value, dict) else {}


def _messages(whole: Mapping[str, Any]) -> list[Any]:
    messages = whole.get("messages")
    return messages if isinstance(messages, list) else []


def _project(path: Path) -> str:
    """Return the name of the project: the client keeps the path in a file, or names the folder after it."""
    folder = path.parent.parent
    try:
        return project_name(
            read_file(folder / ".project_root", _ROOT_BYTES_MAX).decode(errors="replace").strip()
        )
    except EngineError:
        return "" if len(folder.name) == 64 else folder.name  # a hash tells nothing


def _key(message: Any, at: int) -> str:
    own = message.get("id") if isinstance(message, Mapping) else None
    return own if isinstance(own, str) and own else f"@{at}"


def _parts(message: Any) -> Iterator[Turn | str]:
    if not isinstance(message, Mapping):
        yield message if isinstance(message, str) else "message that is not an object"
        return
    role = _ROLES.get(str(message.get("type")))
    if role is None:
        yield f"message of type {message.get('type')!a:.40}"
        return
    written = message.get("timestamp")
    created = created_from_text(written) if isinstance(written, str) else None
    yield Turn(role, block_texts(message.get("content")), created)
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            arguments = call.get("args")
            path = arguments.get("file_path") if isinstance(arguments, Mapping) else None
            yield Turn(TOOL, _output(call), created, path if isinstance(path, str) else None)


def _output(call: Mapping[str, Any]) -> str:
    """Return the text that a tool gave to the model, or that the client showed."""
    results = call.get("result")
    for result in results if isinstance(results, list) else ():
        try:
            output = result["functionResponse"]["response"]["output"]
        except (KeyError, TypeError):
            continue
        if isinstance(output, str):
            return output
    return block_texts(call.get("resultDisplay"))
