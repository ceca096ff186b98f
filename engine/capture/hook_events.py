"""What a hook does: give a running session a part of the memory, and take in what is new in its transcript.

A client calls a hook with an event as JSON. At the start of a session, the answer is what was said last in
the project. For a prompt, it is what recall finds, if that is about the prompt. At all other events, the new
turns of the session are taken in.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from engine.base.errors import InvalidInputError
from engine.capture.clients import Client, client_named
from engine.capture.served import HEADING, record
from engine.capture.transcripts import day_of, project_name, project_tag, source_of
from engine.query.filters import Filters
from engine.query.view import View

START, PROMPT, SAVE = "start", "prompt", "save"

EVENTS: Final[Mapping[str, Sequence[str]]] = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"),
    "cursor": ("sessionStart", "stop", "preCompact", "sessionEnd"),
    "gemini-cli": ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"),
}
"""Client → the names of the events for which the program has a hook."""

ACTIONS: Final = {
    "SessionStart": START,
    "sessionStart": START,
    "UserPromptSubmit": PROMPT,
    "BeforeAgent": PROMPT,
}
"""Event → what the hook does; at all other events, it takes in what is new."""

COVERED_MIN: Final = 0.4
"""How much of a prompt a text must cover to be given: the weight of the words that both have, as a part of
the weight of all words of the prompt. A word weighs more the fewer texts have it.

Measured: of 200 questions to chats with assistants that 400 tokens answer, 183 are answered with this
threshold; of 339 questions about other things, 45 get a text. For one conversation of LoCoMo: 133 of 148, and
0 of 279. With 0.3 it is 196 and 96, with 0.5 149 and 27.
"""

PROMPT_CHARS_MAX: Final = 4000
"""Only this many characters at the beginning of a prompt are searched for."""

STEP_BYTES: Final = 64 << 10
"""How much of a transcript is taken in at once. What was taken in is kept if the hook is stopped."""

BESIDE_MAX: Final = 8
"""The number of the newest other transcripts in the folder that are looked at."""

RECENT_READ, LINE_CHARS = 40, 160
"""The number of atoms that are read for the start of a session, and the length of the line for each."""


class Event(NamedTuple):
    """An event of a session."""

    client: Client
    name: str
    session: str
    transcript: Path | None
    project: str
    prompt: str
    compacted: bool
    """True if the session starts again after a compaction."""

    @property
    def source(self) -> str:
        """The source of the atoms of the session."""
        return source_of(self.client.name, self.session)

    @property
    def action(self) -> str:
        """What the hook does: `START`, `PROMPT` or `SAVE`."""
        return ACTIONS.get(self.name, SAVE)

    def answer(self, text: str) -> dict[str, Any]:
        """Return the answer that gives a text to the session."""
        if self.client.name == "cursor":
            return {"additional_context": text}
        return {"hookSpecificOutput": {"hookEventName": self.name, "additionalContext": text}}


def event_of(client: str, value: object) -> Event:
    """Return the event that a client described as JSON.

    Raises:
        InvalidInputError: there is no such client, or the value is not an object with the name of an event.
    """
    fields = value if isinstance(value, dict) else {}

    def text(*names: str) -> str:
        found = (fields.get(name) for name in names)
        return next((one for one in found if isinstance(one, str)), "")

    if not text("hook_event_name"):
        raise InvalidInputError("the event has no `hook_event_name`")
    path, roots = text("transcript_path"), fields.get("workspace_roots")
    return Event(
        client_named(client),
        text("hook_event_name"),
        text("session_id", "conversation_id"),
        Path(path).expanduser() if path else None,
        project_name(text("cwd") or next(iter(roots if isinstance(roots, list) else ()), None)),
        text("prompt"),
        text("source") == "compact",
    )


def context_for(view: View, event: Event, budget: int) -> str:
    """Return what to give to a session, in at most `budget` tokens; '' if nothing is good enough."""
    parts = _recalled(view, event, budget) if event.action == PROMPT else _recent(view, event, budget)
    # A blank line would end the block of notes, if the client puts it into a message.
    lines = [line for text in parts for line in text.splitlines() if line.strip()]
    return "\n".join([HEADING, *lines]) if lines else ""


def answer_to(view: View, event: Event, budget: int) -> tuple[str, Callable[[], object] | None]:
    """Return the line that answers an event, and what writes the receipt once the session has the line.

    The line is '' if nothing is given.
    """
    text = context_for(view, event, budget)
    if not text:
        return "", None
    receipt = partial(record, view.store, event.client.name, event.session, text)
    return json.dumps(event.answer(text)) + "\n", receipt


def _recalled(view: View, event: Event, budget: int) -> Iterator[str]:
    """Yield the texts of the hits that cover enough of the prompt."""
    from engine.query.prompt_text import hit_text, tokens_of
    from engine.query.recall.recall import recall
    from engine.text.analyzer import STOP_WORDS, index_terms

    prompt = event.prompt[:PROMPT_CHARS_MAX]
    asked = [term for term in dict.fromkeys(index_terms(prompt)) if term not in STOP_WORDS]
    if not asked or prompt.startswith("/"):
        return
    with view.searchable() as rows:
        found = recall(rows, view, prompt, budget=budget - tokens_of(HEADING + "\n"))
        index = view.store.index.view(rows)
        weights = {term: math.log(1 + index.counted / max(index.df(term), 0.5)) for term in asked}
    for hit in found.hits:
        if hit.source == event.source and not event.compacted:
            continue
        terms = {*index_terms(f"{hit.title or ''} {hit.content or ''}")}
        covered = sum(weight for term, weight in weights.items() if term in terms)
        if covered >= COVERED_MIN * sum(weights.values()):
            yield hit_text(hit.heading, hit.source, hit.sequence, hit.id, hit.content or "")


def _recent(view: View, event: Event, budget: int) -> Iterator[str]:
    """Yield the first lines of what was noted or said last about the project, the newest first."""
    from engine.query.history.recent import recent
    from engine.query.prompt_text import ID_DIGITS, on_one_line, tokens_of

    tag = project_tag(event.project)
    if tag is None:
        return
    wanted = Filters(tags=(tag,), provenances=("internal",))
    with view.filterable(wanted) as rows:
        added = [one.atom for one in recent(rows, limit=RECENT_READ, filters=wanted)]
    left = budget - tokens_of(HEADING + "\n")
    for atom in sorted(added, key=lambda atom: -atom.created):
        if atom.source == event.source and not event.compacted:
            continue
        said = on_one_line((atom.content or "")[: 2 * LINE_CHARS])
        line = f"[{atom.id[:ID_DIGITS]}, {day_of(atom.created)}] {said[:LINE_CHARS]}"
        left -= tokens_of(line + "\n")
        if left < 0:
            return
        yield line


def take_in(view: View, event: Event, until: float) -> None:
    """Take in the new turns of the session, and those that earlier sessions of the same folder still have.

    `until` is the time of `time.monotonic` after which nothing more is begun.

    Raises:
        EngineError: a transcript cannot be read, or the store cannot be written.
    """
    from engine.capture.session_import import import_sessions, position

    path = event.transcript
    if path is None or not path.is_file():
        return
    store, client = view.store, event.client
    others = (one for one in path.parent.glob(f"*{path.suffix}") if one.is_file() and one != path)
    newest = sorted(others, key=lambda one: one.stat().st_mtime, reverse=True)
    for one in [path, *newest[:BESIDE_MAX]]:
        changed = True
        while changed and time.monotonic() < until:
            found = [each for each in client.find(one) if position(store, client, each) != each.end]
            changed = bool(found) and import_sessions(store, client, found, bytes_max=STEP_BYTES).changed
