"""What a proof has shown, as plain values for JSON: nothing in it is a control character on its way out."""

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


def to_plain(shown: Verified) -> dict[str, Any]:
    """A verified fact as a dictionary: the claim in words, what kind of fact, and its details.

    Bytes are in hex, ids are UUIDs, times are µs since 1970 in UTC.
    """
    details = {
        field.name: _plain(getattr(shown, field.name)) for field in fields(shown) if field.name != "claim"
    }
    found = {"claim": " ".join(words_of(shown.claim)), "shows": type(shown).__name__, **details}
    if isinstance(shown.claim, (AtomsMentioning, NoneMentioning)):
        found["about"] = "the analysed term, not the word: a word is found by its terms"
    return found


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
