"""The leaves of the trees of `atoms` and `edges` (SPEC, section 3.7)."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from proofs import limits
from proofs.codec import pack, unpack
from proofs.forms import fields, sized, uint


class State(IntEnum):
    """The state of an atom or an edge. The numbers are hashed, so members are only appended."""

    LIVE = 0
    TOMBSTONED = 1
    ERASED = 2


class EdgeType(IntEnum):
    """The built-in edge types. Their numbers are stored, so new types are only added at the end."""

    RELATED_TO = 1
    DERIVED_FROM = 2
    CONTRADICTS = 3
    SUPERSEDES = 4
    PART_OF = 5
    REFERENCES = 6


class Value(NamedTuple):
    """The value in a leaf of `atoms` or `edges`."""

    state: int
    ordinal: int
    """The ordinal of the atom's current content, or 0 for an edge."""
    version: int
    created_seq: int
    payload_seq: int
    last_seq: int
    commitment: bytes
    """The commitment of the payload at `payload_seq`."""


_SEQ = uint(limits.SEQ_MAX)
_FIELDS: Final = (uint(max(State)), uint(limits.ORDINAL_MAX), uint(), _SEQ, _SEQ, _SEQ, sized(32))


def encode_value(value: Value) -> bytes:
    """Return the canonical bytes of the value of a leaf."""
    return pack(list(value))


def decode_value(raw: bytes, where: str) -> Value:
    """Decode the value of a leaf; `where` names it in the error.

    Raises:
        FormError: the bytes are not the canonical encoding of a value.
    """
    return Value(*fields(unpack(raw, where), _FIELDS, where))


def edge_key(src: bytes, code: bytes, dst: bytes) -> bytes:
    """Return the key of an edge in the tree of `edges`. The tree has one key per edge, source first."""
    return src + code + dst
