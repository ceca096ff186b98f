"""The log: the Merkle tree of RFC 6962 and RFC 9162 (section 2.1) over the journal's headers.

The log uses SHA-256 and not BLAKE3, because C2SP checkpoints and the witnesses of transparency logs require
SHA-256. The tree over n leaves splits at the largest power of two below n. The root can be computed from the
roots of the perfect subtrees alone. There is one perfect subtree for each binary digit 1 of n. The
roots of these subtrees are called the frontier. Appending a leaf needs only the frontier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, Self

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
