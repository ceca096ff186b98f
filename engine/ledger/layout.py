"""Every key of a store, spelled here and nowhere else (SPEC: Keys).

Numbers in keys are big-endian, so that key order is numeric order.
"""

from __future__ import annotations

LOG = b"meta/log"
"""Size, time and frontier of the log. Every commit is guarded by this row."""

CURSOR = b"meta/cursor/"

ERASING = b"meta/erasing"
"""What is being erased: there from the first commit of an erasure until the backend has purged."""

COUNTERS = b"meta/next"
"""The numbers of the next atom and the next predicate; part of the records."""

DREAM = b"meta/dream"
"""How far the dreamer has come: of no projection, and nothing but time depends on it."""

JOURNAL = b"j/"
PAYLOAD = b"p/"
ATOM = b"a/"
ORDINAL = b"o/"
EDGE_FROM = b"e/from/"
EDGE_TO = b"e/to/"
TYPE_BY_CODE = b"y/code/"
TYPE_BY_NAME = b"y/name/"
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
ERASURE = b"x/"
DESTROYED = b"h/"

RECORD_PREFIXES = (ATOM, ORDINAL, EDGE_FROM, EDGE_TO, TYPE_BY_CODE, TYPE_BY_NAME, DESTROYED, COUNTERS)

FAMILIES = {
    "journal": JOURNAL,
    "payload": PAYLOAD,
    "atoms": ATOM,
    "ordinals": ORDINAL,
    "edges-from": EDGE_FROM,
    "edges-to": EDGE_TO,
    "types-by-code": TYPE_BY_CODE,
    "types-by-name": TYPE_BY_NAME,
    "values": VALUE,
    "trees": TREE,
    "tags": TAGS,
    "index": INDEX,
    "log": SUBTREE,
    "erasures": ERASURE,
    "destroyed": DESTROYED,
    "meta": b"meta/",
}
"""Family name → prefix; no prefix begins another, and every row belongs to exactly one family."""


def journal_key(seq: int) -> bytes:
    """The header of event `seq`."""
    return JOURNAL + seq.to_bytes(8, "big")


def payload_key(seq: int) -> bytes:
    """The payload of event `seq`."""
    return PAYLOAD + seq.to_bytes(8, "big")


def cursor_key(name: str) -> bytes:
    """How far the records, or the follower `name`, have come."""
    return CURSOR + name.encode()


def atom_key(atom: bytes) -> bytes:
    """The record of an atom."""
    return ATOM + atom


def ordinal_key(ordinal: int) -> bytes:
    """The id of the atom that was given `ordinal`."""
    return ORDINAL + ordinal.to_bytes(4, "big")


def edge_from_key(src: bytes, code: bytes, dst: bytes) -> bytes:
    """An edge, found from its source."""
    return EDGE_FROM + src + b"/" + code + b"/" + dst


def edge_to_key(src: bytes, code: bytes, dst: bytes) -> bytes:
    """The same edge, found from its target."""
    return EDGE_TO + dst + b"/" + code + b"/" + src


def erasure_key(subject: bytes) -> bytes:
    """The seq of the last event that erased an atom (its id), or an edge (source, code, target)."""
    return ERASURE + subject


def destroyed_key(content: bytes) -> bytes:
    """The seq of the last event that destroyed a content of this hash."""
    return DESTROYED + content


def type_code_key(code: bytes) -> bytes:
    """A registered predicate by its code."""
    return TYPE_BY_CODE + code


def type_name_key(name: str) -> bytes:
    """A registered predicate by its name."""
    return TYPE_BY_NAME + name.encode()


def value_key(namespace: str, key: bytes) -> bytes:
    """What a leaf of the `atoms` or `edges` tree commits to, in the clear."""
    return VALUE + namespace.encode() + b"/" + key


def tree_prefix(namespace: str) -> bytes:
    """All pages of a namespace's tree."""
    return TREE + namespace.encode() + b"/"


def document_key(ordinal: int) -> bytes:
    """The seq of the event that gave `ordinal`, for the index."""
    return INDEX_DOCUMENTS + ordinal.to_bytes(4, "big")


def subtree_key(level: int, index: int) -> bytes:
    """The root of the log's complete subtree over 256^level leaves from number index · 256^level on."""
    return SUBTREE + bytes([level]) + index.to_bytes(8, "big")


def family_of(key: bytes) -> str:
    """The family a key belongs to; `unknown` for a key no version of ours writes."""
    for name, prefix in FAMILIES.items():
        if key.startswith(prefix):
            return name
    return "unknown"
