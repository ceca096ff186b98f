"""Labels, which stand for sets and terms in keys, and the salts of what a key commits to (SPEC, section 3.8).

A label is a keyed hash: finding out which word a key stands for takes the store's label key. A proof
about sets or terms contains the label key, so that everybody can check that a label is the only one that its
set or term can have. A salt is a keyed hash of the bytes that it hides. It follows from these bytes, so a
rebuild gives the same salt, and a proof opens it only where it opens the bytes.
"""

from __future__ import annotations

from typing import Final

from blake3 import blake3

KEY_BYTES: Final = 32
LABEL_BYTES: Final = 16
ROW_SALT_BYTES: Final = 16
TERMS: Final = 0
"""The number that stands for terms among the numbers of groups in a label."""


def label_of(label_key: bytes, group: int, value: bytes) -> bytes:
    """Return the label of a set, given by its group and value, or of the name of an index row (group 0).

    The label has 16 bytes: the first of BLAKE3, keyed with the label key of the store, over u8 group ‖ value.
    The first bit is set, so that the labels of terms stand behind the other names of index rows.
    """
    digest = blake3(bytes([group]) + value, key=label_key).digest(LABEL_BYTES)
    return bytes([digest[0] | 0x80]) + digest[1:]


def unsalted(committed: bytes) -> bytes:
    """Return the bytes behind their salt; no bytes if `committed` is not longer than a salt."""
    return committed[ROW_SALT_BYTES:]


def salted(row_key: bytes, namespace: str, key: bytes, value: bytes) -> bytes:
    """Return `value` behind its salt, the bytes to which a tree commits.

    The salt is the first 16 bytes of BLAKE3, keyed with the row key of the store, over u8 length of namespace
    ‖ namespace ‖ u16 length of key ‖ key ‖ value.
    """
    name = namespace.encode()
    head = bytes([len(name)]) + name + len(key).to_bytes(2, "big") + key
    return blake3(head + value, key=row_key).digest(ROW_SALT_BYTES) + value
