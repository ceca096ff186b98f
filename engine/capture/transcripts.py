"""Transcripts of sessions: the turns in them, and reading a file of JSON lines from a position on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
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
"""The length from which a line of JSON is counted and not read."""

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
    file: str = ""
    """The file that the output of a tool is about, if it is known."""


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


Parts = Callable[[dict[str, Any]], Iterator[Turn | str]]
"""A function that yields the parts of a record."""


def project_name(folder: object) -> str:
    """Return the name of a project: the last part of the path of its folder, or ''."""
    return folder.replace("\\", "/").rstrip("/").rpartition("/")[2] if isinstance(folder, str) else ""


def source_of(client: str, session: str) -> str:
    """Return the source of the atoms of a session."""
    return f"{client}/{session}"


def day_of(created: int | None) -> str:
    """Return the day of a time in µs since 1970, in UTC; '' if there is no time."""
    return "" if created is None else datetime.fromtimestamp(created // 1_000_000, UTC).date().isoformat()


def project_tag(project: str) -> str | None:
    """Return the tag of a project; None if the project is unknown, or if its name cannot be a tag."""
    from engine.files.ingest.field_values import tag_of

    return tag_of(f"project/{project}") if project else None


def files(place: Path, *patterns: str) -> Iterator[Path]:
    """Yield the regular files that match a pattern in a folder and below it, in order; or `place` itself."""
    if not place.is_dir():
        yield from [place] if place.is_file() else []  # a device may have no end
        return
    for path in sorted({path for pattern in patterns for path in place.rglob(pattern)}):
        if path.is_file() and not path.is_symlink():
            yield path


def lines(path: Path, start: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """Yield the lines of a file from a position on: begin, end and content.

    Of a line longer than `LINE_BYTES_MAX`, only the beginning is yielded. A line without a line end is not
    complete and not yielded.

    Raises:
        SystemFailureError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(start)
            at = start
            while raw := file.readline(LINE_BYTES_MAX):
                end, rest = at + len(raw), raw
                while rest and not rest.endswith(b"\n"):
                    rest = file.readline(LINE_BYTES_MAX)
                    end += len(rest)
                if not rest:
                    return
                yield at, end, raw
                at = end
    except OSError as error:
        raise system_failure(error, f"{path} cannot be read") from error


def records(transcript: Transcript, start: int, parts: Parts, key: str = "") -> Iterator[Record]:
    """Yield the lines of a transcript of JSON lines from the byte `start` on.

    `parts` returns the parts of a line, and `key` is the field with the name of a line. A line without a name
    is named after its position.
    """
    for at, end, raw in lines(transcript.path, start):
        yield record_of(json_object(raw), at, end, parts, key)


def record_of(value: object, at: int, end: int, parts: Parts, key: str) -> Record:
    """Return a record with the parts of an object. If `value` is a text, it says why there is no object."""
    name = text_at(value, key) or f"@{at}"
    return Record(at, end, name, parts(value) if isinstance(value, dict) else [str(value)])


def json_object(raw: bytes | str) -> dict[str, Any] | str:
    """Return the object in a line, or a text that says why the line has none, such as `malformed line`."""
    if isinstance(raw, bytes) and len(raw) == LINE_BYTES_MAX:
        return "long line"
    try:
        value = parse(raw)
    except JsonError:
        return "malformed line"
    return value if isinstance(value, dict) else "line that is not an object"


def first_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects among the first lines of a file."""
    for _, _, raw in islice(lines(path), _FIRST_LINES):
        value = json_object(raw)
        if isinstance(value, dict):
            yield value


def member(value: object, *names: str) -> Any:
    """Return what an object has below these names, the outermost first; None if it has no such member."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def text_at(value: object, *names: str) -> str:
    """Return the text that an object has below these names, or '' if it has no such text."""
    found = member(value, *names)
    return found if isinstance(found, str) else ""


def elements(value: object) -> list[Any]:
    """Return the elements of a list; none if the value is no list."""
    return value if isinstance(value, list) else []


def block_texts(content: object) -> str:
    """Return the text of a message whose content is a text or a list of blocks with texts."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (text_at(block, "text") for block in elements(content))))
