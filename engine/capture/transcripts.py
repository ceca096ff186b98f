"""Transcripts of sessions: the turns in them, and reading a file of JSON lines from a position on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from engine.base.errors import system_failure
from engine.base.json_text import JsonError, parse

USER: Final = "user"
ASSISTANT: Final = "assistant"
TOOL: Final = "tool"
"""The role of the output of a tool."""

SPEAKERS: Final = (USER, ASSISTANT)
"""The roles of those who speak. It is a tuple, because what a client wrote may be of any type."""

LINE_BYTES_MAX: Final = 64 << 20
"""The maximum length of a line. A longer line is counted and not read."""

_FIRST_LINES: Final = 50
"""The number of lines at the beginning of a transcript in which facts about the session are looked for."""


class Transcript(NamedTuple):
    """A session in the files of a client."""

    path: Path
    session: str
    """The id of the session. It is the same whenever the transcript is read."""
    project: str
    """The name of the project's folder; empty if it is unknown."""
    end: int
    """The position after the last record. If a reading ended there, there is nothing new."""


class Turn(NamedTuple):
    """What a person, an assistant or a tool said in a session."""

    role: str
    text: str
    created: int | None = None
    """The time in µs since 1970, UTC."""
    file: str | None = None
    """The file that the output of a tool is about."""


class Record(NamedTuple):
    """A part of a transcript, such as a line."""

    at: int
    """The position of the record: a number that never changes, and increases from record to record."""
    end: int
    """The position at which the next reading starts."""
    key: str
    """The name of the record in its session. It never changes."""
    parts: Iterable[Turn | str]
    """The turns. A text says what is not taken in, such as `thinking`."""


def project_name(folder: object) -> str:
    """Return the name of a project: the last part of the path of its folder, or ''."""
    return folder.replace("\\", "/").rstrip("/").rpartition("/")[2] if isinstance(folder, str) else ""


def files(place: Path, *patterns: str) -> Iterator[Path]:
    """Yield the regular files that match a pattern in a folder and below it, in order; or `place` itself."""
    if not place.is_dir():
        yield from [place] if place.is_file() else []  # a device may have no end
        return
    for path in sorted({path for pattern in patterns for path in place.rglob(pattern)}):
        if path.is_file() and not path.is_symlink():
            yield path


def json_lines(path: Path, start: int = 0) -> Iterator[tuple[int, int, dict[str, Any] | str]]:
    """Yield the lines of a file from a position on: begin, end and the object, or the reason if it is none.

    A line without a line end is not complete and not yielded.

    Raises:
        SystemFailureError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(start)
            at = start
            while raw := file.readline(LINE_BYTES_MAX):
                end = at + len(raw)
                value: dict[str, Any] | str = "long line"
                if raw.endswith(b"\n"):
                    value = _object(raw)
                else:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(LINE_BYTES_MAX)
                        end += len(raw)
                    if not raw:
                        return
                yield at, end, value
                at = end
    except OSError as error:
        raise system_failure(error, f"{path} cannot be read") from error


def _object(raw: bytes) -> dict[str, Any] | str:
    try:
        value = parse(raw)
    except JsonError:
        return "malformed line"
    return value if isinstance(value, dict) else "line that is not an object"


def first_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects among the first lines of a file."""
    for number, (_, _, value) in enumerate(json_lines(path)):
        if number == _FIRST_LINES:
            return
        if isinstance(value, dict):
            yield value


def block_texts(content: object) -> str:
    """Return the text of a message whose content is a text or a list of blocks with texts."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str) and text)
