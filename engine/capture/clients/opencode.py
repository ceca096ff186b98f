"""Sessions of opencode: the database `opencode.db` since version 1.2, or `storage/` of earlier versions.

A session has messages, and a message has parts: texts, calls of tools with their output, and others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from engine.base.errors import EngineError, system_failure
from engine.base.json_text import parse
from engine.base.outside_files import read_file
from engine.capture.transcripts import (
    ASSISTANT,
    LINE_BYTES_MAX,
    SPEAKERS,
    TOOL,
    Record,
    Transcript,
    Turn,
    files,
    project_name,
)
from engine.files.ingest.field_values import created_from_value

_DATABASE: Final = "opencode.db"


def find(place: Path) -> Iterator[Transcript]:
    """Yield the transcripts of sessions; those of the database, if there is one."""
    database = place / _DATABASE if place.is_dir() else place
    if database.name == _DATABASE and database.is_file():
        counted = (
            "SELECT id, directory, (SELECT count(*) FROM message WHERE session_id = session.id) "
            "FROM session ORDER BY id"
        )
        for session, folder, number in _rows(database, counted):
            yield Transcript(database, session, project_name(folder), number)
        return
    for path in files(place, "session/*/*.json"):
        fields = _fields(path)
        folder = path.parents[2] / "message" / path.stem
        yield Transcript(
            path, path.stem, project_name(fields.get("directory")), len(list(folder.glob("*.json")))
        )


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Yield the messages from the one with this number on, up to one that is being written."""
    for number, (name, message, parts) in enumerate(_messages(transcript)):
        times = message.get("time")
        times = times if isinstance(times, Mapping) else {}
        if message.get("role") == ASSISTANT and "completed" not in times:
            return
        if number >= start:
            turns = _turns(message, parts, created_from_value(times.get("created")))
            yield Record(number << 20, number + 1, name, turns)


def _messages(transcript: Transcript) -> Iterator[tuple[str, Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Yield the id, the fields and the parts of each message of a session, in order."""
    path = transcript.path
    if path.name == _DATABASE:
        asked = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for name, data in _rows(path, asked, transcript.session):
            parts = _rows(path, "SELECT data FROM part WHERE message_id = ? ORDER BY id", name)
            yield name, _object(data), [_object(part) for (part,) in parts]
        return
    storage = path.parents[2]
    for file in sorted((storage / "message" / path.stem).glob("*.json")):
        found = sorted((storage / "part" / file.stem).glob("*.json"))
        yield file.stem, _fields(file), [_fields(part) for part in found]


def _rows(database: Path, question: str, *values: str) -> list[Any]:
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
            return opened.execute(question, values).fetchall()
    except sqlite3.Error as error:
        raise system_failure(OSError(str(error)), f"{database} cannot be read") from error


def _fields(path: Path) -> Mapping[str, Any]:
    try:
        return _object(read_file(path, LINE_BYTES_MAX))
    except EngineError:
        return {}


def _object(raw: str | bytes) -> Mapping[str, Any]:
    try:
        value = parse(raw)
    except EngineError:
        return {}
    return value if isinstance(value, dict) else {}


def _turns(
    message: Mapping[str, Any], parts: list[Mapping[str, Any]], created: int | None
) -> Iterator[Turn | str]:
    role = message.get("role")
    for part in parts:
        state = part.get("state")
        if part.get("type") == "tool" and isinstance(state, Mapping) and isinstance(state.get("output"), str):
            given = state.get("input")
            path = given.get("filePath") if isinstance(given, Mapping) else None
            yield Turn(TOOL, state["output"], created, path if isinstance(path, str) else None)
        elif part.get("type") != "text" or role not in SPEAKERS or not isinstance(part.get("text"), str):
            yield f"part of type {part.get('type')!a:.40}"
        elif part.get("synthetic"):
            yield "note of the client"
        else:
            yield Turn(role, part["text"], created)
