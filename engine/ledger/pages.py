"""Storage of a namespace's compact sparse Merkle tree in 16-way pages (SPEC: Trees defines the bytes).

`proofs.smt` defines the tree. The root and the bytes of all pages depend only on the set of leaves, not on
the order or the batches in which the leaves were added.

A page holds four bit levels of the tree below one *path*. A path is the first `depth` nibbles (0 to 63) of a
key digest. The page with the empty path is enough to compute the root of the tree. An empty tree has no
pages. Decoding accepts only bytes that encoding can produce. It cannot detect that a value digest, a subtree
root, or the remainder of a key digest in a page is wrong. These errors are detected when the roots are
computed from the leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.ledger import layout
from proofs.hashing import DIGEST_BYTES, EMPTY, TREE_HASHER, TreeHasher, position

DEPTH_MAX: Final = 63
"""The depth of the deepest pages, whose slots correspond to the last nibble of the key digest."""
LEAF_BYTES: Final = 2 * DIGEST_BYTES
HEAD_BYTES: Final = 4
SLOTS: Final = 16

HINT: Final = "run `engine rebuild` to rebuild the trees from the journal"

Digests = Mapping[bytes, bytes | None]
"""Key digest → value digest, or None for a leaf that does not exist."""

Pages = dict[bytes, bytes | None]
"""Pages by the keys of their rows; None for a page that does not exist."""


SIZE_BYTES: Final = 8
SEAL_BYTES_MIN: Final = SIZE_BYTES + DIGEST_BYTES


class Seal(NamedTuple):
    """The root of a tree, in a row of its own with the number of events that the follower has processed."""

    root: bytes
    other: bytes
    """Bytes for use by the follower. Only the follower may change them."""


Slots = list[bytes]
"""The 16 slots of a page. Each slot is b"" if it is empty, 64 bytes for one leaf, or 32 bytes for the root of
a subtree."""


def decode_page(page_key: bytes, depth: int, path: bytes, stored: bytes) -> Slots:
    """Decode the 16 slots of the page at `path`, which is `depth` nibbles deep.

    Raises:
        CorruptionError: `stored` breaks a rule of the format; the message names the page and the rule.
    """
    occupied, leaves = _bitmaps(page_key, depth, stored)
    # The key digest of a leaf begins with the path and the nibble of its slot. The first `depth // 2` bytes
    # are those of the path; the mask checks the nibbles of the next byte.
    whole = depth >> 1
    whole_bytes = path[:whole]
    mask, base, step = (0xFF, path[whole], 1) if depth & 1 else (0xF0, 0, 16)
    slots = [b""] * SLOTS
    at = HEAD_BYTES
    for nibble in (nibble for nibble in range(SLOTS) if occupied >> nibble & 1):
        end = at + DIGEST_BYTES
        if leaves >> nibble & 1:
            if not stored.startswith(whole_bytes, at) or stored[at + whole] & mask != base + nibble * step:
                raise malformed(page_key, f"the leaf in slot {nibble} belongs in a different slot or page")
            end += DIGEST_BYTES
        slots[nibble] = stored[at:end]
        at = end
    if EMPTY in slots:
        raise malformed(page_key, "the subtree root in one of its slots is that of the empty tree")
    return slots


def encode_page(slots: Slots, body: bytes) -> bytes:
    """Encode a page. At least one of `slots` must be occupied. `body` is the concatenation of `slots`."""
    occupied = leaves = 0
    bit = 1
    for slot in slots:
        if slot:
            occupied |= bit
            if len(slot) == LEAF_BYTES:
                leaves |= bit
        bit <<= 1
    return (occupied << 16 | leaves).to_bytes(HEAD_BYTES, "big") + body


def nibble_of(key_digest: bytes, depth: int) -> int:
    """Return the number of the slot to which a key digest belongs in a page at `depth`."""
    return key_digest[depth >> 1] >> (0 if depth & 1 else 4) & 15


def _slot_in(stored: bytes, nibble: int) -> bytes:
    """Return one slot of a stored page, without checking the page."""
    head = int.from_bytes(stored[:HEAD_BYTES], "big")
    occupied, leaves = head >> 16, head & 0xFFFF
    if not occupied >> nibble & 1:
        return b""
    below = (1 << nibble) - 1
    at = HEAD_BYTES + DIGEST_BYTES * ((occupied & below).bit_count() + (leaves & below).bit_count())
    return stored[at : at + (LEAF_BYTES if leaves >> nibble & 1 else DIGEST_BYTES)]


def child_path(path: bytes, depth: int, nibble: int) -> bytes:
    """Return the path of the page below slot `nibble` of the page at `path`, which has `depth` nibbles."""
    if depth & 1:
        return path[:-1] + bytes((path[-1] | nibble,))
    return path + bytes((nibble << 4,))


def missing_page(page_key: bytes) -> CorruptionError:
    """Return the error for a page that has no row although its parent page refers to it."""
    return CorruptionError(f"the tree page {page_key.hex()} is missing", hint=HINT)


def _bitmaps(page_key: bytes, depth: int, stored: bytes) -> tuple[int, int]:
    """Return a page's bitmaps of occupied slots and of leaves.

    The bitmaps are checked against `depth` and the length of the page.
    """
    head = int.from_bytes(stored[:HEAD_BYTES], "big")
    occupied, leaves = head >> 16, head & 0xFFFF
    count, leaf_count = occupied.bit_count(), leaves.bit_count()
    if len(stored) != HEAD_BYTES + DIGEST_BYTES * (count + leaf_count):
        raise malformed(page_key, f"its bitmaps do not match its length of {len(stored)} bytes")
    if leaves & ~occupied:
        raise malformed(page_key, "a leaf is in a slot that is not occupied")
    if not count or (depth and count == leaf_count == 1):
        raise malformed(page_key, "the page has too few leaves to be stored")
    if depth == DEPTH_MAX and count != leaf_count:
        raise malformed(page_key, "the page has a subtree below the last nibble")
    return occupied, leaves


def malformed(page_key: bytes, rule: str) -> CorruptionError:
    """Return the error for a page that breaks a rule of the format."""
    return CorruptionError(f"the tree page {page_key.hex()} is malformed: {rule}", hint=HINT)


class StoredTree:
    """The tree of one namespace, for reading. The object holds no data of the tree; the rows hold it."""

    def __init__(self, namespace: str, hasher: TreeHasher = TREE_HASHER) -> None:
        self._namespace = namespace
        self.prefix = layout.tree_prefix(namespace)
        self.root_key = self._page_key(0, b"")
        self.seal_key = layout.seal_key(self.prefix)
        self.hasher = hasher

    def root(self, rows: Reader) -> bytes:
        """Return the root of the tree: 32 zero bytes if the tree has no leaf. This reads one row.

        Raises:
            CorruptionError: the page is malformed.
        """
        stored = rows.get(self.root_key)
        return EMPTY if stored is None else self.root_of(decode_page(self.root_key, 0, b"", stored))

    def sealed(self, rows: Reader, size: int) -> Seal:
        """Return the seal of the tree. It must be the seal of a follower that has processed `size` events.

        Raises:
            CorruptionError: the seal is malformed, or belongs to a different number of events.
        """
        stored = rows.get(self.seal_key)
        if stored is None:
            stored = bytes(SIZE_BYTES) + EMPTY
        if len(stored) < SEAL_BYTES_MIN:
            raise CorruptionError(f"the seal of the tree at {self.prefix!r} is malformed", hint=HINT)
        included = int.from_bytes(stored[:SIZE_BYTES], "big")
        if included != size:
            raise CorruptionError(
                f"the tree at {self.prefix!r} includes {included} events, not {size}", hint=HINT
            )
        return Seal(stored[SIZE_BYTES:SEAL_BYTES_MIN], stored[SEAL_BYTES_MIN:])

    def sealed_root(self, rows: Reader, size: int) -> bytes:
        """Return the root of the tree. It must equal the root in the tree's seal (see `sealed`).

        Raises:
            CorruptionError: the page of the root is malformed, or does not have this root.
        """
        root, sealed = self.root(rows), self.sealed(rows, size).root
        if root != sealed:
            raise self.wrong_root(root, sealed)
        return root

    def wrong_root(self, root: bytes, sealed: bytes) -> CorruptionError:
        """Return the error for a tree whose root is not the one in its seal."""
        return CorruptionError(
            f"the tree at {self.prefix!r} has the root {root.hex()}, but its seal has {sealed.hex()}",
            hint=HINT,
            family="trees",
        )

    def keys(self, rows: Reader) -> set[bytes]:
        """Return the key digests of all leaves. This reads the whole tree.

        Raises:
            CorruptionError: a page is malformed.
        """
        keys: set[bytes] = set()
        for key, stored in rows.scan_prefix(self.prefix):
            if key != self.seal_key:
                depth, path = key[len(self.prefix)], key[len(self.prefix) + 1 :]
                slots = decode_page(key, depth, path, stored)
                keys.update(slot[:DIGEST_BYTES] for slot in slots if len(slot) == LEAF_BYTES)
        return keys

    def holds(self, rows: Reader, keys: Sequence[bytes], pages: Pages) -> list[bool]:
        """Return, for each of these keys of its namespace, whether the tree has a leaf.

        `pages` holds pages of the same tree that were read before. The pages that are read now are added to
        `pages`.

        Raises:
            CorruptionError: a page is missing.
        """
        if NATIVE is not None:
            held = NATIVE.held_leaves(self.prefix, self._namespace, list(keys), pages, rows.multi_get)
            if held is not None:
                return held  # type: ignore[no-any-return]
        return self._holds(rows, [position(self._namespace, key) for key in keys], pages)

    def _holds(self, rows: Reader, digests: Sequence[bytes], pages: Pages) -> list[bool]:
        """Return the same as `holds`, with key digests as arguments.

        This is the twin of the compiled `held_leaves`.
        """
        ends = self.read_paths(rows, digests, pages)
        if any(len(end) == DIGEST_BYTES for end in ends):
            raise CorruptionError(f"a page of the tree at {self.prefix!r} is missing", hint=HINT)
        return [end[:DIGEST_BYTES] == digest for end, digest in zip(ends, digests, strict=True)]

    def read_paths(self, rows: Reader, digests: Sequence[bytes], pages: Pages) -> list[bytes]:
        """Read the pages on the paths to key digests into `pages`, level by level. No page is checked.

        Return the slot at which each path ends. If a page is missing, this is the root of its subtree.
        """
        ends = [b""] * len(digests)
        waiting: Sequence[int] = range(len(digests))
        depth = 0
        while waiting and depth <= DEPTH_MAX:
            prefix, whole = self._page_key(depth, b""), depth >> 1
            keys = [
                prefix + digests[at][:whole] + (bytes((digests[at][whole] & 0xF0,)) if depth & 1 else b"")
                for at in waiting
            ]
            unread = [key for key in dict.fromkeys(keys) if key not in pages]
            if unread:
                pages.update(zip(unread, rows.multi_get(unread), strict=True))
            below = []
            for at, key in zip(waiting, keys, strict=True):
                page = pages[key]
                if page is not None:
                    ends[at] = _slot_in(page, nibble_of(digests[at], depth))
                    if len(ends[at]) == DIGEST_BYTES:
                        below.append(at)
            waiting, depth = below, depth + 1
        return ends

    def root_of(self, slots: Slots) -> bytes:
        """Return the root of the tree from the slots of its root page."""
        return slot_root(fold(slots, self.hasher), self.hasher)

    def _page_key(self, depth: int, path: bytes) -> bytes:
        return self.prefix + depth.to_bytes(1, "big") + path


def fold(slots: Slots, hasher: TreeHasher) -> bytes:
    """Combine 16 slots into one slot.

    The result is b"" if all slots are empty, the leaf if there is only one leaf, and otherwise a subtree
    root.
    """
    while len(slots) > 1:
        slots = parent_level(slots, hasher)
    return slots[0]


def slot_root(slot: bytes, hasher: TreeHasher) -> bytes:
    """Return the root of the subtree in a slot: EMPTY, the root of the only leaf, or the stored root.

    The slot may be of any bit level.
    """
    if len(slot) == LEAF_BYTES:
        return hasher.leaf(slot[:DIGEST_BYTES], slot[DIGEST_BYTES:])
    return slot or EMPTY


def parent_level(slots: Slots, hasher: TreeHasher) -> Slots:
    """Return the bit level above `slots`, with half as many slots.

    A slot of the result is b"" if there is no leaf below it. If there is only one leaf, the slot is this
    leaf; otherwise, the slot is the root of the subtree.
    """
    folded = []
    for left, right in zip(slots[::2], slots[1::2], strict=True):
        if not right and len(left) != DIGEST_BYTES:
            folded.append(left)
        elif not left and len(right) != DIGEST_BYTES:
            folded.append(right)
        else:
            folded.append(hasher.node(slot_root(left, hasher), slot_root(right, hasher)))
    return folded
