"""Sessions of Claude Code: `projects/FOLDER/SESSION.jsonl`, as versions 1.0 to 2.1 write them.

A line is a message of the API in `message`, with `uuid`, `timestamp` and `cwd`. A session that was compacted
goes on in the same file. The lines of sub-agents are marked as side chains, or are in files `agent-….jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.capture.transcripts import (
    SPEAKERS,
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
    records,
    text_at,
)
from engine.files.ingest.field_values import created_from_value

_MARKS: Final = {
    "isSidechain": "line of a sub-agent",
    "isMeta": "note of the client",
    "isCompactSummary": "summary of a compaction",
    "forkedFrom": "copy of another session",
}
"""Fields of lines that are not taken in, and what the lines are."""

_COMMANDS: Final = ("<command-", "<local-command-", "<bash-", "Caveat: The messages below were generated")
"""The beginnings of texts that the client writes for its own commands."""

_REMINDER: Final = ("<system-reminder>", "</system-reminder>")


def find(place: Path) -> Iterator[Transcript]:
    """Yield the transcripts of sessions, without those of sub-agents."""
    for path in files(place, "*.jsonl"):
        if not path.name.startswith("agent-"):
            folder = next((line["cwd"] for line in first_lines(path) if "cwd" in line), None)
            yield Transcript(path, path.stem, project_name(folder), path.stat().st_size)


def read(transcript: Transcript, start: int) -> Iterator[Record]:
    """Return the lines of a transcript from the byte `start` on."""
    return records(transcript, start, _parts, "uuid")


def _parts(line: dict[str, Any]) -> Iterator[Turn | str]:
    content = member(line, "message", "content")
    if line.get("type") not in SPEAKERS or content is None:
        yield f"line of type {line.get('type')!a:.40}"
    elif marked := next((said for name, said in _MARKS.items() if line.get(name)), None):
        yield marked
    else:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else elements(content)
        yield from (_part(line, block) for block in blocks)


def _part(line: dict[str, Any], block: Any) -> Turn | str:
    kind, text = member(block, "type"), member(block, "text")
    created = created_from_value(line.get("timestamp"))
    if kind == "tool_result":
        return Turn(TOOL, _plain(block_texts(block.get("content"))), created, _file(line))
    if kind != "text" or not isinstance(text, str):
        return f"block of type {kind!a:.40}"
    if line["type"] == USER and text.startswith(_COMMANDS):
        return "command of the client"
    return Turn(line["type"], _plain(text), created)


def _plain(text: str) -> str:
    """Return a text without the reminders that the client adds."""
    begin, end = _REMINDER
    kept, at = [], 0
    while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start)) >= 0:
        kept.append(text[at:start])
        at = stop + len(end)
    return "".join([*kept, text[at:]])


def _file(line: dict[str, Any]) -> str:
    """Return the file that a tool read or wrote, if the line names it, relative to the project's folder."""
    result, folder = line.get("toolUseResult"), text_at(line, "cwd")
    path = text_at(result, "filePath") or text_at(result, "file", "filePath")
    return path.removeprefix(f"{folder}/") if folder else path
