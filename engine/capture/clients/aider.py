"""Sessions of aider: the file `.aider.chat.history.md` in the folder of a project, since version 0.30.

`# aider chat started at TIME` begins a session. Lines after `#### ` are the person's, lines after `> ` are
aider's own, and all others are the assistant's. All sessions of a file count as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from engine.capture.transcripts import ASSISTANT, USER, Record, Transcript, Turn, lines
from engine.files.ingest.field_values import created_from_text

_FILE: Final = ".aider.chat.history.md"
_STARTED: Final = "# aider chat started at "
_MARKS: Final = {"#### ": USER, "> ": "note of the client"}


def find(place: Path) -> Iterator[Transcript]:
    """Yield the files with sessions in a folder and in the folders in it.

    A file is named after its project and the time of its first session.
    """
    # Deeper folders are not searched: the folder may be that of the user.
    found = [place] if place.is_file() else sorted({*place.glob(_FILE), *place.glob(f"*/{_FILE}")})
    for path in found:
        project = path.resolve().parent.name
        first = next((line for _, _, line in _lines(path) if line.startswith(_STARTED)), "")
        name = f"{project}-{first.removeprefix(_STARTED).strip()}".replace(" ", "T")
        yield Transcript(path, name, project, path.stat().st_size)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Yield the blocks of lines from the byte `start` on."""
    created: int | None = None
    for kind, block in groupby(_lines(transcript.path), lambda line: _kind(line[2])):
        said = list(block)
        if kind == _STARTED:
            created = created_from_text(said[-1][2].removeprefix(_STARTED).strip())
        new = [line for line in said if line[0] >= start]
        text = "".join(line.removeprefix(_prefix(line)) for _, _, line in new).strip()
        turn = Turn(kind, text, created) if kind in {USER, ASSISTANT} else kind
        if new:
            yield Record(new[0][0], new[-1][1], f"@{new[0][0]}", [turn] if text and kind != _STARTED else [])


def _lines(path: Path) -> Iterator[tuple[int, int, str]]:
    """Yield the complete lines of a file, each with its begin and its end in bytes."""
    return ((at, end, raw.decode(errors="replace")) for at, end, raw in lines(path))


def _prefix(line: str) -> str:
    return next((mark for mark in _MARKS if line.startswith(mark)), "")


def _kind(line: str) -> str:
    """Return whose line it is, or `_STARTED`."""
    return _STARTED if line.startswith(_STARTED) else _MARKS.get(_prefix(line), ASSISTANT)
