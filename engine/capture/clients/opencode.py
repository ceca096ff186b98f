"""Sessions of opencode: the database `opencode.db`, which opencode has since version 1.2.

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
from engine.capture.transcripts import (
    ASSISTANT,
    SPEAKERS,
    TOOL,
    Record,
    Transcript,
    Turn,
    project_name,
)
from engine.files.ingest.field_values import created_from_value

_DATABASE: Final = "opencode.db"


def find(place: Path) -> Iterator[Transcript]:
    """Yield the sessions in the database. The position of a message is its number in the session."""
    database = place / _DATABASE if place.is_dir() else place
    if database.is_file():
        asked = (
            "SELECT id, directory, (SELECT count(*) FROM message WHERE session_id = session.id) "
            "FROM session ORDER BY id"
        )
        for session, folder, number in _rows(database, asked):
            yield Transcript(database, session, project_name(folder), number)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Yield the messages from the one with this number on, up to one that is being written."""
    asked = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT -1 OFFSET ?"
    rows = _rows(transcript.path, asked, transcript.session, start)
    for number, (name, data) in enumerate(rows, start):
        message = _object(data)
        times = message.get("time")
        times = times if isinstance(times, Mapping) else {}
        if message.get("role") == ASSISTANT and "completed" not in times:
            return
        parts = _rows(transcript.path, "SELECT data FROM part WHERE message_id = ? ORDER BY id", name)
        turns = _turns(
            message, [_object(part) for (part,) in parts], created_from_value(times.get("created"))
        )
        yield Record(number << 20, number + 1, name, turns)


def _rows(database: Path, question: str, *values: str | int) -> list[Any]:
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
            return opened.execute(question, values).fetchall()
    except sqlite3.Error as error:
        raise system_failure(OSError(str(error)), f"{database} cannot be read") from error


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
