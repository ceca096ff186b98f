"""The engine's own rules for text, asked instead of enforced: one bad piece must not spoil a file."""

from __future__ import annotations

from engine.base import validation as rules
from engine.base.errors import InvalidInputError
from engine.base.limits import SOURCE_BYTES_MAX, TITLE_BYTES_MAX


def border(text: str) -> str | None:
    """Why the engine would refuse `text` as content, or None if it would take it."""
    try:
        rules.content(text)
    except InvalidInputError as error:
        return str(error)
    return None


def source_fault(source: str) -> str | None:
    """Why the engine would refuse `source` as a source, or None if it would take it."""
    try:
        rules.optional_line(source, "source", SOURCE_BYTES_MAX)
    except InvalidInputError as error:
        return str(error)
    return None


def title_of(text: str) -> str | None:
    """`text` as a title: on one line, cut to `TITLE_BYTES_MAX`; None if blank or not fit to be stored."""
    line = " ".join(text[:TITLE_BYTES_MAX].split())
    title = line.encode("utf-8", "replace")[:TITLE_BYTES_MAX].decode("utf-8", "ignore").rstrip()
    try:
        return rules.optional_line(title, "title", TITLE_BYTES_MAX) if title else None
    except InvalidInputError:
        return None


def tag_of(text: str) -> str | None:
    """`text` as a tag in its kept form, without slashes at its ends; None if it cannot be one."""
    try:
        return rules.tag(text.strip().lstrip("#").strip("/"))
    except InvalidInputError:
        return None


def is_line(text: str, bytes_max: int) -> bool:
    """Whether `text` could be stored as one line of at most `bytes_max` bytes."""
    try:
        rules.line(text, "text", bytes_max)
    except InvalidInputError:
        return False
    return True
