"""What schemathesis imports to make requests: bodies of lines, and ids of atoms that exist."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import schemathesis

IDS: Final = [f"2a410000-0000-4000-8000-{number:012}" for number in range(1, 9)]
"""The atoms of the memory that is attacked."""

_NAMES: Final = frozenset(
    ("id", "src", "dst", "keep", "other", "old", "new", "file", "hand", "subject", "object", "source", "of")
)
"""The names of parameters that are ids, or may be ids."""


def with_ids(value: Any, name: str = "") -> Any:
    """Return a JSON value in which most texts that should be ids are ids of atoms that exist."""
    if isinstance(value, dict):
        return {key: with_ids(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [with_ids(one, name) for one in value]
    replaced = name in _NAMES and isinstance(value, str) and random.random() < 0.7
    return random.choice(IDS) if replaced else value


@schemathesis.hook  # type: ignore[untyped-decorator, unused-ignore]
def map_body(context: Any, body: Any) -> Any:
    """Put ids into a body."""
    del context
    return with_ids(body)


@schemathesis.hook  # type: ignore[untyped-decorator, unused-ignore]
def map_query(context: Any, query: Any) -> Any:
    """Put ids into a query string."""
    del context
    return with_ids(query)


@schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator, unused-ignore]
def lines(context: Any, value: Any) -> Any:
    """Return a body of lines: one command, or several."""
    del context
    made = value if isinstance(value, list) else [value]
    return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in made)
