"""Sessions of Gemini CLI: `tmp/PROJECT/chats/session-….json` or `….jsonl`, of the versions 0.5 to 0.40.

A file is one object with a list of messages, or, in later versions, one message in each line.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    elements,
    files,
    first_lines,
    member,
    project_name,
    record_of,
    records,
    text_at,
)
from engine.files.ingest.field_values import created_from_value

_ROLES: Final = {"user": USER, "gemini": ASSISTANT}
_ROOT_BYTES_MAX: Final = 4096


def find(place: Path) -> Iterator[Transcript]:
    """Yield the transcripts of sessions."""
    for path in files(place, "session-*.json", "session-*.jsonl"):
        if path.suffix == ".json":
            whole = _whole(path)
            session, end = text_at(whole, "sessionId"), len(elements(member(whole, "messages")))
        else:
            names = (text_at(line, "sessionId") for line in first_lines(path))
            session, end = next(filter(None, names), ""), path.stat().st_size
        yield Transcript(path, session or path.stem, _project(path), end)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Yield the messages of a transcript from the byte `start` on, or from the message with this number."""
    if transcript.path.suffix == ".jsonl":
        yield from records(transcript, start, _parts, "id")
        return
    messages = elements(member(_whole(transcript.path), "messages"))
    for number, message in enumerate(messages[start:], start):
        value = message if isinstance(message, dict) else "message that is not an object"
        yield record_of(value, number << 20, number + 1, _parts, "id")


def _whole(path: Path) -> object:
    try:
        return parse(read_file(path, LINE_BYTES_MAX))
    except EngineError:
        return None  # the client may be writing it


def _project(path: Path) -> str:
    """Return the name of the project: the client keeps the path in a file, or names the folder after it."""
    folder = path.parent.parent
    try:
        return project_name(
            read_file(folder / ".project_root", _ROOT_BYTES_MAX).decode(errors="replace").strip()
        )
    except EngineError:
        return "" if len(folder.name) == 64 else folder.name  # a hash is not a name


def _parts(message: dict[str, Any]) -> Iterator[Turn | str]:
    role = _ROLES.get(text_at(message, "type"))
    if role is None:
        yield f"message of type {message.get('type')!a:.40}"
        return
    created = created_from_value(message.get("timestamp"))
    yield Turn(role, block_texts(message.get("content")), created)
    for call in elements(message.get("toolCalls")):
        yield Turn(TOOL, _output(call), created, text_at(call, "args", "file_path"))


def _output(call: object) -> str:
    """Return the text that a tool gave to the model, or that the client showed."""
    results = elements(member(call, "result"))
    texts = (text_at(result, "functionResponse", "response", "output") for result in results)
    return next(filter(None, texts), "") or block_texts(member(call, "resultDisplay"))
