"""Canonical bytes of events: each value has one encoding, and no other encoding is accepted.

The encoding is deterministic CBOR (RFC 8949 section 4.2.1) restricted to arrays, unsigned integers, byte
strings, text and null; bodies may also have a negative `created` and a map of further fields at their end.
The decoder encodes each decoded value again and compares the bytes, because cbor2 alone accepts long
forms, indefinite lengths and trailing bytes. cbor2's `canonical` option sorts map keys by length first, as
RFC 7049 does; for the keys used here this is the order of their bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import cbor2

from proofs import limits
from proofs.events import (
    FACT_KINDS,
    RESERVED_KINDS,
    AtomBody,
    AtomDetail,
    AtomNotedBody,
    Body,
    CheckpointBody,
    CheckpointDetail,
    Detail,
    EdgeBody,
    EdgeDetail,
    EdgeNotedBody,
    ErasedBody,
    EventKind,
    FactBody,
    FactDetail,
    ForeignHeadBody,
    ForeignHeadDetail,
    GenesisBody,
    GenesisDetail,
    Header,
    Origin,
    ReasonBody,
    TagsBody,
    TypeBody,
    TypeDetail,
    further_numbers,
    read_further,
)
from proofs.forms import (
    Check,
    FormError,
    edge_code,
    fields,
    many,
    optional,
    predicate_code,
    raw_up_to,
    signed,
    sized,
    text,
    uint,
)
from proofs.hashing import DIGEST_BYTES, FORMAT, NAMESPACES

_UNDECODABLE = (cbor2.CBORError, ValueError, TypeError, OverflowError, MemoryError, RecursionError, EOFError)


pack: Callable[[Any], bytes] = partial(cbor2.dumps, canonical=True)
"""A function that returns the canonical CBOR bytes of a value."""


def unpack(raw: bytes, where: str) -> Any:
    """Return the value whose canonical bytes are `raw`; `where` names the stored row in error messages.

    Raises:
        FormError: the bytes are not CBOR, or not the canonical encoding of the value they decode to.
    """
    try:
        value = cbor2.loads(raw)
        same = cbor2.dumps(value, canonical=True) == raw
    except _UNDECODABLE as error:
        raise FormError(f"{where}: not valid CBOR: {error}") from error
    if not same:
        raise FormError(f"{where}: not in canonical form")
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
    (_ID, _ORDINAL),
)
_FACT_DETAIL: tuple[Callable[..., Detail], tuple[Check, ...]] = (FactDetail, (optional(_ID),))
_EDGE_DETAIL: tuple[Callable[..., Detail], tuple[Check, ...]] = (EdgeDetail, (_ID, edge_code, _ID))
DETAILS: dict[EventKind, tuple[Callable[..., Detail], tuple[Check, ...]]] = {
    EventKind.GENESIS: (GenesisDetail, (_ID, _LABEL, _HASH, _HASH, signed(1, limits.RULES_MAX))),
    EventKind.ATOM_ADDED: _ATOM_DETAIL,
    EventKind.ATOM_REVISED: (AtomDetail, (_ID, _ORDINAL, _ORDINAL)),
    EventKind.ATOM_TOMBSTONED: _ATOM_DETAIL,
    EventKind.ATOM_REVIVED: _ATOM_DETAIL,
    EventKind.TAGS_ADDED: _ATOM_DETAIL,
    EventKind.TAGS_REMOVED: _ATOM_DETAIL,
    EventKind.EDGE_TYPE_REGISTERED: (TypeDetail, (predicate_code,)),
    EventKind.EDGE_ADDED: _EDGE_DETAIL,
    EventKind.EDGE_REMOVED: _EDGE_DETAIL,
    EventKind.CHECKPOINT: (CheckpointDetail, (_HASH,)),
    EventKind.ERASED: _ATOM_DETAIL,
    EventKind.EDGE_ERASED: _EDGE_DETAIL,
    EventKind.FOREIGN_HEAD: (
        ForeignHeadDetail,
        (_ID, signed(1, limits.SEQ_MAX + 1), _HASH, optional(_HASH)),
    ),
    EventKind.VERSION_NOTED: _ATOM_DETAIL,
    EventKind.ATOM_NOTED: _ATOM_DETAIL,
    EventKind.EDGE_NOTED: _EDGE_DETAIL,
    **dict.fromkeys(FACT_KINDS, _FACT_DETAIL),
}
_HEADERS = {int(kind): (kind, make, HEADER_FIELDS + checks) for kind, (make, checks) in DETAILS.items()}
"""Kind number → the event kind, the class of its detail, and the checks of all header fields."""
_WIDTHS = {kind: len(checks) for kind, (_, checks) in DETAILS.items()}
"""Event kind → the number of fields of the detail in a header."""
_NO_SUBJECT = frozenset(
    {EventKind.GENESIS, EventKind.EDGE_TYPE_REGISTERED, EventKind.CHECKPOINT, EventKind.FOREIGN_HEAD}
)
"""The kinds of events that have no subject, besides facts without an atom. Their `prev` is null."""
NEVER_REPEATED = frozenset({EventKind.GENESIS, EventKind.CHECKPOINT})
"""The kinds of events that have no origin: they are about one store alone."""
ALWAYS_REPEATED = frozenset({EventKind.VERSION_NOTED, EventKind.ATOM_NOTED, EventKind.EDGE_NOTED})
"""The kinds of events that always have an origin: what another store stated, and has no effect here."""
ORIGIN_FIELDS: tuple[Check, ...] = (_ID, uint(limits.SEQ_MAX), uint(255), _HASH, uint())
"""The checks of the fields of an origin."""

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
        optional(signed(limits.CREATED_MIN, limits.CREATED_MAX)),
        optional(uint()),
        optional(text(limits.KEY_BYTES_MAX)),
    ),
)
_FACT_BODY: tuple[Callable[..., Body], tuple[Check, ...]] = (FactBody, (raw_up_to(limits.FACT_BYTES_MAX),))


def _is_named_root(pair: list[Any]) -> bool:
    name, root = pair
    return type(name) is str and _NAMESPACE(name) and type(root) is bytes and len(root) == DIGEST_BYTES


def _are_named_roots(pairs: list[list[Any]]) -> bool:
    names = [name.encode() for name, _ in pairs]
    ascending = all(first < second for first, second in pairwise(names))
    return ascending and all(name.encode() in names for name in NAMESPACES)


_NAMESPACE = text(limits.LABEL_CHARS_MAX, 1)
named_roots = Check(
    (list,),
    limits.NAMESPACES_MAX,
    each=Check((list,), 2, 2, each=Check((str, bytes), limits.LABEL_CHARS_MAX), rule=_is_named_root),
    rule=_are_named_roots,
)
"""A check for the roots of namespaces: an array of up to 64 pairs of a name and a root, ascending by name.

`NAMESPACES` are among the names. Other names are of 1 to 32 bytes.
"""
_REASON: tuple[Callable[..., Body], tuple[Check, ...]] = (ReasonBody, (text(limits.REASON_BYTES_MAX),))
BODIES: dict[EventKind, tuple[Callable[..., Body], tuple[Check, ...]]] = {
    EventKind.GENESIS: (GenesisBody, (_HASH, _HASH, _HASH)),
    EventKind.ATOM_ADDED: _ATOM_BODY,
    EventKind.ATOM_REVISED: _ATOM_BODY,
    EventKind.ATOM_TOMBSTONED: _REASON,
    EventKind.ATOM_REVIVED: _REASON,
    EventKind.TAGS_ADDED: (TagsBody, (_TAGS,)),
    EventKind.TAGS_REMOVED: (TagsBody, (_TAGS,)),
    EventKind.EDGE_TYPE_REGISTERED: (TypeBody, (_LABEL,)),
    EventKind.EDGE_ADDED: (EdgeBody, (sized(4), raw_up_to(limits.EDGE_DATA_BYTES_MAX))),
    EventKind.EDGE_REMOVED: _REASON,
    EventKind.CHECKPOINT: (CheckpointBody, (named_roots,)),
    EventKind.ERASED: (
        ErasedBody,
        (text(limits.REASON_BYTES_MAX), many(_HASH, limits.ERASED_CONTENTS_MAX)),
    ),
    EventKind.EDGE_ERASED: _REASON,
    EventKind.FOREIGN_HEAD: (ForeignHeadBody, (optional(text(limits.NOTE_BYTES_MAX)),)),
    EventKind.VERSION_NOTED: _ATOM_BODY,
    EventKind.ATOM_NOTED: (AtomNotedBody, (optional(text(limits.REASON_BYTES_MAX)), _TAGS)),
    EventKind.EDGE_NOTED: (
        EdgeNotedBody,
        (
            optional(sized(4)),
            optional(raw_up_to(limits.EDGE_DATA_BYTES_MAX)),
            optional(text(limits.REASON_BYTES_MAX)),
        ),
    ),
    **dict.fromkeys(FACT_KINDS, _FACT_BODY),
}


def encode_header(header: Header) -> bytes:
    """Return the canonical bytes of the header. The log commits to these bytes.

    If the event has an origin, it is the last item of the array.
    """
    seq, time, kind, actor, commitment, prev, detail, origin = header
    common = (FORMAT, seq, time, int(kind), actor, commitment, prev)
    last = () if origin is None else (origin,)
    return cbor2.dumps([*common, *detail[: _WIDTHS[kind]], *last], canonical=True)


def kind_of(raw: bytes) -> int:
    """Return the event kind in a header without decoding the header.

    Returns -1 if the bytes do not begin like a header.
    """
    at = 2
    for _ in ("seq", "time", "kind"):
        if at >= len(raw) or raw[at] > _LONGEST_UINT:
            return -1
        value, at = raw[at], at + 1
        if value >= _LONG_UINT:
            width = 1 << value - _LONG_UINT
            value, at = int.from_bytes(raw[at : at + width], "big"), at + width
    return value


_LONG_UINT, _LONGEST_UINT = 0x18, 0x1B
"""The lowest and the highest first byte of unsigned integers that take 2 to 9 bytes (RFC 8949, section 3)."""


def decode_header(raw: bytes, seq: int) -> Header:
    """Decode the header stored at `seq`.

    Raises:
        FormError: the bytes are not the canonical encoding of a header of this format version, or the seq in
            the header is not `seq`.
    """
    where = f"journal header {seq}"
    value = unpack(raw, where)
    if type(value) is not list or len(value) <= len(HEADER_FIELDS):
        raise FormError(f"{where}: not an array with the length of a header")
    header = _HEADERS.get(value[3]) if type(value[3]) is int else None
    if header is None or value[0] != FORMAT or value[1] != seq:
        raise _unsupported_header(fields(value[: len(HEADER_FIELDS)], HEADER_FIELDS, where), seq, where)
    kind, make, checks = header
    origin = None
    if len(value) == len(checks) + 1 and type(value[-1]) is list and kind not in NEVER_REPEATED:
        origin = Origin(*fields(value.pop(), ORIGIN_FIELDS, f"{where}: origin"))
    _, _, time, _, actor, commitment, prev, *detail = fields(value, checks, where)
    made = make(*detail)
    if prev is not None and (kind in _NO_SUBJECT or made == (None,)):
        raise FormError(f"{where}: an event without a subject names a previous event")
    if origin is None and kind in ALWAYS_REPEATED:
        raise FormError(f"{where}: an event of this kind has no origin")
    return Header(seq, time, kind, actor, commitment, prev, made, origin)


def _unsupported_header(common: list[Any], seq: int, where: str) -> FormError:
    """Return the error for a well-formed header that this version cannot read or whose seq is wrong."""
    if common[0] != FORMAT:
        return FormError(
            f"{where}: its format is {common[0]}, and this version reads format {FORMAT}",
            hint="export its texts with the version of memroot that wrote it (`engine export FILE --format "
            "mem0`), and import them into a new store (`engine import mem0 FILE`)",
        )
    if common[1] != seq:
        return FormError(f"{where}: the seq in the header is {common[1]}")
    name = RESERVED_KINDS.get(common[3], "unknown")
    return FormError(
        f"{where}: this version does not support event kind {common[3]} ({name})",
        hint="open the store with the version of memroot that wrote it, or a later one",
    )


def encode_body(body: Body) -> bytes:
    """Return the canonical bytes of a body.

    The bytes encode an array of the body's fields. If the body has further fields, the last item of the array
    is a map of these fields.
    """
    numbers = further_numbers(type(body))
    first = len(body) - len(numbers)
    fields: list[Any] = list(body[:first])
    further = {number: body[first + at] for at, number in enumerate(numbers) if body[first + at] is not None}
    return cbor2.dumps([*fields, further] if further else fields, canonical=True)


def decode_body(kind: EventKind, raw: bytes, where: str) -> Body:
    """Decode the body of an event of `kind`.

    Raises:
        FormError: the bytes are not the canonical encoding of a body of this kind.
    """
    make, checks = BODIES[kind]
    whole = unpack(raw, where)
    further: dict[str, Any] = {}
    if type(whole) is list and len(whole) == len(checks) + 1:
        further = read_further(whole.pop(), further_numbers(make), where)
    values = fields(whole, checks, where)
    for position, value in enumerate(values):
        if type(value) is list:
            values[position] = tuple(tuple(item) if type(item) is list else item for item in value)
    return make(*values, **further)
