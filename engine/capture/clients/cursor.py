"""Sessions of Cursor: `projects/PROJECT/agent-transcripts/….jsonl`, which Cursor writes since 2026.

A line has `role` and `message`, as the API has them. There are no times, and no output of tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.capture.transcripts import (
    SPEAKERS,
    USER,
    Record,
    Transcript,
    Turn,
    block_texts,
    files,
    member,
    records,
)

_FOLDER: Final = "agent-transcripts"
_QUERY: Final = ("<user_query>", "</user_query>")
"""What is around the words of the person in a message with more context."""


def find(place: Path) -> Iterator[Transcript]:
    """Yield the transcripts of sessions. A project is named after the last word of the name of its folder."""
    for path in files(place, "*.jsonl"):
        parts = path.parts
        at = parts.index(_FOLDER) if _FOLDER in parts else 0
        if at or not place.is_dir():
            project = parts[at - 1].rpartition("-")[2] if at else ""
            yield Transcript(path, path.stem, project, path.stat().st_size)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Return the lines of a transcript from the byte `start` on."""
    return records(transcript, start, _parts)


def _parts(line: dict[str, Any]) -> Iterator[Turn | str]:
    role, text = line.get("role"), block_texts(member(line, "message", "content"))
    begin, end = _QUERY
    if role == USER and begin in text:
        text = text.partition(begin)[2].partition(end)[0].strip()
    yield Turn(role, text) if role in SPEAKERS else f"line of the role {role!a:.40}"
