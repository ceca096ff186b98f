"""SPEC 3.4, 3.7, 3.8, 3.9: checks of the forms of the byte strings in a proof."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tests.reference.cbor import Malformed, read
from tests.reference.hashes import digest
from tests.reference.refused import Refused, need
from tests.spec.spec_naive import dumps

Check = Callable[[Any], bool]

SEQ_MAX, INTEGER_MAX, ORDINAL_MAX = (1 << 53) - 1, (1 << 63) - 1, (1 << 32) - 1
CHECKPOINT, FOREIGN_HEAD = 10, 14
COMMON = ("format", "seq", "time", "kind", "actor", "commitment", "prev")
VALUE = ("state", "ordinal", "version", "created_seq", "payload_seq", "last_seq", "commitment")


def uint(most: int = INTEGER_MAX, least: int = 0) -> Check:
    """Return a check for an integer within bounds; booleans are refused."""
    return lambda item: isinstance(item, int) and not isinstance(item, bool) and least <= item <= most


def text(most: int, least: int = 0) -> Check:
    """Return a check for text whose length in UTF-8 bytes is within bounds."""
    return lambda item: isinstance(item, str) and least <= len(item.encode()) <= most


def raw(least: int, most: int | None = None) -> Check:
    """Return a check for a byte string of one width, or of a range of widths."""
    return lambda item: isinstance(item, bytes) and least <= len(item) <= (least if most is None else most)


def maybe(check: Check) -> Check:
    """Return a check for null or an item that passes `check`."""
    return lambda item: item is None or check(item)


def array(check: Check, most: int, least: int = 0) -> Check:
    """Return a check for an array of items of one kind with a bound on their number."""
    return lambda item: isinstance(item, list) and least <= len(item) <= most and all(map(check, item))


def fields(checks: tuple[Check, ...]) -> Check:
    """Return a check for an array of exactly these fields."""
    return lambda item: (
        isinstance(item, list)
        and len(item) == len(checks)
        and all(check(one) for check, one in zip(checks, item, strict=True))
    )


def code(item: object) -> bool:
    """Return True for the code of an edge type: one byte from 01 to 7F, or the code of a predicate."""
    return predicate(item) or (isinstance(item, bytes) and len(item) == 1 and 0 < item[0] < 0x80)


def predicate(item: object) -> bool:
    """Return True for the code of a registered predicate: 8 bytes of which the first is 80 or more."""
    return isinstance(item, bytes) and len(item) == 8 and item[0] >= 0x80


def named_roots(item: object) -> bool:
    """Return True for pairs of a name and a root, ascending by name, with the four namespaces among them."""
    if not array(fields((text(32, 1), HASH)), 64)(item):
        return False
    names = [name.encode() for name, _ in item]  # type: ignore[attr-defined]
    return all(a < b for a, b in pairwise(names)) and {b"atoms", b"edges", b"index", b"tags"} <= set(names)


LABEL, ID, HASH, ORDINAL = text(32), raw(16), raw(32), uint(ORDINAL_MAX)
TAGS, REASON = array(text(256), 256), text(1024)
HEADER: tuple[Check, ...] = (uint(3, 3), uint(SEQ_MAX), uint(), uint(255), LABEL, HASH, maybe(uint(SEQ_MAX)))
ON_ATOM: tuple[Check, ...] = (ID, ORDINAL)
NO_SUBJECT, FACTS = (0, 7, CHECKPOINT, 14), range(32, 64)
NEVER_REPEATED, ALWAYS_REPEATED = (0, CHECKPOINT), (15, 16, 17)
DETAIL: dict[int, tuple[Check, ...]] = {
    0: (ID, LABEL, HASH, HASH, uint(255, 1)),
    **dict.fromkeys(range(1, 7), ON_ATOM),
    2: (ID, ORDINAL, ORDINAL),
    7: (predicate,),
    8: (ID, code, ID),
    9: (ID, code, ID),
    CHECKPOINT: (HASH,),
    11: ON_ATOM,
    13: (ID, code, ID),
    14: (ID, uint(1 << 53, 1), HASH, maybe(HASH)),
    15: ON_ATOM,
    16: ON_ATOM,
    17: (ID, code, ID),
    **dict.fromkeys(FACTS, (maybe(ID),)),
}
ATOM: tuple[Check, ...] = (
    text(1 << 20),
    maybe(text(512)),
    LABEL,
    TAGS,
    array(LABEL, 16),
    maybe(text(512)),
    maybe(uint()),
    LABEL,
    maybe(uint(100)),
    maybe(uint(253_402_300_799_999_999, -62_135_596_800_000_000)),
    maybe(uint()),
    maybe(text(512)),
)
BODY: dict[int, tuple[Check, ...]] = {
    0: (HASH, HASH, HASH),
    1: ATOM,
    2: ATOM,
    **dict.fromkeys((3, 4, 9), (REASON,)),
    5: (TAGS,),
    6: (TAGS,),
    7: (LABEL,),
    8: (raw(4), raw(0, 4096)),
    CHECKPOINT: (named_roots,),
    11: (REASON, array(HASH, 65_536)),
    13: (REASON,),
    14: (maybe(text(65_536)),),
    15: ATOM,
    16: (maybe(REASON), TAGS),
    17: (maybe(raw(4)), maybe(raw(0, 4096)), maybe(REASON)),
    **dict.fromkeys(FACTS, (raw(0, 1 << 20),)),
}


def meta(item: object) -> bool:
    """Return True for a valid map `meta` of an atom."""
    return (
        isinstance(item, dict)
        and 1 <= len(item) <= 32
        and all(map(text(64, 1), item))
        and all(map(scalar, item.values()))
        and len(dumps(item)) <= 4096
    )


def scalar(item: object) -> bool:
    """Return True for a boolean, a number in its canonical form, or a text."""
    if isinstance(item, float):
        return item != round(item) if abs(item) < 1 << 53 else False
    return isinstance(item, bool) or uint((1 << 53) - 1, 1 - (1 << 53))(item) or text(1024)(item)


ORIGIN = fields((ID, uint(SEQ_MAX), uint(255), HASH, uint()))
OF_ALL: dict[int, Check] = {0: text(128, 1), 1: text(256, 1)}
OF_ATOM = OF_ALL | {2: meta, 3: array(text(512, 1), 32, 1), 4: text(512, 1)}


def body_of(item: Any, kind: int) -> bool:
    """Return True for the fields of a body, which may be followed by a map of further fields."""
    checks = BODY[kind]
    if not isinstance(item, list) or len(item) != len(checks) + 1:
        return fields(checks)(item)
    allowed = OF_ATOM if kind in (1, 2, 15) else OF_ALL
    return (
        fields(checks)(item[:-1])
        and isinstance(item[-1], dict)
        and len(item[-1]) > 0
        and all(uint()(at) and at in allowed and allowed[at](one) for at, one in item[-1].items())
    )


def item_of(data: bytes, reason: str, body: bool = False) -> Any:
    """Decode bytes that are one CBOR item, or refuse with the given reason."""
    try:
        return read(data, body)
    except Malformed:
        raise Refused(reason) from None


def header(data: bytes) -> dict[str, Any]:
    """Return the fields of a canonical header by name; `detail` has the fields of the event kind."""
    item = item_of(data, "header")
    need(isinstance(item, list) and fields(HEADER)(item[: len(HEADER)]) and item[3] in DETAIL, "header")
    kind, end = item[3], len(HEADER) + len(DETAIL[item[3]])
    need(fields(HEADER + DETAIL[kind])(item[:end]), "header")
    need(len(item) > end or kind not in ALWAYS_REPEATED, "header")
    need(len(item) == end or (kind not in NEVER_REPEATED and fields((ORIGIN,))(item[end:])), "header")
    need(item[6] is None or (kind not in NO_SUBJECT and item[7] is not None), "header")
    return dict(zip(COMMON, item, strict=False)) | {"detail": item[len(COMMON) : end], "origin": item[end:]}


def payload(data: bytes, kind: int, commitment: bytes) -> list[Any]:
    """Check the commitment of a payload and the form of its body, and return the body."""
    need(len(data) > 32 and digest("commitment", data) == commitment, "payload")
    body: list[Any] = item_of(data[32:], "payload", True)
    need(body_of(body, kind), "payload")
    return body


def value(data: bytes, namespace: str) -> dict[str, Any]:
    """Return the fields of a leaf value by name."""
    item = item_of(data, "value")
    seq = uint(SEQ_MAX)
    ordinal = ORDINAL if namespace == "atoms" else uint(0)
    need(fields((uint(2), ordinal, uint(), seq, seq, seq, HASH))(item), "value")
    return dict(zip(VALUE, item, strict=True))


def chunk(data: bytes) -> frozenset[int]:
    """Return the members of a chunk of a set."""
    if len(data) == 8192:
        members = [at for at in range(65_536) if data[at >> 3] >> (at & 7) & 1]
        need(len(members) >= 4096, "chunk")
        return frozenset(members)
    need(0 < len(data) <= 8190 and len(data) % 2 == 0, "chunk")
    members = [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]
    need(ascending(members), "chunk")
    return frozenset(members)


def ascending(numbers: list[int]) -> bool:
    """Return True if each number is greater than the one before."""
    return all(a < b for a, b in pairwise(numbers))


def row(data: bytes, size: int, documents: int) -> list[int]:
    """Return the offsets in the row of a term, in a segment of `size` ordinals."""
    need(len(data) >= 5, "row")
    df, greatest = int.from_bytes(data[:4], "big"), data[4]
    need(1 <= df <= documents and len(data) == 5 + 3 * df, "row")
    end = 5 + 2 * df
    offsets = [int.from_bytes(data[at : at + 2], "little") for at in range(5, end, 2)]
    need(ascending(offsets) and offsets[-1] < size, "row")
    need(0 not in data[end:] and max(data[end:]) == greatest, "row")
    return offsets
