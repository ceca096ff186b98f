"""Canonical bytes of events: one encoding for each value, and nothing else is accepted.

Deterministic CBOR (RFC 8949 section 4.2.1) restricted to arrays, unsigned integers, byte strings,
text and null. Decoding re-encodes and compares, because cbor2 by itself accepts long forms,
indefinite lengths and trailing bytes. Only an edge's opaque data may hold maps; `canonical` of cbor2
orders their keys by length first, as RFC 7049 does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cbor2

from engine import limits
from engine.errors import CorruptionError
from engine.events import (
    RESERVED_KINDS,
    AtomBody,
    AtomDetail,
    Body,
    CheckpointBody,
    CheckpointDetail,
    Detail,
    EdgeBody,
    EdgeDetail,
    EventKind,
    GenesisBody,
    GenesisDetail,
    Header,
    ReasonBody,
    TagsBody,
    TypeBody,
    TypeDetail,
)
from engine.layout import FORMAT, NAMESPACES

SALT_BYTES = 32

Check = Callable[[Any], bool]

_UNDECODABLE = (cbor2.CBORError, ValueError, TypeError, OverflowError, MemoryError, RecursionError, EOFError)


def pack(value: Any) -> bytes:
    """The canonical CBOR bytes of `value`."""
    return cbor2.dumps(value, canonical=True)


def unpack(raw: bytes, where: str) -> Any:
    """The value whose canonical bytes are `raw`; `where` names the row in the error.

    Raises:
        CorruptionError: not CBOR, or not the canonical bytes of what it decodes to.
    """
    try:
        value = cbor2.loads(raw)
        same = cbor2.dumps(value, canonical=True) == raw
    except _UNDECODABLE as error:
        raise CorruptionError(f"{where}: not decodable: {error}") from error
    if not same:
        raise CorruptionError(f"{where}: not in canonical form")
    return value


def uint(most: int = limits.INTEGER_MAX) -> Check:
    """Accepts integers from 0 to `most`; booleans are not integers here."""
    return lambda value: type(value) is int and 0 <= value <= most


def sized(size: int) -> Check:
    """Accepts byte strings of exactly `size` bytes."""
    return lambda value: type(value) is bytes and len(value) == size


def raw_up_to(most: int) -> Check:
    """Accepts byte strings of at most `most` bytes."""
    return lambda value: type(value) is bytes and len(value) <= most


def text(most: int) -> Check:
    """Accepts text of at most `most` UTF-8 bytes."""
    return lambda value: type(value) is str and (len(value) * 4 <= most or len(value.encode()) <= most)


def optional(check: Check) -> Check:
    """Accepts null, or what `check` accepts."""
    return lambda value: value is None or check(value)


def many(check: Check, most: int) -> Check:
    """Accepts arrays of at most `most` items that `check` accepts."""
    return lambda value: type(value) is list and len(value) <= most and all(map(check, value))


def edge_code(value: Any) -> bool:
    """Accepts a type code: one byte 0x01 to 0x7F, or two bytes of which the first is 0x80 or more."""
    if type(value) is not bytes:
        return False
    return (len(value) == 1 and 0 < value[0] < 0x80) or (len(value) == 2 and value[0] >= 0x80)


def fields(value: Any, checks: tuple[Check, ...], where: str) -> list[Any]:
    """`value` itself, if it is an array whose items satisfy `checks` one by one.

    Raises:
        CorruptionError: it is not; the position is named.
    """
    if type(value) is not list or len(value) != len(checks):
        raise CorruptionError(f"{where}: not an array of {len(checks)} fields")
    for position, (item, check) in enumerate(zip(value, checks, strict=True)):
        if not check(item):
            raise CorruptionError(f"{where}: field {position} is out of form")
    return value


_ID = sized(16)
_HASH = sized(32)
_ORDINAL = uint(limits.ORDINAL_MAX)
_LABEL = text(limits.LABEL_CHARS_MAX)

HEADER_FIELDS: tuple[Check, ...] = (
    uint(255),
    uint(limits.SEQ_MAX),
    uint(),
    uint(255),
    _LABEL,
    _HASH,
    optional(uint(limits.SEQ_MAX)),
)
_ATOM_DETAIL: tuple[Callable[..., Detail], tuple[Check, ...]] = (
    AtomDetail,
    (_ID, _ORDINAL, optional(_ORDINAL)),
)
_EDGE_DETAIL: tuple[Callable[..., Detail], tuple[Check, ...]] = (EdgeDetail, (_ID, edge_code, _ID))
DETAILS: dict[EventKind, tuple[Callable[..., Detail], tuple[Check, ...]]] = {
    EventKind.GENESIS: (GenesisDetail, (sized(16), _LABEL, _HASH)),
    EventKind.ATOM_ADDED: _ATOM_DETAIL,
    EventKind.ATOM_REVISED: _ATOM_DETAIL,
    EventKind.ATOM_TOMBSTONED: _ATOM_DETAIL,
    EventKind.ATOM_REVIVED: _ATOM_DETAIL,
    EventKind.TAGS_ADDED: _ATOM_DETAIL,
    EventKind.TAGS_REMOVED: _ATOM_DETAIL,
    EventKind.EDGE_TYPE_REGISTERED: (TypeDetail, (edge_code,)),
    EventKind.EDGE_ADDED: _EDGE_DETAIL,
    EventKind.EDGE_REMOVED: _EDGE_DETAIL,
    EventKind.CHECKPOINT: (CheckpointDetail, (_HASH,)),
}

_TAGS = many(text(limits.TAG_BYTES_MAX), limits.TAGS_PER_ATOM_MAX)
_ATOM_BODY: tuple[Callable[..., Body], tuple[Check, ...]] = (
    AtomBody,
    (
        text(limits.CONTENT_BYTES_MAX),
        optional(text(limits.TITLE_BYTES_MAX)),
        _LABEL,
        _TAGS,
        many(_LABEL, limits.BUCKETS_PER_ATOM_MAX),
        optional(text(limits.SOURCE_BYTES_MAX)),
        optional(uint()),
        _LABEL,
        optional(uint(limits.TRUST_MAX)),
        optional(uint()),
        uint(),
        optional(text(limits.KEY_BYTES_MAX)),
    ),
)
_REASON: tuple[Callable[..., Body], tuple[Check, ...]] = (ReasonBody, (text(limits.REASON_BYTES_MAX),))
BODIES: dict[EventKind, tuple[Callable[..., Body], tuple[Check, ...]]] = {
    EventKind.GENESIS: (GenesisBody, (_HASH,)),
    EventKind.ATOM_ADDED: _ATOM_BODY,
    EventKind.ATOM_REVISED: _ATOM_BODY,
    EventKind.ATOM_TOMBSTONED: _REASON,
    EventKind.ATOM_REVIVED: _REASON,
    EventKind.TAGS_ADDED: (TagsBody, (_TAGS,)),
    EventKind.TAGS_REMOVED: (TagsBody, (_TAGS,)),
    EventKind.EDGE_TYPE_REGISTERED: (TypeBody, (_LABEL,)),
    EventKind.EDGE_ADDED: (EdgeBody, (sized(4), raw_up_to(limits.EDGE_DATA_BYTES_MAX))),
    EventKind.EDGE_REMOVED: _REASON,
    EventKind.CHECKPOINT: (CheckpointBody, (many(_HASH, len(NAMESPACES)),)),
}


def encode_header(header: Header) -> bytes:
    """The bytes the log commits to."""
    seq, time, kind, actor, commitment, prev, detail = header
    return cbor2.dumps([FORMAT, seq, time, int(kind), actor, commitment, prev, *detail], canonical=True)


def decode_header(raw: bytes, seq: int) -> Header:
    """The header stored at `seq`.

    Raises:
        CorruptionError: not the canonical bytes of a header of this format with this seq.
    """
    try:
        return _decode_header(raw, seq, f"journal header {seq}")
    except CorruptionError as error:
        error.family, error.seq = "journal", seq
        raise


def _decode_header(raw: bytes, seq: int, where: str) -> Header:
    value = unpack(raw, where)
    if type(value) is not list or len(value) <= len(HEADER_FIELDS):
        raise CorruptionError(f"{where}: not an array of a header's length")
    common = fields(value[: len(HEADER_FIELDS)], HEADER_FIELDS, where)
    if common[0] != FORMAT:
        raise CorruptionError(f"{where}: format {common[0]}, this version reads format {FORMAT}")
    if common[1] != seq:
        raise CorruptionError(f"{where}: says it is {common[1]}")
    if common[3] in RESERVED_KINDS or common[3] not in DETAILS:
        name = RESERVED_KINDS.get(common[3], "unknown")
        raise CorruptionError(
            f"{where}: event kind {common[3]} ({name}) is not one this version knows",
            hint="open the store with the version that wrote it, or a later one",
        )
    kind = EventKind(common[3])
    make, checks = DETAILS[kind]
    detail = make(*fields(value[len(HEADER_FIELDS) :], checks, where))
    return Header(common[1], common[2], kind, common[4], common[5], common[6], detail)


def encode_body(body: Body) -> bytes:
    """The canonical bytes of a body: an array of its fields."""
    return cbor2.dumps(list(body), canonical=True)


def decode_body(kind: EventKind, raw: bytes, where: str) -> Body:
    """The body of an event of `kind`.

    Raises:
        CorruptionError: not the canonical bytes of such a body.
    """
    make, checks = BODIES[kind]
    values = fields(unpack(raw, where), checks, where)
    return make(*(tuple(value) if type(value) is list else value for value in values))
