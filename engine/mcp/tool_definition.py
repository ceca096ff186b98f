"""The parts of a server profile as plain data: tools, resources and prompts.

This module, and the top level of every module that defines a profile, import only the standard library
and small modules of the engine, because a client waits for the first answer of a new process. Functions
import what they need when they run. `engine.mcp.profiles` lists the profiles by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.base.json_text import dumped

if TYPE_CHECKING:
    from engine.engine import Engine

Arguments = dict[str, Any]
"""The arguments of a call, validated against the tool's input schema, with defaults filled in."""

Fields = dict[str, Any]
"""A JSON object. The answer is sent twice: as structured content and as text."""

Schema = dict[str, Any]
"""A JSON Schema with bounds. It must be short, because clients send it to the model in each conversation."""


def text(about: str = "", *, most: int) -> Schema:
    """Return the schema of a text of up to `most` characters, with a description.

    The schema accepts blank texts; the engine rejects them later.
    """
    return described({"type": "string", "maxLength": most}, about)


def number(about: str = "", *, most: int, least: int = 0, default: int | None = None) -> Schema:
    """Return the schema of an integer in the range from `least` to `most`, with a description."""
    schema: Schema = {"type": "integer", "minimum": least, "maximum": most}
    return described(schema if default is None else {**schema, "default": default}, about)


def texts(about: str = "", *, each: int, most: int) -> Schema:
    """Return the schema of a list of at most `most` texts, each of at most `each` characters."""
    return described({"type": "array", "items": text(most=each), "maxItems": most}, about)


def described(schema: Schema, about: str) -> Schema:
    """Return a schema to which the description `about` was added, unless `about` is empty."""
    return {**schema, "description": about} if about else schema


def members(properties: Mapping[str, Schema], *required: str) -> Schema:
    """Return the schema of an object with these properties and no others."""
    schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the server.

    `run` is called with the open memory in a worker thread, possibly in several threads at the same
    time. It returns the whole answer, or raises an error of the `EngineError` family. The error becomes an
    answer with `isError` and `{"error": {"code", "message", "hint"}}`. `run` must not keep state between
    calls, must not use the memory after it returns, and must treat every argument as data, never as a path or
    an address.
    """

    name: str
    """The name, which matches `[a-z][a-z0-9_]{0,39}`."""
    description: str
    """One or two sentences for a language model.

    They must be short: clients send them in each conversation.
    """
    input: Mapping[str, Any]
    """A JSON Schema of type object, without additional properties, with bounds on every value."""
    run: Callable[[Engine, Arguments], Fields | str]
    """A function that returns a JSON object if `output` is a schema, else a text."""
    output: Mapping[str, Any] | None = None
    """A short JSON Schema of type object that every answer matches; None if answers are text only.

    Some clients show a model only the text of an answer, and others only the structured content. An answer
    that is text only costs the same in all clients.
    """
    writes: bool = False
    """True if the tool may append events.

    A server with `--read-only` does not offer such a tool and refuses calls of it.
    """
    destructive: bool = False
    """True if the tool removes or hides something. Only relevant for tools that write."""
    text: Callable[[Fields], str] = dumped
    """A function that returns the text block of an answer; by default, the JSON of the structured content."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource. `uri` may contain one placeholder `{name}`.

    The value of the placeholder is passed to `read`; without a placeholder, `read` gets "".
    """

    uri: str
    name: str
    description: str
    read: Callable[[Engine, str], str]
    """A function that returns the text of the resource, given the memory and the value of the placeholder.

    The function raises NotFoundError if the resource does not exist.
    """
    mime_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt template for the user; it does not read the memory. All arguments are required."""

    name: str
    description: str
    arguments: Mapping[str, str]
    """The description of each argument by name."""
    render: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Profile:
    """The tools, resources and prompts that a server offers."""

    name: str
    instructions: str
    tools: tuple[Tool, ...]
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    error_text: Callable[[str, Fields], str] | None = None
    """A function that returns the text of an error, given the name of the tool and the error's members.

    If it is None, an error is a JSON object with the members `code`, `message` and `hint`.
    """
