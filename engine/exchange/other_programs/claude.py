"""Import the `conversations.json` and `memories.json` of Claude's data export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from engine.commands.sequence import STEP
from engine.exchange.other_programs.base import Item, Omitted, checked_key, split_text
from engine.exchange.other_programs.conversations import Conversation, Message, items, list_of, text_of
from engine.exchange.other_programs.strict_json import read_items
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.field_values import created_from_text

FORM: Final = "claude"
MEMORIES: Final = f"{FORM}/memory"

_CONVERSATION: Final = frozenset({"chat_messages", "created_at", "name", "uuid"})
_MESSAGE: Final = frozenset({"attachments", "content", "created_at", "sender", "text", "uuid"})
_ATTACHMENT: Final = frozenset({"extracted_content", "file_name"})
_MEMORIES: Final = frozenset({"conversations_memory", "project_memories"})


def read(path: Path) -> Iterator[Item | Omitted | Skipped]:
    """Yield the messages of each conversation and the texts of their attachments, or Claude's memories."""
    return read_items(path, _item)


def _item(value: Any, where: str, number: int) -> Iterator[Item | Omitted | Skipped]:
    is_memories = isinstance(value, dict) and not _MEMORIES.isdisjoint(value)
    return _memories(value, where, number) if is_memories else _conversation(value, where, number)


def _memories(value: Mapping[str, Any], where: str, number: int) -> Iterator[Item | Omitted | Skipped]:
    yield Omitted(tuple(key for key in value if key not in _MEMORIES))
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


def _conversation(value: Any, where: str, number: int) -> Iterator[Item | Omitted | Skipped]:
    chat_messages = value.get("chat_messages") if isinstance(value, dict) else None
    if not isinstance(chat_messages, list):
        raise BadItemError("not a conversation: `chat_messages` is missing")
    source = f"{FORM}/{checked_key(value.get('uuid'), '`uuid`')}"
    conversation = Conversation(where, number, source, text_of(value.get("name")), _time(value))
    yield Omitted(tuple(f"conversation.{key}" for key in value if key not in _CONVERSATION and value[key]))
    messages = []
    for place, message in enumerate(chat_messages, 1):
        if not isinstance(message, dict):
            yield Skipped(where, f"message {place}: not a JSON object", number)
            continue
        text, omitted = _text(message)
        yield Omitted(
            (*omitted, *(f"message.{key}" for key in message if key not in _MESSAGE and message[key]))
        )
        key = text_of(message.get("uuid")) or f"message {place}"
        messages.append(Message(key, message.get("sender"), text, _time(message)))
        for at, attachment in enumerate(list_of(message.get("attachments"), dict), 1):
            yield Omitted(tuple(f"attachment.{name}" for name in attachment if name not in _ATTACHMENT))
            content = text_of(attachment.get("extracted_content"))
            name = text_of(attachment.get("file_name"))
            messages.append(
                Message(f"{key}/attachment/{at}", "Attachment", content, _time(message), title=name)
            )
    yield from items(conversation, messages)


def _text(message: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a message, and the names of its blocks that are not text."""
    blocks = list_of(message.get("content"), dict)
    texts = [text_of(block.get("text")) for block in blocks if block.get("type", "text") == "text"]
    types = [f"block of type {text_of(block.get('type'))[:40] or 'unknown'}" for block in blocks]
    whole = text_of(message.get("text"))
    joined = "\n\n".join(text for text in texts if text)
    return whole if whole.strip() else joined, tuple(name for name in types if name != "block of type text")


def _time(fields: Mapping[str, Any]) -> int | None:
    return created_from_text(text_of(fields.get("created_at")))
