"""The leaves of `atoms` and `edges`: what a root says of one atom or edge (SPEC, section 3.7)."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from proofs import limits
from proofs.codec import pack, unpack
from proofs.forms import fields, sized, uint


class State(IntEnum):
    """What may be done with an atom or an edge. The numbers are hashed: append only."""

    LIVE = 0
    TOMBSTONED = 1
    ERASED = 2


class EdgeType(IntEnum):
    """The built-in edge types ("Edges & Graph"): a closed, append-only enum; the numbers are stored."""

    RELATED_TO = 1
    DERIVED_FROM = 2
    CONTRADICTS = 3
    SUPERSEDES = 4
    PART_OF = 5
    REFERENCES = 6


class Value(NamedTuple):
    """What a leaf of `atoms` or `edges` says of its subject."""

    state: int
    ordinal: int
    """0 for an edge."""
    version: int
    created_seq: int
    payload_seq: int
    last_seq: int
    commitment: bytes
    """Of the payload at `payload_seq`."""


_SEQ = uint(limits.SEQ_MAX)
_FIELDS: Final = (uint(max(State)), uint(limits.ORDINAL_MAX), uint(), _SEQ, _SEQ, _SEQ, sized(32))


def encode_value(value: Value) -> bytes:
    """The bytes of a leaf."""
    return pack(list(value))


def decode_value(raw: bytes, where: str) -> Value:
    """The value whose bytes are `raw`; `where` names it in the error.

    Raises:
        FormError: not the canonical bytes of a value.
    """
    return Value(*fields(unpack(raw, where), _FIELDS, where))


def edge_key(src: bytes, code: bytes, dst: bytes) -> bytes:
    """The key of an edge in the tree of `edges`: the forward direction only."""
    return src + code + dst
