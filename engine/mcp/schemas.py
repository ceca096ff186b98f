"""JSON Schemas with bounds, written shortly: every token of them is paid in every conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]


def text(*, most: int) -> Schema:
    """A text of up to `most` characters. That one must not be blank is left to the engine to say."""
    return {"type": "string", "maxLength": most}


def number(*, most: int, least: int = 0, default: int | None = None) -> Schema:
    """A whole number from `least` to `most`."""
    schema = {"type": "integer", "minimum": least, "maximum": most}
    return schema if default is None else {**schema, "default": default}


def texts(*, each: int, most: int) -> Schema:
    """A list of up to `most` texts of up to `each` characters."""
    return {"type": "array", "items": text(most=each), "maxItems": most}


def members(properties: Mapping[str, Schema], *required: str) -> Schema:
    """An object with these properties and no others."""
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema
