"""SPEC 3 and 20.6: the hashes that a verifier needs, and paths in the log by the definition of RFC 9162."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from blake3 import blake3

from tests.reference.cbor import write

EMPTY = bytes(32)
NAMESPACES = ("atoms", "edges", "index", "tags")


def digest(role: str, *parts: bytes) -> bytes:
    """Return H(role; data)."""
    return blake3(b"".join(parts), derive_key_context=f"memroot 3 {role}").digest()


def keyed(key: bytes, data: bytes) -> bytes:
    """SPEC 3.8: return the 16 bytes of a keyed hash that make a label."""
    found = blake3(data, key=key).digest(16)
    return u(found[0] | 128, 1) + found[1:]


def place(namespace: str, key: bytes) -> bytes:
    """SPEC 3.6, 3.7: return the key digest of a key; that of an edge begins with those of parts."""
    whole = in_namespace("key", namespace, key)
    if namespace != "edges":
        return whole
    start = edge_prefix(key[:17], key[17:-16])
    return start + whole[: 32 - len(start)]


def edge_prefix(end: bytes, code: bytes) -> bytes:
    """SPEC 3.7: return how the key digests of an atom's edges begin, in a direction, or of a type in it."""
    return in_namespace("key", "edges", end)[:3] + (in_namespace("key", "edges", code)[:1] if code else b"")


def u(number: int, width: int) -> bytes:
    """Return a big-endian number of `width` bytes."""
    return number.to_bytes(width, "big")


def in_namespace(role: str, namespace: str, data: bytes) -> bytes:
    """Return the digest of a key (role `key`) or of a value (role `value`) in a namespace."""
    return digest(role, u(len(namespace), 1), namespace.encode(), data)


def overall(
    store_id: bytes,
    rules: int,
    label_commitment: bytes,
    size: int,
    log_root: bytes,
    roots: Sequence[tuple[str, bytes]],
) -> bytes:
    """SPEC 3.10: return the overall root."""
    named = [u(len(name.encode()), 1) + name.encode() + root for name, root in roots]
    head = (u(3, 4), store_id, u(rules, 4), label_commitment, u(size, 8), log_root, u(len(roots), 2))
    return digest("overall", *head, *named)


def log_leaf(header: bytes) -> bytes:
    """SPEC 3.5: return the leaf of the log for a header."""
    return hashlib.sha256(b"\0" + header).digest()


def log_node(left: bytes, right: bytes) -> bytes:
    """SPEC 3.5: return the hash of the node above two subtrees of the log."""
    return hashlib.sha256(b"\1" + left + right).digest()


def split(size: int) -> int:
    """Return the largest power of two below a size of 2 or more."""
    return 1 << (size - 1).bit_length() - 1


def root_by_path(index: int, size: int, leaf: bytes, path: list[bytes]) -> bytes | None:
    """RFC 9162 2.1.3: compute a root from an inclusion path; return None if the path has the wrong length."""
    if size == 1:
        return None if path else leaf
    if not path:
        return None
    k = split(size)
    if index < k:
        below = root_by_path(index, k, leaf, path[:-1])
        return None if below is None else log_node(below, path[-1])
    below = root_by_path(index - k, size - k, leaf, path[:-1])
    return None if below is None else log_node(path[-1], below)


def root_without_last(path: list[bytes]) -> bytes:
    """SPEC 20.5: return the root of a log without its last leaf, from the path of that leaf."""
    if not path:
        return hashlib.sha256(b"").digest()
    root, *larger = path
    for left in larger:
        root = log_node(left, root)
    return root


def roots_by_path(
    old: int, size: int, old_root: bytes, path: list[bytes], whole: bool = True
) -> tuple[bytes, bytes] | None:
    """RFC 9162 2.1.4: compute the old and the new root from a consistency path.

    `whole` is True if the subtree begins at the first leaf. If such a subtree ends with the old log, its root
    is `old_root`.
    Returns None if the path does not have the length that follows from the two sizes.
    """
    if old == size:
        if whole:
            return None if path else (old_root, old_root)
        return (path[0], path[0]) if len(path) == 1 else None
    if not path:
        return None
    k = split(size)
    if old <= k:
        below = roots_by_path(old, k, old_root, path[:-1], whole)
        return None if below is None else (below[0], log_node(below[1], path[-1]))
    below = roots_by_path(old - k, size - k, old_root, path[:-1], False)
    return None if below is None else (log_node(path[-1], below[0]), log_node(path[-1], below[1]))


def tree_root(leaves: Sequence[tuple[bytes, bytes]], depth: int = 0) -> bytes:
    """SPEC 3.6: return the root of the tree with exactly these leaves (key digest, value digest)."""
    if len(leaves) < 2:
        return digest("leaf", *leaves[0]) if leaves else EMPTY
    sides: list[list[tuple[bytes, bytes]]] = [[], []]
    for leaf in leaves:
        sides[bit(leaf[0], depth)].append(leaf)
    return digest("node", tree_root(sides[0], depth + 1), tree_root(sides[1], depth + 1))


def bit(key: bytes, depth: int) -> int:
    """SPEC 3.6: return bit d of a key digest."""
    return key[depth // 8] >> 7 - depth % 8 & 1


def row_leaf(t: bytes, inner: bytes) -> bytes:
    """SPEC 3.9: return the leaf hash of a row of a segment."""
    return digest("row", u(len(t), 2), t, inner)


def rows_root(count: int, shown: dict[int, bytes], given: Callable[[], bytes], first: int = 0) -> bytes:
    """SPEC 20.8: return the root over `count` row leaves, starting with number `first`.

    `shown` holds the known leaves by number. `given` returns the roots of the subtrees without a known leaf.
    """
    if not any(first <= index < first + count for index in shown):
        return given()
    if count == 1:
        return shown[first]
    k = split(count)
    left = rows_root(k, shown, given, first)
    return digest("rows-node", left, rows_root(count - k, shown, given, first + k))


def segments_of(count: int) -> list[tuple[bytes, int, int]]:
    """SPEC 3.9: return (key, first ordinal, number of ordinals) for each segment and then for the tail."""
    found, start = [], 0
    for level in (4, 3, 2, 1, 0):
        width = 256 << 2 * level
        while count - start >= width:
            found.append((u(level, 1) + u(start, 4), start, width))
            start += width
    return found + ([(b"\xff" + u(start, 4), start, count - start)] if start < count else [])


def index_leaves(count: int, summaries: Sequence[Sequence[Any]]) -> list[tuple[bytes, bytes]]:
    """SPEC 3.9: return the leaves of the `index` tree for `count` ordinals and these segment summaries."""
    named = [(key, write(list(one))) for (key, _, _), one in zip(segments_of(count), summaries, strict=False)]
    named += [(b"\xfe", write([count]))] if count else []
    return [(in_namespace("key", "index", key), in_namespace("value", "index", raw)) for key, raw in named]
