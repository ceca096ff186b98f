"""Import the data exports of ChatGPT and Claude: `conversations.json`, and `memories.json` of Claude.

The messages become items in reading order. ChatGPT's memories are not in its export.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from engine.commands.sequence import STEP
from engine.exchange.other_programs.program_items import Item, Omitted, checked_key, read_items, split_text
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.field_values import checked_source, created_from_text, created_from_value, title_of
from engine.text.speaker_labels import label_of

_T = TypeVar("_T")

OTHER_BRANCH: Final = "other-branch"
"""The tag of messages on abandoned branches, which arise from regenerated answers and edited messages."""

_BRANCHES_FROM: Final = 1 << 40
"""The first sequence number of messages on abandoned branches.

It is so large that the numbers of these messages do not change when the current branch becomes longer.
"""

_SPEAKERS: Final = {"human": "User", "user": "User", "assistant": "Assistant"}

CHATGPT: Final = "chatgpt"

_CHATGPT_CONVERSATION: Final = frozenset(
    {"conversation_id", "create_time", "current_node", "id", "mapping", "title"}
)
_CHATGPT_MESSAGE: Final = frozenset({"author", "content", "create_time", "id"})
_CHATGPT_CONTENT: Final = frozenset({"content_type", "parts", "text"})

CLAUDE: Final = "claude"
MEMORIES: Final = f"{CLAUDE}/memory"

_CLAUDE_CONVERSATION: Final = frozenset({"chat_messages", "created_at", "name", "uuid"})
_CLAUDE_MESSAGE: Final = frozenset({"attachments", "content", "created_at", "sender", "text", "uuid"})
_ATTACHMENT: Final = frozenset({"extracted_content", "file_name"})
_MEMORIES: Final = frozenset({"conversations_memory", "project_memories"})


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
    title = _SPEAKERS.get(name, name[:1].upper() + name[1:])
    return title if label_of(f"{title}: ") == title else "Other"


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
    """Return the last message of the branch that starts at the last root and follows the last answers."""
    following: Sequence[str] = [name for name, parent in parents.items() if parent not in parents]
    here, seen = next(iter(parents), None), set[str]()
    while new := [name for name in following if name in parents and name not in seen]:
        here = new[-1]
        seen.add(here)
        following = children.get(here, ())
    return here


def text_of(value: Any) -> str:
    """Return the value if it is a string, otherwise an empty string."""
    return value if isinstance(value, str) else ""


def list_of(value: Any, kind: type[_T]) -> list[_T]:
    """Return those members of a list that have the type `kind`, or [] if the value is not a list."""
    return [member for member in value if isinstance(member, kind)] if isinstance(value, list) else []


def _unread(what: str, fields: Mapping[str, Any], known: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the fields that have a value but are not imported."""
    return tuple(f"{what}{key}" for key, value in fields.items() if key not in known and value)


def read_chatgpt(path: Path) -> Iterator[Item | Omitted | Skipped]:
    """Yield the messages of each conversation: the current branch, then the other branches with a tag."""
    return read_items(path, _chatgpt_conversation)


def _chatgpt_conversation(value: Any, where: str, number: int) -> Iterator[Item | Omitted | Skipped]:
    mapping = value.get("mapping") if isinstance(value, dict) else None
    if not isinstance(mapping, dict):
        raise BadItemError("not a conversation: `mapping` is missing")
    name = next(
        (value[key] for key in ("conversation_id", "id") if text_of(value.get(key))), next(iter(mapping), "")
    )
    conversation = Conversation(
        where, number, f"{CHATGPT}/{name}", text_of(value.get("title")), _chatgpt_time(value)
    )
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    for key in mapping.keys() - nodes.keys():
        yield Skipped(where, f"message {key!a:.80}: not a JSON object", number)
    yield Omitted(_unread("conversation.", value, _CHATGPT_CONVERSATION))
    parents = {key: text_of(node.get("parent")) or None for key, node in nodes.items()}
    children = {key: list_of(node.get("children"), str) for key, node in nodes.items()}
    main, others = order_messages(parents, children, value.get("current_node"))
    messages = []
    for branch, keys in ((False, main), (True, others)):
        for key in keys:
            message = nodes[key].get("message")
            if isinstance(message, dict):
                text, omitted = _chatgpt_text(message)
                messages.append(Message(key, _chatgpt_author(message), text, _chatgpt_time(message), branch))
                yield Omitted(omitted)
            elif message is not None:
                yield Skipped(where, f"message {key!a:.80}: not a JSON object", number)
    yield from items(conversation, messages)


def _chatgpt_author(message: Mapping[str, Any]) -> str:
    author = message.get("author")
    return text_of(author.get("role")) if isinstance(author, dict) else ""


def _chatgpt_time(fields: Mapping[str, Any]) -> int | None:
    value = fields.get("create_time")
    return None if isinstance(value, str) else created_from_value(value or None)


def _chatgpt_text(message: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a message, and the names of its parts that are not text."""
    omitted = [*_unread("message.", message, _CHATGPT_MESSAGE)]
    content = message.get("content")
    if not isinstance(content, dict):
        return text_of(content), tuple(omitted)
    omitted += _unread("content.", content, _CHATGPT_CONTENT)
    parts = content.get("parts")
    parts = parts if isinstance(parts, list) else [content.get("text")]
    for part in parts:
        if isinstance(part, dict):
            omitted.append(f"part of type {text_of(part.get('content_type'))[:40] or 'unknown'}")
        elif part is not None and not isinstance(part, str):
            omitted.append("part that is not text")
    texts = [part for part in map(_chatgpt_part, parts) if part]
    return "\n\n".join(texts), tuple(omitted)


def _chatgpt_part(part: Any) -> str:
    """Return the text of a part: a string, or an object with `text`, such as a speech transcription."""
    return text_of(part.get("text")) if isinstance(part, dict) else text_of(part)


def read_claude(path: Path) -> Iterator[Item | Omitted | Skipped]:
    """Yield the messages of each conversation and the texts of their attachments, or Claude's memories."""
    return read_items(path, _claude_item)


def _claude_item(value: Any, where: str, number: int) -> Iterator[Item | Omitted | Skipped]:
    is_memories = isinstance(value, dict) and not _MEMORIES.isdisjoint(value)
    return (
        _claude_memories(value, where, number) if is_memories else _claude_conversation(value, where, number)
    )


def _claude_memories(value: Mapping[str, Any], where: str, number: int) -> Iterator[Item | Omitted | Skipped]:
    yield Omitted(_unread("", value, _MEMORIES))
    projects = value.get("project_memories")
    named = [("conversations", value.get("conversations_memory"))]
    if isinstance(projects, dict):
        named += [(f"project/{key}", text) for key, text in projects.items()]
    elif projects is not None:
        yield Skipped(where, "`project_memories` must be an object", number)
    for place, (name, text) in enumerate(named, 1):
        try:
            if text is not None and not isinstance(text, str):
                raise BadItemError("not a string")
            if text and text.strip():
                key = checked_key(name, "its id")
                yield Item(
                    where, number, MEMORIES, key, split_text(text), kind="memory", sequence=place * STEP
                )
        except BadItemError as error:
            yield Skipped(where, f"memory {name!a:.80}: {error}", number)


def _claude_conversation(value: Any, where: str, number: int) -> Iterator[Item | Omitted | Skipped]:
    chat_messages = value.get("chat_messages") if isinstance(value, dict) else None
    if not isinstance(chat_messages, list):
        raise BadItemError("not a conversation: `chat_messages` is missing")
    source = f"{CLAUDE}/{checked_key(value.get('uuid'), '`uuid`')}"
    conversation = Conversation(where, number, source, text_of(value.get("name")), _claude_time(value))
    yield Omitted(_unread("conversation.", value, _CLAUDE_CONVERSATION))
    messages = []
    for place, message in enumerate(chat_messages, 1):
        if not isinstance(message, dict):
            yield Skipped(where, f"message {place}: not a JSON object", number)
            continue
        text, omitted = _claude_text(message)
        yield Omitted((*omitted, *_unread("message.", message, _CLAUDE_MESSAGE)))
        key = text_of(message.get("uuid")) or f"message {place}"
        messages.append(Message(key, message.get("sender"), text, _claude_time(message)))
        for at, attachment in enumerate(list_of(message.get("attachments"), dict), 1):
            yield Omitted(_unread("attachment.", attachment, _ATTACHMENT))
            content = text_of(attachment.get("extracted_content"))
            name = text_of(attachment.get("file_name"))
            messages.append(
                Message(f"{key}/attachment/{at}", "Attachment", content, _claude_time(message), title=name)
            )
    yield from items(conversation, messages)


def _claude_text(message: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a message, and the names of its blocks that are not text."""
    blocks = list_of(message.get("content"), dict)
    texts = [text_of(block.get("text")) for block in blocks if block.get("type", "text") == "text"]
    types = [f"block of type {text_of(block.get('type'))[:40] or 'unknown'}" for block in blocks]
    whole = text_of(message.get("text"))
    joined = "\n\n".join(text for text in texts if text)
    return whole if whole.strip() else joined, tuple(name for name in types if name != "block of type text")


def _claude_time(fields: Mapping[str, Any]) -> int | None:
    return created_from_text(text_of(fields.get("created_at")))
