"""Sessions of Cursor: `projects/PROJECT/agent-transcripts/….jsonl`, which Cursor writes since 2026.

A line has `role` and `message`, as the API has them. There are no times, and no output of tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    json_lines,
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
    """Yield the lines of a transcript from the byte `start` on."""
    for at, end, line in json_lines(transcript.path, start):
        yield Record(at, end, f"@{at}", _parts(line))


def _parts(line: Mapping[str, Any] | str) -> Iterator[Turn | str]:
    message = line if isinstance(line, str) else line.get("message")
    if isinstance(line, str) or line.get("role") not in SPEAKERS or not isinstance(message, Mapping):
        yield line if isinstance(line, str) else f"line of the role {line.get('role')!a:.40}"
        return
    text = block_texts(message.get("content"))
    begin, end = _QUERY
    if line["role"] == USER and begin in text:
        text = text.partition(begin)[2].partition(end)[0].strip()
    yield Turn(line["role"], text)
