"""Conversion of verified facts to values that JSON can represent."""

from __future__ import annotations

import struct
from dataclasses import fields
from enum import IntEnum
from typing import Any
from uuid import UUID

from proofs.claims import AtomsMentioning, NoneMentioning
from proofs.verified import ListedAtom, Verified
from proofs.words import type_name, words_of

_IDS = frozenset({"id", "src", "dst", "store_id"})


def to_plain(fact: Verified) -> dict[str, Any]:
    """Return a verified fact as a dictionary: the claim in words, the type of the fact, and its details.

    Bytes are in hex, ids are UUIDs, times are µs since 1970 in UTC.
    """
    details = {
        field.name: _plain(getattr(fact, field.name)) for field in fields(fact) if field.name != "claim"
    }
    result = {"claim": " ".join(words_of(fact.claim)), "shows": type(fact).__name__, **details}
    if isinstance(fact.claim, (AtomsMentioning, NoneMentioning)):
        result["about"] = "the term after analysis, not the word; a word can have several terms"
    return result


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, ListedAtom):
        return {"id": _plain(value.id, "id"), "value": _plain(value.value), "tf": value.tf}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: _plain(item, key) for key, item in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        if name == "weight":
            return struct.unpack(">f", value)[0]
        if name == "type":
            return type_name(value)
        return str(UUID(bytes=value)) if name in _IDS and len(value) == 16 else value.hex()
    return value.name.lower() if isinstance(value, IntEnum) else value
