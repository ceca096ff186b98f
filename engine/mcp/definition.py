"""What a profile of the server is made of: tools, resources and prompts, as plain data.

Nothing here, and nothing at the top of a module that defines a profile, imports more than the standard
library and light modules of ours: a client waits for the first answer of a process. Functions import what
they need when they run. `engine.mcp.profiles` lists the profiles by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.base.json_text import dumped

if TYPE_CHECKING:
    from engine.engine import Engine

Arguments = dict[str, Any]
"""The arguments of a call: they have been checked against the tool's input schema, defaults filled in."""

Fields = dict[str, Any]
"""An answer, of the types of JSON: handed out as structured content, and as its text."""

Schema = dict[str, Any]
"""A JSON Schema, with bounds, written shortly: every token of it is paid in every conversation."""


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


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    `run` is called in a worker thread, possibly in several at once, with the open memory. It returns the
    whole answer, or raises an error of the `EngineError` family, which becomes an answer with `isError`
    and `{"error": {"code", "message", "hint"}}`. It must keep nothing between calls, hold on to nothing
    of the memory after it returned, and treat every argument as data: never as a path or an address.
    """

    name: str
    """`[a-z][a-z0-9_]{0,39}`."""
    description: str
    """One or two sentences for a language model; every token is paid in every conversation."""
    input: Mapping[str, Any]
    """A JSON Schema of type object, without further properties, with bounds on everything."""
    output: Mapping[str, Any]
    """A JSON Schema of type object that every answer meets; lean."""
    run: Callable[[Engine, Arguments], Fields]
    writes: bool = False
    """Whether it may append events: not offered, and refused, with `--read-only`."""
    idempotent: bool = True
    """Whether a second call with the same arguments changes nothing more. Counts where it writes."""
    destructive: bool = False
    """Whether it takes something away (or hides it). Counts where it writes."""
    text: Callable[[Fields], str] = dumped
    """The text block of an answer; by default the same JSON as the structured content."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One thing to read. `uri` may have one `{name}`; what stands there is given to `read`, else ""."""

    uri: str
    name: str
    description: str
    read: Callable[[Engine, str], str]
    """(memory, what stands in the place of `{name}`) → text. Raises NotFoundError where there is none."""
    mime_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text for the user to begin with; needs no memory. All arguments are required."""

    name: str
    description: str
    arguments: Mapping[str, str]
    """Name → what it is."""
    render: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Profile:
    """What a server offers."""

    name: str
    instructions: str
    tools: tuple[Tool, ...]
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
