"""What proofs show, as JSON: only hex strings, numbers, texts, lists and objects."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from proofs.verified import ListedAtom, Verified


def shown(fact: Verified) -> dict[str, Any]:
    """A fact without its claim: what kind it is, and its fields by name."""
    return {"shows": type(fact).__name__, **named(fact)}


def named(given: Verified | ListedAtom) -> dict[str, Any]:
    """The fields of a dataclass but its claim."""
    return {one.name: plain(getattr(given, one.name)) for one in fields(given) if one.name != "claim"}


def plain(value: Any) -> Any:
    """Bytes in hex, members of enums as their numbers."""
    if isinstance(value, ListedAtom):
        return named(value)
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return {name: plain(one) for name, one in value._asdict().items()}
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return value.hex()
    return int(value) if isinstance(value, int) else value
