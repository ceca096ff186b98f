"""Import the `conversations.json` of ChatGPT's data export, which does not contain ChatGPT's memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from engine.exchange.other_programs.base import Item, Omitted
from engine.exchange.other_programs.conversations import (
    Conversation,
    Message,
    items,
    list_of,
    order_messages,
    text_of,
)
from engine.exchange.other_programs.strict_json import read_items
from engine.files.ingest.documents import BadItemError, Skipped
from engine.files.ingest.field_values import created_from_value

FORM: Final = "chatgpt"

_CONVERSATION: Final = frozenset({"conversation_id", "create_time", "current_node", "id", "mapping", "title"})
_MESSAGE: Final = frozenset({"author", "content", "create_time", "id"})
_CONTENT: Final = frozenset({"content_type", "parts", "text"})


def read(path: Path) -> Iterator[Item | Omitted | Skipped]:
    """Yield the messages of each conversation: the current branch, then the other branches with a tag."""
    return read_items(path, _conversation)


def _conversation(value: Any, where: str, number: int) -> Iterator[Item | Omitted | Skipped]:
    mapping = value.get("mapping") if isinstance(value, dict) else None
    if not isinstance(mapping, dict):
        raise BadItemError("not a conversation: `mapping` is missing")
    name = next(
        (value[key] for key in ("conversation_id", "id") if text_of(value.get(key))), next(iter(mapping), "")
    )
    conversation = Conversation(where, number, f"{FORM}/{name}", text_of(value.get("title")), _time(value))
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    for key in mapping.keys() - nodes.keys():
        yield Skipped(where, f"message {key!a:.80}: not a JSON object", number)
    yield Omitted(
        tuple(f"conversation.{key}" for key in value if key not in _CONVERSATION and value[key] is not None)
    )
    parents = {key: text_of(node.get("parent")) or None for key, node in nodes.items()}
    children = {key: list_of(node.get("children"), str) for key, node in nodes.items()}
    main, others = order_messages(parents, children, value.get("current_node"))
    messages = []
    for branch, keys in ((False, main), (True, others)):
        for key in keys:
            message = nodes[key].get("message")
            if isinstance(message, dict):
                text, omitted = _text(message)
                messages.append(Message(key, _author(message), text, _time(message), branch))
                yield Omitted(omitted)
            elif message is not None:
                yield Skipped(where, f"message {key!a:.80}: not a JSON object", number)
    yield from items(conversation, messages)


def _author(message: Mapping[str, Any]) -> str:
    author = message.get("author")
    return text_of(author.get("role")) if isinstance(author, dict) else ""


def _time(fields: Mapping[str, Any]) -> int | None:
    value = fields.get("create_time")
    return None if isinstance(value, str) else created_from_value(value or None)


def _text(message: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a message, and the names of its parts that are not text."""
    omitted = [
        f"message.{key}" for key in message if key not in _MESSAGE and message[key] not in (None, [], {})
    ]
    content = message.get("content")
    if not isinstance(content, dict):
        return text_of(content), tuple(omitted)
    omitted += [
        f"content.{key}" for key in content if key not in _CONTENT and content[key] not in (None, [], {})
    ]
    parts = content.get("parts")
    parts = parts if isinstance(parts, list) else [content.get("text")]
    for part in parts:
        if isinstance(part, dict):
            omitted.append(f"part of type {text_of(part.get('content_type'))[:40] or 'unknown'}")
        elif part is not None and not isinstance(part, str):
            omitted.append("part that is not text")
    texts = [part for part in map(_part, parts) if part]
    return "\n\n".join(texts), tuple(omitted)


def _part(part: Any) -> str:
    """Return the text of a part: a string, or an object with `text`, such as a speech transcription."""
    return text_of(part.get("text")) if isinstance(part, dict) else text_of(part)
