"""Paths in the log, made from the rows of the follower `log` (SPEC: Log).

The algorithms of RFC 9162, sections 2.1.3.1 and 2.1.4.1; `proofs.log_paths` verifies what they give.
A hash of a path is the root over a range of leaves, which divides into complete subtrees; what those
need is read from the follower's rows, and from the headers where it has not come so far.
"""

from __future__ import annotations

from backends.base import Reader
from engine.base.errors import InvalidInputError
from engine.followers.base import check_cursor, read_cursor
from engine.followers.log import WIDTH_BITS, LogFollower, complete_root, read_hashes
from proofs.log import EMPTY_ROOT, left_half, node_hash


class LogPaths:
    """Roots and paths of the log in one snapshot, at every size it has had.

    A path in a log of a million events takes some 500 rows; what complete subtrees of 256 leaves and
    more hash to is remembered. Not for use by several threads at once.
    """

    def __init__(self, rows: Reader, size: int) -> None:
        """Look at the log of the first `size` events.

        Args:
            rows: A snapshot with at least so many headers; the follower's rows may lag or not be there.
            size: The largest size that may be asked for.

        Raises:
            CorruptionError: the follower's cursor is not one of this journal.
        """
        self.size = size
        self._rows = rows
        self._known: dict[tuple[int, int], bytes] = {}
        cursor = read_cursor(rows, LogFollower.name)
        self._followed = 0
        if cursor is not None and cursor.version == LogFollower.version:
            check_cursor(rows, LogFollower.name, cursor, max(size, cursor.size))
            self._followed = cursor.size

    def root(self, size: int) -> bytes:
        """The root of the first `size` events; of none: `proofs.log.EMPTY_ROOT`.

        Raises:
            InvalidInputError: the log has never had that size.
            CorruptionError: a row is missing or malformed; so in all methods.
        """
        self._check("size", size, 0, self.size)
        return self._range(0, size) if size else EMPTY_ROOT

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """The siblings from the leaf `index` up to the root of the first `size` events.

        Raises:
            InvalidInputError: the log has never had that size, or the event is not below it.
        """
        self._check("size", size, 1, self.size)
        self._check("index", index, 0, size - 1)
        path, start, stop = [], 0, size
        while stop - start > 1:
            middle = _middle(start, stop)
            if index < middle:
                path.append(self._range(middle, stop))
                stop = middle
            else:
                path.append(self._range(start, middle))
                start = middle
        return path[::-1]

    def consistency(self, old: int, size: int) -> list[bytes]:
        """What shows that the first `size` events begin with the first `old`; nothing for equal sizes.

        Raises:
            InvalidInputError: the log has never had one of the sizes, or `old` is 0 or the larger one.
        """
        self._check("size", size, 1, self.size)
        self._check("older size", old, 1, size)
        path, start, stop = [], 0, size
        while stop != old:
            middle = _middle(start, stop)
            if old <= middle:
                path.append(self._range(middle, stop))
                stop = middle
            else:
                path.append(self._range(start, middle))
                start = middle
        # What has stayed at the left edge is the older root itself, which the verifier has.
        if start:
            path.append(self._range(start, stop))
        return path[::-1]

    def hashes(self, level: int, start: int, stop: int) -> list[bytes]:
        """The roots `start` up to `stop` of complete subtrees of 256^level leaves: what a tile holds.

        Raises:
            InvalidInputError: one is not complete at this size.
        """
        self._check("number of subtrees", stop, start, self.size >> WIDTH_BITS * level)
        followed = self._followed >> WIDTH_BITS * level if level else stop
        stored = min(max(followed, start), stop)
        found = read_hashes(self._rows, level, start, stored)
        # Where the follower has not come so far, down to the headers.
        return found + [self._complete(WIDTH_BITS * level, index) for index in range(stored, stop)]

    def _range(self, start: int, stop: int) -> bytes:
        """The root over leaves that are one complete subtree, or end where the log of some size ends."""
        count = stop - start
        if not count & (count - 1):
            height = count.bit_length() - 1
            return self._complete(height, start >> height)
        middle = _middle(start, stop)
        return node_hash(self._range(start, middle), self._range(middle, stop))

    def _complete(self, height: int, index: int) -> bytes:
        """The root over the leaves index · 2^height up to (index + 1) · 2^height."""
        place = height, index
        if place not in self._known:
            level = height // WIDTH_BITS
            if height == WIDTH_BITS * level > 0 and (index + 1) << height > self._followed:
                level -= 1
            count = 1 << height - WIDTH_BITS * level
            root = complete_root(self.hashes(level, index * count, (index + 1) * count))
            if height < WIDTH_BITS:
                return root
            self._known[place] = root
        return self._known[place]

    def _check(self, what: str, given: int, least: int, most: int) -> None:
        if not least <= given <= most:
            raise InvalidInputError(f"{what} {given} of the log: it must be {least} to {most}")


def _middle(start: int, stop: int) -> int:
    """Where the tree over these leaves, two at least, splits."""
    return start + left_half(stop - start)
