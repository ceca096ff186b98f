"""Updating of a namespace's tree: which pages a change of some leaves alters (`engine.ledger.pages`).

The compiled `update_pages` does the work. `PagedTree` does the same in Python if there is no kernel, or if
the kernel declines the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from backends.base import Batch, Reader
from engine.base.errors import CorruptionError, InvalidInputError
from engine.base.native import NATIVE
from engine.ledger.pages import (
    HINT,
    LEAF_BYTES,
    SIZE_BYTES,
    SLOTS,
    Digests,
    Pages,
    Slots,
    StoredTree,
    child_path,
    decode_page,
    encode_page,
    fold,
    malformed,
    missing_page,
    nibble_of,
)
from proofs.hashing import DIGEST_BYTES, TREE_HASHER, TreeHasher

_NOTHING: Final[Digests] = {}
Change = tuple[bytes, bytes | None]
"""A key digest and its new value digest, or None for a leaf that is removed."""


class PagedTree(StoredTree):
    """The tree of one namespace, for reading and for updates."""

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
        if self.root_key in batch.rows:
            raise InvalidInputError(
                f"the tree at {self.prefix!r} was already updated in this batch",
                hint="collect the changes and update each tree once in a batch",
            )
        updated = None
        if NATIVE is not None and self.hasher is TREE_HASHER:
            updated = NATIVE.update_pages(self.prefix, dict(changes), rows.multi_get, dict(before), root)
        pages, new_root = updated or self._update(rows, changes, before, root)
        batch.rows.update(pages)
        return bytes(new_root)

    def _update(
        self, rows: Reader, changes: Digests, before: Digests, known: bytes | None
    ) -> tuple[Pages, bytes]:
        """Return the pages that an update changes, and the new root; the twin of the compiled `update_pages`.

        The deepest pages come first.
        """
        for key, value in changes.items():
            if len(key) != DIGEST_BYTES or (value is not None and len(value) != DIGEST_BYTES):
                raise InvalidInputError(
                    f"key and value digests must have {DIGEST_BYTES} bytes; those of key {key.hex()} do not"
                )
        pages: Pages = dict(zip([self.root_key], rows.multi_get([self.root_key]), strict=True))
        self.read_paths(rows, list(changes), pages)
        stored = pages[self.root_key]
        slots = [b""] * SLOTS if stored is None else decode_page(self.root_key, 0, b"", stored)
        if known is not None and self.root_of(slots) != known:
            raise self.wrong_root(self.root_of(slots), known)
        update = _Update(self.prefix, self.hasher, pages, before)
        update.page(0, b"", slots, sorted(changes.items()))
        deepest_first = sorted(update.written.items(), key=lambda row: (-row[0][len(self.prefix)], row[0]))
        return dict(deepest_first), self.root_of(slots)

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
        batch.put(self.seal_key, sizes[1].to_bytes(SIZE_BYTES, "big") + root + other)


class _Update:
    """An update of a tree in Python. `pages` holds all pages on the paths to the changed keys."""

    def __init__(self, prefix: bytes, hasher: TreeHasher, pages: Pages, before: Digests) -> None:
        self._prefix = prefix
        self._hasher = hasher
        self._pages = pages
        self._before = before
        self.written: Pages = {}
        """The pages that the update changes; None for a page that it deletes."""

    def page(self, depth: int, path: bytes, slots: Slots, changes: Sequence[Change]) -> bytes:
        """Apply `changes` to `slots` and to the pages below; return the page's slot in its parent page."""
        for nibble, group in groupby(changes, key=lambda change: nibble_of(change[0], depth)):
            slots[nibble] = self._slot(depth, path, slots[nibble], list(group))
        key = self._prefix + bytes([depth]) + path
        stored = self._pages.get(key)
        body = b"".join(slots)
        if not body or (depth and len(body) == LEAF_BYTES and body in slots):
            # The page is too small to be stored. Its only leaf, if any, moves up unchanged.
            if stored is not None:
                self.written[key] = None
            return body
        page = encode_page(slots, body)
        if page != stored:
            self.written[key] = page
        return fold(slots, self._hasher)

    def _slot(self, depth: int, path: bytes, slot: bytes, changes: Sequence[Change]) -> bytes:
        """Return a slot of the page at `path` after `changes`, which all belong to this slot."""
        key, value = changes[0]
        if len(changes) == 1 and (not slot or (len(slot) == LEAF_BYTES and slot.startswith(key))):
            if key in self._before and self._before[key] != (slot[DIGEST_BYTES:] or None):
                raise CorruptionError(
                    f"a row and its leaf {key.hex()} in the tree contradict each other",
                    hint=HINT,
                    family="trees",
                )
            return b"" if value is None else key + value
        below = child_path(path, depth, nibble_of(key, depth))
        return self.page(depth + 1, below, self._slots_of(depth + 1, below, slot), changes)

    def _slots_of(self, depth: int, path: bytes, slot: bytes) -> Slots:
        """Return the slots of a page, which its parent page refers to in `slot`.

        If the page is new, it begins with the leaf in `slot`, if there is one.
        """
        slots = [b""] * SLOTS
        if len(slot) != DIGEST_BYTES:
            if slot:
                slots[nibble_of(slot, depth)] = slot
            return slots
        page_key = self._prefix + bytes([depth]) + path
        stored = self._pages.get(page_key)
        if stored is None:
            raise missing_page(page_key)
        slots = decode_page(page_key, depth, path, stored)
        if fold(slots, self._hasher) != slot:
            raise malformed(page_key, "its root is not the one that its parent page holds")
        return slots
