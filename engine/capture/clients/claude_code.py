"""Sessions of Claude Code: `projects/FOLDER/SESSION.jsonl`, as versions 1.0 to 2.1 write them.

A line is a message of the API in `message`, with `uuid`, `timestamp` and `cwd`. A session that was compacted
goes on in the same file. The lines of sub-agents are marked as side chains, or are in files `agent-….jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    files,
    first_lines,
    json_lines,
    project_name,
)
from engine.files.ingest.field_values import created_from_text

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
    """Yield the lines of a transcript from the byte `start` on."""
    for at, end, line in json_lines(transcript.path, start):
        own = line.get("uuid") if isinstance(line, Mapping) else None
        yield Record(at, end, own if isinstance(own, str) else f"@{at}", _parts(line))


def _parts(line: Mapping[str, Any] | str) -> Iterator[Turn | str]:
    if isinstance(line, str):
        yield line
        return
    message = line.get("message")
    if line.get("type") not in SPEAKERS or not isinstance(message, Mapping):
        yield f"line of type {line.get('type')!a:.40}"
        return
    if marked := next((said for name, said in _MARKS.items() if line.get(name)), None):
        yield marked
        return
    written = line.get("timestamp")
    created = created_from_text(written) if isinstance(written, str) else None
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(blocks, list) else ():
        yield _part(line, block, created)


def _part(line: Mapping[str, Any], block: Any, created: int | None) -> Turn | str:
    fields = block if isinstance(block, Mapping) else {}
    if fields.get("type") == "tool_result":
        return Turn(TOOL, _plain(block_texts(fields.get("content"))), created, _file(line))
    text = fields.get("text")
    if fields.get("type") != "text" or not isinstance(text, str):
        return f"block of type {fields.get('type')!a:.40}"
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


def _file(line: Mapping[str, Any]) -> str | None:
    """Return the file that a tool read or wrote, if the line names it, relative to the project's folder."""
    result, folder = line.get("toolUseResult"), line.get("cwd")
    inner = result.get("file") if isinstance(result, Mapping) else None
    paths = [one.get("filePath") for one in (result, inner) if isinstance(one, Mapping)]
    path = next((path for path in paths if isinstance(path, str)), None)
    return path if path is None or not isinstance(folder, str) else path.removeprefix(f"{folder}/")
