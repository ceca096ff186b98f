"""Sessions of opencode: the database `opencode.db`, which opencode has since version 1.2.

A session has messages, and a message has parts: texts, calls of tools with their output, and others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from engine.base.errors import system_failure
from engine.capture.transcripts import (
    ASSISTANT,
    SPEAKERS,
    TOOL,
    Record,
    Transcript,
    Turn,
    json_object,
    member,
    project_name,
    text_at,
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
        with _opened(database) as rows:
            for session, folder, number in rows(asked):
                yield Transcript(database, session, project_name(folder), number)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Yield the messages from the one with this number on, up to one that is being written."""
    asked = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT -1 OFFSET ?"
    with _opened(transcript.path) as rows:
        for number, (name, data) in enumerate(rows(asked, transcript.session, start), start):
            message = json_object(data)
            if member(message, "role") == ASSISTANT and member(message, "time", "completed") is None:
                return
            parts = rows("SELECT data FROM part WHERE message_id = ? ORDER BY id", name)
            turns = _turns(message, [json_object(part) for (part,) in parts])
            yield Record(number << 20, number + 1, name, turns)


@contextmanager
def _opened(database: Path) -> Iterator[Callable[..., list[Any]]]:
    """Open the database for reading until the block ends: a function that returns the rows of a question.

    No question stays open between two records, so the client can write meanwhile.
    """
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
            yield lambda question, *values: opened.execute(question, values).fetchall()
    except sqlite3.Error as error:
        raise system_failure(OSError(str(error)), f"{database} cannot be read") from error


def _turns(message: object, parts: list[Any]) -> Iterator[Turn | str]:
    role, created = member(message, "role"), created_from_value(member(message, "time", "created"))
    for part in parts:
        kind, output = member(part, "type"), member(part, "state", "output")
        if kind == "tool" and isinstance(output, str):
            yield Turn(TOOL, output, created, text_at(part, "state", "input", "filePath"))
        elif kind != "text" or role not in SPEAKERS:
            yield f"part of type {kind!a:.40}"
        elif member(part, "synthetic"):
            yield "note of the client"
        else:
            yield Turn(role, text_at(part, "text"), created)
