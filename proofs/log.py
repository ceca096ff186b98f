"""The log: the Merkle tree of RFC 6962 and RFC 9162 (section 2.1) over the journal's headers.

The log uses SHA-256 and not BLAKE3, because C2SP checkpoints and the witnesses of transparency logs require
SHA-256. The tree over n leaves splits at the largest power of two below n. The root can be computed from the
roots of the perfect subtrees alone. There is one perfect subtree for each binary digit 1 of n. The
roots of these subtrees are called the frontier. Appending a leaf needs only the frontier.

An inclusion path shows that an event is in a log (RFC 9162, section 2.1.3.2). A consistency path shows that a
log begins with an older log (section 2.1.4.2). Whether a hash is a left or a right sibling is derived from
the index and the sizes that the caller passes. A path with a missing or unused hash is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, Self

from proofs.errors import ProofError

DIGEST_BYTES: Final = 32
SIZE_BYTES: Final = 8
SIZE_MAX: Final = (1 << 63) - 1
"""The maximum number of leaves of a log. The limit keeps a frontier within 63 hashes."""

EMPTY_ROOT: Final = sha256(b"").digest()
"""The root of the log without leaves."""


def leaf_hash(header: bytes) -> bytes:
    """Return the leaf hash of an entry: SHA-256(0x00 ‖ header)."""
    return sha256(b"\x00" + header).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return an inner node: SHA-256(0x01 ‖ left[32] ‖ right[32]).

    Raises:
        ValueError: an argument does not have 32 bytes.
    """
    if len(left) != DIGEST_BYTES or len(right) != DIGEST_BYTES:
        raise ValueError(
            f"a node is two hashes of {DIGEST_BYTES} bytes each, not of {len(left)} and {len(right)}"
        )
    return sha256(b"\x01" + left + right).digest()


def root_of(leaf_hashes: Sequence[bytes]) -> bytes:
    """Return the root over `leaf_hashes`, computed by the definition. Tests compare `Frontier` with it.

    Raises:
        ValueError: a leaf hash does not have 32 bytes.
    """
    for leaf in leaf_hashes:
        _check_leaf(leaf)
    if not leaf_hashes:
        return EMPTY_ROOT
    if len(leaf_hashes) == 1:
        return leaf_hashes[0]
    split = left_half(len(leaf_hashes))
    return node_hash(root_of(leaf_hashes[:split]), root_of(leaf_hashes[split:]))


def left_half(count: int) -> int:
    """Return the number of leaves in the left subtree of a tree with `count` leaves.

    The result is the largest power of two below `count`; `count` must be at least 2.
    """
    return 1 << ((count - 1).bit_length() - 1)


class Frontier:
    """The roots of the perfect subtrees of a log, largest first.

    These roots suffice to append leaves and to compute the root of the log.

    `append` modifies the object: use `copy` first if the appended leaves may still be rejected. The object
    must not be used by several threads at the same time.
    """

    __slots__ = ("_size", "_subtrees")

    def __init__(self) -> None:
        self._size = 0
        # One value, not a list of hashes: a frontier is encoded and copied more often than it is changed.
        self._subtrees = b""

    @property
    def size(self) -> int:
        """The number of leaves in the log."""
        return self._size

    def append(self, leaf: bytes) -> None:
        """Add the leaf hash `leaf` at index `size`.

        Raises:
            ValueError: `leaf` does not have 32 bytes, or the log is full; nothing is changed.
        """
        if len(leaf) != DIGEST_BYTES:
            _check_leaf(leaf)
        size = self._size
        if size == SIZE_MAX:
            raise ValueError(f"a log has at most {SIZE_MAX} leaves")
        subtrees, end = self._subtrees, len(self._subtrees)
        self._size = size + 1
        # Each trailing 1 bit of the size stands for a perfect subtree as large as the one being added.
        while size & 1:
            leaf = sha256(b"\x01" + subtrees[end - DIGEST_BYTES : end] + leaf).digest()
            end -= DIGEST_BYTES
            size >>= 1
        self._subtrees = subtrees[:end] + leaf

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Append each of `leaves`. A leaf of wrong width raises ValueError; earlier leaves stay appended."""
        for leaf in leaves:
            self.append(leaf)

    def root(self) -> bytes:
        """Return the root over all leaves appended so far."""
        subtrees = self._subtrees
        if not subtrees:
            return EMPTY_ROOT
        root = subtrees[-DIGEST_BYTES:]
        for end in range(len(subtrees) - DIGEST_BYTES, 0, -DIGEST_BYTES):
            root = node_hash(subtrees[end - DIGEST_BYTES : end], root)
        return root

    def copy(self) -> Frontier:
        """Return an independent frontier with the same leaves."""
        other = Frontier()
        other._size, other._subtrees = self._size, self._subtrees
        return other

    def to_bytes(self) -> bytes:
        """Return the frontier as bytes.

        The bytes are: u64 size, big-endian ‖ one 32-byte hash for each 1 bit of the size, highest bit first.
        """
        return self._size.to_bytes(SIZE_BYTES, "big") + self._subtrees

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Decode a frontier encoded by `to_bytes`.

        Raises:
            ValueError: the length does not match the size, or the size is too large.
        """
        if len(data) < SIZE_BYTES:
            raise ValueError(f"a frontier has at least {SIZE_BYTES} bytes, not {len(data)}")
        size = int.from_bytes(data[:SIZE_BYTES], "big")
        if size > SIZE_MAX:
            raise ValueError(f"a log has at most {SIZE_MAX} leaves, not {size}")
        expected = SIZE_BYTES + DIGEST_BYTES * size.bit_count()
        if len(data) != expected:
            raise ValueError(f"a frontier of size {size} has {expected} bytes, not {len(data)}")
        frontier = cls()
        frontier._size, frontier._subtrees = size, data[SIZE_BYTES:]
        return frontier

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frontier):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]  # mutable


def _check_leaf(leaf: bytes) -> None:
    if len(leaf) != DIGEST_BYTES:
        raise ValueError(f"a leaf hash has {DIGEST_BYTES} bytes, not {len(leaf)}")


def check_inclusion(index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> None:
    """Raise ProofError unless `leaf` is the leaf hash at position `index` of the log with `root`.

    The algorithm is defined in RFC 9162, section 2.1.3.2 (docs/spec/proofs.md, section 20.6).

    Args:
        index: The position of the leaf, from 0; below `size`.
        size: The number of leaves of the log, 1 to 2^63 − 1.
        leaf: The leaf hash, 32 bytes: `leaf_hash` of the entry, which for a journal is the header.
        path: The sibling hashes from the leaf up, 32 bytes each; empty for a log of one leaf.
        root: The root of the log at this size, 32 bytes, from a source that the caller trusts.

    Raises:
        ProofError: The path does not lead from the leaf to the root, or a hash does not have 32 bytes
            (`inclusion`); a number is out of bounds (`input`).
    """
    _check_numbers(index, size)
    if not index < size:
        raise ProofError("input", f"index {index} is not below the size {size}")
    _check_hashes("inclusion", leaf, root, *path)
    at, last, computed = index, size - 1, leaf
    for sibling in path:
        if not last:
            raise ProofError("inclusion", f"the path has too many hashes for index {index} of {size}")
        if at & 1 or at == last:
            computed = node_hash(sibling, computed)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            computed = node_hash(computed, sibling)
        at, last = at >> 1, last >> 1
    if last:
        raise ProofError("inclusion", f"the path has too few hashes for index {index} of {size}")
    if computed != root:
        raise ProofError("inclusion", f"the path from index {index} of {size} leads to a different root")


def root_before(path: Sequence[bytes]) -> bytes:
    """Return the root of the log without its last leaf, given the inclusion path of that leaf.

    All siblings of the last leaf are to its left: they are the roots of the complete subtrees into which the
    other leaves divide, the smallest first.
    """
    if not path:
        return EMPTY_ROOT
    root = path[0]
    for larger in path[1:]:
        root = node_hash(larger, root)
    return root


def check_consistency(old: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]) -> None:
    """Raise ProofError unless the log with `root` begins with the log with `old_root`.

    The algorithm is defined in RFC 9162, section 2.1.4.2 (docs/spec/proofs.md, section 20.6).

    Args:
        old: The number of leaves of the older log, 1 to `size`. 0 is refused: every log begins with the
            empty log, so there is nothing to show.
        old_root: The root of the older log, 32 bytes.
        size: The number of leaves of the newer log, at most 2^63 − 1.
        root: The root of the newer log, 32 bytes.
        path: The hashes of the consistency path, 32 bytes each; empty if both sizes are equal.

    Raises:
        ProofError: The path does not lead to both roots, or a hash does not have 32 bytes
            (`consistency`); a number is out of bounds (`input`).
    """
    _check_numbers(old, size)
    if not 0 < old <= size:
        raise ProofError("input", f"the older size must be 1 to {size}, not {old}")
    _check_hashes("consistency", old_root, root, *path)
    if old == size:
        if path or old_root != root:
            raise ProofError("consistency", f"the two logs of {size} events have different roots")
        return
    # If the older log is one complete subtree, its root is the first hash, and the path does not repeat it.
    hashes = [old_root, *path] if not old & (old - 1) else list(path)
    if _both_roots(old, size, hashes) != (old_root, root):
        raise ProofError("consistency", f"the log of {size} events does not begin with the log of {old}")


def _both_roots(old: int, size: int, hashes: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return the roots of both logs, computed from a path.

    `hashes` begins with the last complete subtree of the older log.
    """
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    if not hashes:
        raise ProofError("consistency", "the path is too short")
    first = second = hashes[0]
    for sibling in hashes[1:]:
        if not last:
            raise ProofError("consistency", "the path is too long")
        if at & 1 or at == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            second = node_hash(second, sibling)
        at, last = at >> 1, last >> 1
    if last:
        raise ProofError("consistency", "the path is too short")
    return first, second


def _check_numbers(*numbers: int) -> None:
    for number in numbers:
        if type(number) is not int or not 0 <= number <= SIZE_MAX:
            raise ProofError("input", f"a size or index is a whole number from 0 to {SIZE_MAX}")


def _check_hashes(reason: str, *hashes: bytes) -> None:
    if any(type(digest) is not bytes or len(digest) != DIGEST_BYTES for digest in hashes):
        raise ProofError(reason, f"every hash must have {DIGEST_BYTES} bytes")
