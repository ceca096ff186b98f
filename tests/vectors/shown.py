"""Shown facts as JSON of hex strings, numbers, texts, lists and objects only."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from proofs.verified import ListedAtom, ListedEdge, Verified


def shown(fact: Verified) -> dict[str, Any]:
    """Return the type and the fields of a fact, without its claim."""
    return {"shows": type(fact).__name__, **named(fact)}


def named(given: Verified | ListedAtom | ListedEdge) -> dict[str, Any]:
    """Return the fields of a dataclass as a dictionary, without the field `claim`."""
    return {one.name: plain(getattr(given, one.name)) for one in fields(given) if one.name != "claim"}


def plain(value: Any) -> Any:
    """Return a value as JSON: bytes in hex, members of enums as numbers."""
    if isinstance(value, (ListedAtom, ListedEdge)):
        return named(value)
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            # Only the header of a revision has this field.
            absent = {"replaced"} if getattr(value, "replaced", 0) is None else set[str]()
            return {name: plain(one) for name, one in value._asdict().items() if name not in absent}
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return value.hex()
    return int(value) if isinstance(value, int) else value
