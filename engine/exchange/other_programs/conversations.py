"""Turn the messages of conversations into items, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from engine.commands.sequence import STEP
from engine.exchange.other_programs.program_items import Item, Omitted, checked_key, split_text
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.field_values import checked_source, title_of
from engine.text.speaker_labels import label_of

_T = TypeVar("_T")

OTHER_BRANCH: Final = "other-branch"
"""The tag of messages on abandoned branches, which arise from regenerated answers and edited messages."""

_BRANCHES_FROM: Final = 1 << 40
"""The first sequence number of messages on abandoned branches.

It is so large that the numbers of these messages do not change when the current branch becomes longer.
"""

_SPEAKERS: Final = {"human": "User", "user": "User", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation, with its text but without pictures, files and metadata."""

    key: object
    speaker: object
    text: str
    created: int | None
    other_branch: bool = False
    title: str | None = None
    """The title to use instead of the conversation's title."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The attributes that all messages of a conversation share."""

    where: str
    at: int
    source: str
    title: str | None
    created: int | None


def items(conversation: Conversation, messages: Iterable[Message]) -> Iterator[Item | Omitted | Skipped]:
    """Yield an item for each message with a text, in order; messages without text are counted as omitted."""
    checked_source(conversation.source)
    positions = {False: 0, True: _BRANCHES_FROM // STEP}
    for message in messages:
        positions[message.other_branch] += 1
        if not message.text.strip():
            yield Omitted(("messages without text",))
            continue
        try:
            yield _item(conversation, message, positions[message.other_branch] * STEP)
        except BadItemError as error:
            yield Skipped(conversation.where, f"message {message.key!a:.80}: {error}", conversation.at)


def _item(conversation: Conversation, message: Message, sequence: int) -> Item:
    return Item(
        where=conversation.where,
        at=conversation.at,
        source=conversation.source,
        key=checked_key(message.key, "its id"),
        pieces=split_text(message.text, speaker(message.speaker)),
        title=title_of(message.title or conversation.title or "") or None,
        kind="message",
        tags=(OTHER_BRANCH,) if message.other_branch else (),
        sequence=sequence,
        created=conversation.created if message.created is None else message.created,
    )


def speaker(role: object) -> str:
    """Return the name of a role as a label that recall recognises, or "Other"."""
    name = role if isinstance(role, str) else ""
    known = _SPEAKERS.get(name, name[:1].upper() + name[1:])
    return known if label_of(f"{known}: ") == known else "Other"


def order_messages(
    parents: Mapping[str, str | None], children: Mapping[str, Sequence[str]], current: object
) -> tuple[list[str], list[str]]:
    """Return the messages of the current branch, and the messages of all other branches, in reading order.

    Each message is returned exactly once, even if the links form cycles.

    Args:
        parents: Each message → the message that it answers, if known.
        children: Each message → the messages that answer it, in order.
        current: The last message of the current branch. If `current` is not a known message, the current
            branch starts at the last root and always continues with the last answer.
    """
    leaf = current if isinstance(current, str) and current in parents else _last(parents, children)
    main: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in main:
        main[leaf] = None
        leaf = parents[leaf]
    others: dict[str, None] = {}
    roots = [name for name, parent in parents.items() if parent is None or parent not in parents]
    stack = [*reversed(list(parents)), *reversed(roots)]
    seen: set[str] = set()
    while stack:
        name = stack.pop()
        if name in seen or name not in parents:
            continue
        seen.add(name)
        if name not in main:
            others[name] = None
        stack.extend(reversed(children.get(name, ())))
    return [*reversed(main)], list(others)


def _last(parents: Mapping[str, str | None], children: Mapping[str, Sequence[str]]) -> str | None:
    """Return the last message of the branch from the last root, always continued with the last answer."""
    roots = [name for name, parent in parents.items() if parent is None or parent not in parents]
    here = roots[-1] if roots else next(iter(parents), None)
    seen: set[str] = set()
    while here is not None and here not in seen:
        seen.add(here)
        following = [name for name in children.get(here, ()) if name in parents and name not in seen]
        here = following[-1] if following else here
    return here


def text_of(value: Any) -> str:
    """Return the value if it is a string, otherwise an empty string."""
    return value if isinstance(value, str) else ""


def list_of(value: Any, kind: type[_T]) -> list[_T]:
    """Return those members of a list that have the type `kind`, or [] if the value is not a list."""
    return [member for member in value if isinstance(member, kind)] if isinstance(value, list) else []
