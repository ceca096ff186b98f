"""The rows of a store: the keys of all rows, and the decoding of their values (SPEC: Keys).

All key prefixes are defined here and nowhere else. Numbers in keys are big-endian, so key order is numeric
order. Values are decoded with `proofs.codec`; an error means that a row is damaged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from engine.base.errors import CorruptionError, row_families
from proofs import codec, forms
from proofs.errors import ProofError
from proofs.events import Body, EventKind, Header
from proofs.forms import Check, FormError

P = ParamSpec("P")
R = TypeVar("R")

LOG = b"meta/log"
"""The key of the row with the size, time and frontier of the log. A commit succeeds only if this row is
unchanged."""

CURSOR = b"meta/cursor/"

ERASING = b"meta/erasing"
"""The key of the row that marks an erasure in progress. The row exists from the first commit of the erasure
until the backend has purged its files."""

COUNTERS = b"meta/next"
"""The key of the row with the next atom's ordinal and a count of facts. The row belongs to the records."""

DREAM = b"meta/dream"
"""The key of the row with the progress of dreaming (adding tags, entities and relations in idle time). The
row does not belong to a projection. If it is lost, dreaming only repeats work."""

JOURNAL = b"j/"
PAYLOAD = b"p/"
ATOM = b"a/"
ORDINAL = b"o/"
EDGE_FROM = b"e/from/"
EDGE_TO = b"e/to/"
TYPE_BY_CODE = b"y/code/"
EARLY_FACT = b"f/"
VALUE = b"v/"
TREE = b"t/"
TAGS = b"g/"
INDEX = b"i/"
INDEX_HEAD = b"i/head"
INDEX_DOCUMENTS = b"i/doc/"
INDEX_ROWS = b"i/seg/"
INDEX_SUMMARIES = b"i/sum/"
INDEX_BLOCKS = b"i/blk/"
SUBTREE = b"l/"
NAMES = b"n/"
META_ENTRIES = b"m/"
REQUESTS = b"q/"
ERASURE = b"x/"
DESTROYED = b"h/"

RECORD_PREFIXES = (ATOM, ORDINAL, EDGE_FROM, EDGE_TO, TYPE_BY_CODE, EARLY_FACT, DESTROYED, COUNTERS)

FAMILIES = {
    "journal": JOURNAL,
    "payload": PAYLOAD,
    "atoms": ATOM,
    "ordinals": ORDINAL,
    "edges-from": EDGE_FROM,
    "edges-to": EDGE_TO,
    "types-by-code": TYPE_BY_CODE,
    "early-facts": EARLY_FACT,
    "values": VALUE,
    "trees": TREE,
    "tags": TAGS,
    "index": INDEX,
    "log": SUBTREE,
    "names": NAMES,
    "meta-entries": META_ENTRIES,
    "requests": REQUESTS,
    "erasures": ERASURE,
    "destroyed": DESTROYED,
    "meta": b"meta/",
}
"""Name of a family of rows → the prefix of the keys of these rows. No prefix is the beginning of a different
prefix, so every row belongs to exactly one family."""

row_families.update(FAMILIES)


def journal_key(seq: int) -> bytes:
    """Return the key of the header of event `seq`."""
    return JOURNAL + seq.to_bytes(8, "big")


def payload_key(seq: int) -> bytes:
    """Return the key of the payload of event `seq`."""
    return PAYLOAD + seq.to_bytes(8, "big")


def cursor_key(name: str) -> bytes:
    """Return the key of the cursor of the projection `name`."""
    return CURSOR + name.encode()


def atom_key(atom: bytes) -> bytes:
    """Return the key of the record of an atom."""
    return ATOM + atom


def ordinal_key(ordinal: int) -> bytes:
    """Return the key of the row of `ordinal`. The value of the row is the id of the ordinal's atom."""
    return ORDINAL + ordinal.to_bytes(4, "big")


def edge_from_key(src: bytes, code: bytes, dst: bytes) -> bytes:
    """Return the key of an edge in the forward direction, from its source."""
    return EDGE_FROM + src + b"/" + code + b"/" + dst


def edge_to_key(src: bytes, code: bytes, dst: bytes) -> bytes:
    """Return the key of an edge in the backward direction, from its target."""
    return EDGE_TO + dst + b"/" + code + b"/" + src


def erasure_key(subject: bytes) -> bytes:
    """Return the key of the row with the seq of the last erasure of an atom or edge.

    `subject` is the id of an atom, or source ‖ code ‖ target of an edge.
    """
    return ERASURE + subject


def destroyed_key(content: bytes) -> bytes:
    """Return the key of the row with the seq of the last event that destroyed the hashed content."""
    return DESTROYED + content


def type_code_key(code: bytes) -> bytes:
    """Return the key of the row with the name of the predicate that has this code."""
    return TYPE_BY_CODE + code


def early_fact_key(atom: bytes) -> bytes:
    """Return the key of the row with the seq of the last fact on an atom before the atom was recorded."""
    return EARLY_FACT + atom


def value_key(namespace: str, key: bytes) -> bytes:
    """Return the key of the row with the plain value of a leaf in the `atoms` or `edges` tree."""
    return VALUE + namespace.encode() + b"/" + key


def tree_prefix(namespace: str) -> bytes:
    """Return the key prefix of all pages of a namespace's tree."""
    return TREE + namespace.encode() + b"/"


def seal_key(prefix: bytes) -> bytes:
    """Return the key of a tree's seal. `prefix` is the prefix of the tree's pages."""
    return prefix + b"\xff"


def document_key(ordinal: int) -> bytes:
    """Return the key of the index row with the seq of the event that assigned `ordinal`."""
    return INDEX_DOCUMENTS + ordinal.to_bytes(4, "big")


def subtree_key(level: int, index: int) -> bytes:
    """Return the key of the row with the root of one subtree of the log.

    The subtree has 256^`level` leaves, and its first leaf is number `index` · 256^`level`.
    """
    return SUBTREE + bytes([level]) + index.to_bytes(8, "big")


def family_of(key: bytes) -> str:
    """Return the name of the family to which a key belongs, or `unknown` if the key belongs to no family."""
    for name, prefix in FAMILIES.items():
        if key.startswith(prefix):
            return name
    return "unknown"


def unpack(raw: bytes, where: str) -> Any:
    """Return the value whose canonical CBOR is `raw`. `where` names the row in the error.

    Raises:
        CorruptionError: `raw` is not CBOR, or not the canonical encoding of the decoded value.
    """
    try:
        return codec.unpack(raw, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error


def decode_stored(decode: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `decode`, a function of `proofs`, on a stored row and return its result.

    Raises:
        CorruptionError: `decode` raises an error.
    """
    try:
        return decode(*args, **kwargs)
    except (FormError, ProofError) as error:
        raise CorruptionError(str(error)) from error


def fields(value: Any, checks: tuple[Check, ...], where: str) -> list[Any]:
    """Return `value` if it is an array with one item for each check, and each item satisfies its check.

    Raises:
        CorruptionError: `value` is not such an array; the message names the position of the faulty item.
    """
    try:
        return forms.fields(value, checks, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error


def decode_header(raw: bytes, seq: int) -> Header:
    """Decode the header of event `seq`.

    Raises:
        CorruptionError: `raw` is not the canonical encoding of a header of this format, or the sequence
            number in the header is not `seq`.
    """
    try:
        return codec.decode_header(raw, seq)
    except FormError as error:
        raise CorruptionError(str(error), hint=error.hint, family="journal", seq=seq) from error


def decode_body(kind: EventKind, raw: bytes, where: str) -> Body:
    """Decode the body of an event of `kind`. `where` names the row in the error.

    Raises:
        CorruptionError: `raw` is not the canonical encoding of a body of an event of `kind`.
    """
    try:
        return codec.decode_body(kind, raw, where)
    except FormError as error:
        raise CorruptionError(str(error)) from error


def encode_seq(seq: int) -> bytes:
    """Return the value of a row that refers to an event: the seq of the event in 8 bytes."""
    return seq.to_bytes(8, "big")


def decode_seq(raw: bytes, where: str) -> int:
    """Decode the seq of the event that a row refers to.

    Raises:
        CorruptionError: `raw` does not have 8 bytes.
    """
    if len(raw) != 8:
        raise CorruptionError(f"the {where} row has {len(raw)} bytes, not 8", family="erasures")
    return int.from_bytes(raw, "big")
