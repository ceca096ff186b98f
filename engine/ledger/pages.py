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

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from backends.base import Batch, Reader, Row
from engine.base.errors import CorruptionError, InvalidInputError
from engine.kernels import NATIVE
from engine.ledger import layout
from proofs.hashing import DIGEST_BYTES, EMPTY, TREE_HASHER, TreeHasher, key_digest

DEPTH_MAX: Final = 63
"""The depth of the deepest pages, whose slots correspond to the last nibble of the key digest."""
LEAF_BYTES: Final = 2 * DIGEST_BYTES
HEAD_BYTES: Final = 4
SLOTS: Final = 16

# The set bits of each byte in ascending order. With this table, empty slots are skipped; this saves 0.5 µs of
# the 21 µs that an update in a batch of 10,000 takes (measured).
_BITS: Final = [tuple(bit for bit in range(8) if byte >> bit & 1) for byte in range(256)]
_HIGH_BITS: Final = [tuple(bit + 8 for bit in bits) for bits in _BITS]

_HINT: Final = "run `engine rebuild` to rebuild the trees from the journal"

Digests = Mapping[bytes, bytes | None]
"""Key digest → value digest, or None for a leaf that does not exist."""
_NOTHING: Final[Digests] = {}

Pages = dict[bytes, bytes | None]
"""Pages by the keys of their rows; None for a page that does not exist."""


class PagesRead(Reader):
    """A reader of rows.

    Pages that were read before are returned from a dict. Another thread may add pages to the dict at any
    time.
    """

    def __init__(self, rows: Reader, pages: Pages) -> None:
        self._rows = rows
        self._pages = pages

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`, or None if there is no row."""
        pages = self._pages
        return pages[key] if key in pages else self._rows.get(key)

    def multi_get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the values of `keys`, in the same order."""
        pages = self._pages
        known = {key: pages[key] for key in keys if key in pages}
        unread = [key for key in keys if key not in known]
        read = iter(self._rows.multi_get(unread))
        return [known[key] if key in known else next(read) for key in keys]

    def scan(self, start: bytes = b"", end: bytes | None = None, *, reverse: bool = False) -> Iterator[Row]:
        """Yield the rows with start <= key < end."""
        return self._rows.scan(start, end, reverse=reverse)


_SIZE_BYTES: Final = 8
SEAL_BYTES_MIN: Final = _SIZE_BYTES + DIGEST_BYTES


class Seal(NamedTuple):
    """The state of a tree after a number of events. It is stored in a separate row."""

    size: int
    """The number of events that the follower of the tree has processed."""
    root: bytes
    other: bytes
    """Bytes for use by the follower. Only the follower may change them."""


NO_SEAL: Final = Seal(0, EMPTY, b"")

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
    for nibble in _BITS[occupied & 0xFF] + _HIGH_BITS[occupied >> 8]:
        end = at + DIGEST_BYTES
        if leaves >> nibble & 1:
            if not stored.startswith(whole_bytes, at) or stored[at + whole] & mask != base + nibble * step:
                raise _malformed(page_key, f"the leaf in slot {nibble} belongs in a different slot or page")
            end += DIGEST_BYTES
        slots[nibble] = stored[at:end]
        at = end
    if EMPTY in slots:
        raise _malformed(page_key, "the subtree root in one of its slots is that of the empty tree")
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
    return CorruptionError(f"the tree page {page_key.hex()} is missing", hint=_HINT)


def _bitmaps(page_key: bytes, depth: int, stored: bytes) -> tuple[int, int]:
    """Return a page's bitmaps of occupied slots and of leaves.

    The bitmaps are checked against `depth` and the length of the page.
    """
    head = int.from_bytes(stored[:HEAD_BYTES], "big")
    occupied, leaves = head >> 16, head & 0xFFFF
    count, leaf_count = occupied.bit_count(), leaves.bit_count()
    if len(stored) != HEAD_BYTES + DIGEST_BYTES * (count + leaf_count):
        raise _malformed(page_key, f"its bitmaps do not match its length of {len(stored)} bytes")
    if leaves & ~occupied:
        raise _malformed(page_key, "a leaf is in a slot that is not occupied")
    if not count or (depth and count == leaf_count == 1):
        raise _malformed(page_key, "the page has too few leaves to be stored")
    if depth == DEPTH_MAX and count != leaf_count:
        raise _malformed(page_key, "the page has a subtree below the last nibble")
    return occupied, leaves


def _malformed(page_key: bytes, rule: str) -> CorruptionError:
    return CorruptionError(f"the tree page {page_key.hex()} is malformed: {rule}", hint=_HINT)


class _Visit:
    """A page that an update visits. `changes[first:last]` are the changes in the page's subtree."""

    __slots__ = ("first", "last", "nibble", "parent", "path", "slots", "stored")

    def __init__(self, path: bytes, parent: _Visit | None, nibble: int, first: int, last: int) -> None:
        self.path = path
        self.parent = parent
        self.nibble = nibble
        self.first = first
        self.last = last
        self.stored: bytes | None = None
        self.slots: Slots = [b""] * SLOTS


class PagedTree:
    """The tree of one namespace. The object holds no data of the tree: all data is in the rows."""

    def __init__(self, namespace: str, hasher: TreeHasher = TREE_HASHER) -> None:
        self._namespace = namespace
        self._prefix = layout.tree_prefix(namespace)
        self._root_key = self._page_key(0, b"")
        self._seal_key = layout.seal_key(self._prefix)
        self._hasher = hasher

    def root(self, rows: Reader) -> bytes:
        """Return the root of the tree: 32 zero bytes if the tree has no leaf. This reads one row.

        Raises:
            CorruptionError: the page is malformed.
        """
        stored = rows.get(self._root_key)
        return EMPTY if stored is None else self._finish(decode_page(self._root_key, 0, b"", stored))

    def update(
        self,
        rows: Reader,
        batch: Batch,
        changes: Digests,
        *,
        before: Digests = _NOTHING,
        root: bytes | None = None,
    ) -> bytes:
        """Put all pages that `changes` (key digest → value digest) alters into `batch`; return the new root.

        A value digest of None removes the leaf if it exists. Pages that stay the same are not put. Pages are
        read from `rows` and not from `batch`. Therefore a tree can be updated only once in a batch, and
        `rows` must not change before the batch is written.

        Each page that is read must have the root that is stored in its parent page. So if the root in the
        seal is right, the new root is right even if pages were damaged in the meantime.

        Args:
            rows: The rows to read.
            batch: The batch to put the pages into.
            changes: The new value digest of each key digest.
            before: The present value digest of some of these keys; None for a leaf that does not exist.
            root: The present root of the tree, or None if it is unknown.

        Raises:
            InvalidInputError: a digest does not have 32 bytes, or `batch` already has an update of this
                tree; `batch` is unchanged.
            CorruptionError: a visited page is malformed, missing, or has the wrong root; a leaf does not have
                the value digest in `before`, or the tree does not have the root `root`. `batch` is unchanged.
        """
        if self._root_key in batch.rows:
            raise InvalidInputError(
                f"the tree at {self._prefix!r} was already updated in this batch",
                hint="collect the changes and update each tree once in a batch",
            )
        if NATIVE is not None and self._hasher is TREE_HASHER:
            updated = NATIVE.update_pages(self._prefix, dict(changes), rows.multi_get, dict(before), root)
            if updated is not None:
                pages, new_root = updated
                batch.rows.update(pages)
                return bytes(new_root)
        return self._update(rows, batch, changes, before, root)

    def _update(
        self,
        rows: Reader,
        batch: Batch,
        changes: Digests,
        before: Digests = _NOTHING,
        known: bytes | None = None,
    ) -> bytes:
        """Do the work of `update` in Python. This is the twin of the compiled `update_pages`."""
        for key, value in changes.items():
            if len(key) != DIGEST_BYTES or (value is not None and len(value) != DIGEST_BYTES):
                raise InvalidInputError(
                    f"key and value digests must have {DIGEST_BYTES} bytes; those of key {key.hex()} do not"
                )
        root = _Visit(b"", None, 0, 0, len(changes))
        self._ascend(batch, self._descend(rows, root, sorted(changes.items()), before, known))
        return self._finish(root.slots)

    def root_with(self, rows: Reader, changes: Digests, *, root: bytes | None = None) -> bytes:
        """Return the root that `update` would return, but write nothing.

        The errors are the same as for `update`.
        """
        return self.update(rows, Batch(), changes, root=root)

    def seal(self, rows: Reader) -> Seal:
        """Return the seal of the tree, or the seal of an empty tree if it has none.

        Raises:
            CorruptionError: the row is malformed.
        """
        stored = rows.get(self._seal_key)
        if stored is None:
            return NO_SEAL
        if len(stored) < SEAL_BYTES_MIN:
            raise CorruptionError(f"the seal of the tree at {self._prefix!r} is malformed", hint=_HINT)
        size, root = stored[:_SIZE_BYTES], stored[_SIZE_BYTES:SEAL_BYTES_MIN]
        return Seal(int.from_bytes(size, "big"), root, stored[SEAL_BYTES_MIN:])

    def put_seal(self, batch: Batch, seal: Seal) -> None:
        """Put the row of a seal into `batch`."""
        batch.put(self._seal_key, seal.size.to_bytes(_SIZE_BYTES, "big") + seal.root + seal.other)

    def advance(
        self,
        rows: Reader,
        batch: Batch,
        sizes: tuple[int, int],
        changes: Digests,
        before: Digests,
        other: bytes = b"",
    ) -> None:
        """Update a tree and its seal.

        The tree's follower advances from the first number of events in `sizes` to the second number.

        Raises:
            CorruptionError: see `update`; or the seal belongs to another number of events.
        """
        root = self.sealed(rows, sizes[0]).root
        if changes:
            root = self.update(rows, batch, changes, before=before, root=root)
        self.put_seal(batch, Seal(sizes[1], root, other))

    def sealed(self, rows: Reader, size: int) -> Seal:
        """Return the seal of the tree. It must be the seal of a follower that has processed `size` events.

        Raises:
            CorruptionError: the seal is malformed, or belongs to a different number of events.
        """
        seal = self.seal(rows)
        if seal.size != size:
            raise CorruptionError(
                f"the tree at {self._prefix!r} includes {seal.size} events, not {size}", hint=_HINT
            )
        return seal

    def sealed_root(self, rows: Reader, size: int) -> bytes:
        """Return the root of the tree. It must equal the root in the tree's seal (see `sealed`).

        Raises:
            CorruptionError: the page of the root is malformed, or does not have this root.
        """
        root, sealed = self.root(rows), self.sealed(rows, size).root
        if root != sealed:
            raise self._wrong_root(root, sealed)
        return root

    def _wrong_root(self, root: bytes, sealed: bytes) -> CorruptionError:
        return CorruptionError(
            f"the tree at {self._prefix!r} has the root {root.hex()}, but its seal has {sealed.hex()}",
            hint=_HINT,
            family="trees",
        )

    def keys(self, rows: Reader) -> set[bytes]:
        """Return the key digests of all leaves. This reads the whole tree.

        Raises:
            CorruptionError: a page is malformed.
        """
        found: set[bytes] = set()
        for key, stored in rows.scan_prefix(self._prefix):
            if key != self._seal_key:
                depth, path = key[len(self._prefix)], key[len(self._prefix) + 1 :]
                slots = decode_page(key, depth, path, stored)
                found.update(slot[:DIGEST_BYTES] for slot in slots if len(slot) == LEAF_BYTES)
        return found

    def holds(self, rows: Reader, keys: Sequence[bytes], pages: Pages) -> list[bool]:
        """Return, for each of these keys of its namespace, whether the tree has a leaf.

        `pages` holds pages of the same tree that were read before. The pages that are read now are added to
        `pages`.

        Raises:
            CorruptionError: a page is missing.
        """
        if NATIVE is not None:
            held = NATIVE.held_leaves(self._prefix, self._namespace, list(keys), pages, rows.multi_get)
            if held is not None:
                return held  # type: ignore[no-any-return]
        return self._holds(rows, [key_digest(self._namespace, key) for key in keys], pages)

    def _holds(self, rows: Reader, digests: Sequence[bytes], pages: Pages) -> list[bool]:
        """Return the same as `holds`, with key digests as arguments.

        This is the twin of the compiled `held_leaves`.
        """
        found = [False] * len(digests)
        waiting: Sequence[int] = range(len(digests))
        depth = 0
        while waiting:
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
                    slot = _slot_in(page, nibble_of(digests[at], depth))
                    if len(slot) == DIGEST_BYTES:
                        below.append(at)
                    found[at] = slot[:DIGEST_BYTES] == digests[at]
                elif depth:
                    raise missing_page(key)
            waiting, depth = below, depth + 1
        return found

    def _descend(
        self,
        rows: Reader,
        root: _Visit,
        changes: Sequence[tuple[bytes, bytes | None]],
        before: Digests,
        known: bytes | None,
    ) -> list[list[_Visit]]:
        """Read the visited pages level by level and set their leaves. Subtree roots are not updated yet."""
        levels: list[list[_Visit]] = []
        level = to_read = [root]
        while level:
            depth = len(levels)
            prefix = self._page_key(depth, b"")
            page_keys = [prefix + visit.path for visit in to_read]
            pages = rows.multi_get(page_keys) if page_keys else []
            for visit, page_key, stored in zip(to_read, page_keys, pages, strict=True):
                if stored is not None:
                    visit.stored = stored
                    visit.slots = decode_page(page_key, depth, visit.path, stored)
                    parent = visit.parent
                    if parent is not None and self._fold(visit.slots) != parent.slots[visit.nibble]:
                        raise _malformed(page_key, "its root is not the one that its parent page holds")
                elif depth:
                    raise missing_page(page_key)
            if known is not None and not depth and self._finish(root.slots) != known:
                raise self._wrong_root(self._finish(root.slots), known)
            levels.append(level)
            below: list[_Visit] = []
            to_read = []
            for visit in level:
                _spread(visit, depth, changes, before, below, to_read)
            level = below
        return levels

    def _ascend(self, batch: Batch, levels: Sequence[Sequence[_Visit]]) -> None:
        """Write each changed page, from the deepest level up, and update its slot in the parent page."""
        for depth in range(len(levels) - 1, -1, -1):
            prefix = self._page_key(depth, b"")
            for visit in levels[depth]:
                slots = visit.slots
                body = b"".join(slots)
                one_leaf = len(body) == LEAF_BYTES and body in slots
                too_small = not body or (one_leaf and depth > 0)
                if too_small:
                    if visit.stored is not None:
                        batch.delete(prefix + visit.path)
                else:
                    page = encode_page(slots, body)
                    if page == visit.stored:
                        continue
                    batch.put(prefix + visit.path, page)
                if visit.parent is not None:
                    # The leaf of a page that is too small, if any, moves up unchanged.
                    visit.parent.slots[visit.nibble] = body if too_small else self._fold(slots)

    def _finish(self, slots: Slots) -> bytes:
        """Return the root of the tree from the slots of its root page."""
        return slot_root(self._fold(slots), self._hasher)

    def _fold(self, slots: Slots) -> bytes:
        """Combine 16 slots into one slot.

        The result is b"" if all slots are empty, the leaf if there is only one leaf, and otherwise a subtree
        root.
        """
        while len(slots) > 1:
            slots = parent_level(slots, self._hasher)
        return slots[0]

    def _page_key(self, depth: int, path: bytes) -> bytes:
        return self._prefix + depth.to_bytes(1, "big") + path


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
    leaf, node = hasher
    folded = []
    pairs = iter(slots)
    for left, right in zip(pairs, pairs):  # noqa: B905 - `strict` costs 1 µs an update, measured
        if not right:
            folded.append(node(left, EMPTY) if len(left) == DIGEST_BYTES else left)
        elif not left:
            folded.append(node(EMPTY, right) if len(right) == DIGEST_BYTES else right)
        else:
            if len(left) == LEAF_BYTES:
                left = leaf(left[:DIGEST_BYTES], left[DIGEST_BYTES:])
            if len(right) == LEAF_BYTES:
                right = leaf(right[:DIGEST_BYTES], right[DIGEST_BYTES:])
            folded.append(node(left, right))
    return folded


def _spread(
    visit: _Visit,
    depth: int,
    changes: Sequence[tuple[bytes, bytes | None]],
    before: Digests,
    below: list[_Visit],
    to_read: list[_Visit],
) -> None:
    """Set the leaves that belong in the page of `visit`; append a visit to `below` for each deeper page.

    Visits whose page is stored are also appended to `to_read`. The pages of all other visits are new. If
    there was a leaf in the parent page's slot for a new page, the new page begins with this leaf.
    """
    slots = visit.slots
    byte, shift = depth >> 1, 0 if depth & 1 else 4
    first, last = visit.first, visit.last
    while first < last:
        key, value = changes[first]
        nibble = key[byte] >> shift & 15
        end = first + 1
        while end < last and changes[end][0][byte] >> shift & 15 == nibble:
            end += 1
        slot = slots[nibble]
        if end - first == 1 and (not slot or (len(slot) == LEAF_BYTES and slot.startswith(key))):
            if key in before and before[key] != (slot[DIGEST_BYTES:] or None):
                raise CorruptionError(
                    f"a row and its leaf {key.hex()} in the tree contradict each other",
                    hint=_HINT,
                    family="trees",
                )
            slots[nibble] = b"" if value is None else key + value
        else:
            child = _Visit(child_path(visit.path, depth, nibble), visit, nibble, first, end)
            below.append(child)
            if len(slot) == DIGEST_BYTES:
                to_read.append(child)
            elif slot:
                child.slots[nibble_of(slot, depth + 1)] = slot
        first = end
