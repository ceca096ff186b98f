"""The follower `log`: the roots of the log's complete subtrees (SPEC: Log).

    l/ level u8 ‖ index u64    the RFC 6962 root over 256^level leaves, beginning with leaf index · 256^level

With these rows, a proof path is computed without a scan of the whole log. Levels begin at 1. There are no
rows for level 0, the leaf hashes, because leaf hashes are computed from the headers. A row is written when
its subtree is complete, and it never changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import ne

from backends.base import Batch, Reader
from engine.base import limits
from engine.base.errors import CorruptionError
from engine.base.native import NATIVE
from engine.followers.base import Follower, check_cursor, read_cursor
from engine.ledger.journal import LogState, read_header
from engine.ledger.layout import JOURNAL, SUBTREE, journal_key, subtree_key
from proofs.events import Entry
from proofs.log import DIGEST_BYTES, SIZE_BYTES, Frontier, leaf_hash, node_hash

WIDTH_BITS = 8
WIDTH = 1 << WIDTH_BITS
"""The number of hashes on one level that are combined into one hash on the next level. It is also the width
of a tile (c2sp.org/tlog-tiles)."""


class LogFollower(Follower):
    """Maintains the root of each complete subtree of 256, 256², … leaves."""

    name = "log"
    version = 1
    prefixes = (SUBTREE,)

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Put into `batch` the roots of the subtrees that `entries` complete. `rows` has earlier hashes."""
        level, first = 0, entries[0].header.seq
        hashes = [entry.leaf for entry in entries]
        while first // WIDTH < (first + len(hashes)) // WIDTH:
            index = first // WIDTH
            hashes = read_hashes(rows, level, index * WIDTH, first) + hashes
            hashes = _complete_roots(hashes)
            level, first = level + 1, index
            for number, root in enumerate(hashes, first):
                batch.put(subtree_key(level, number), root)


def _complete_roots(hashes: list[bytes]) -> list[bytes]:
    """Return the root of each complete subtree of `WIDTH` hashes."""
    roots = None if NATIVE is None else NATIVE.complete_roots(hashes, WIDTH)
    if roots is not None:
        return roots  # type: ignore[no-any-return]
    return [complete_root(hashes[at : at + WIDTH]) for at in range(0, len(hashes) - WIDTH + 1, WIDTH)]


def complete_root(hashes: Sequence[bytes]) -> bytes:
    """Return the root of the tree that consists of 2^n complete subtrees of equal size, given their roots.

    Raises:
        ValueError: the number of hashes is not a power of two, or a hash does not have 32 bytes.
    """
    while len(hashes) > 1:
        hashes = [node_hash(*pair) for pair in zip(hashes[::2], hashes[1::2], strict=True)]
    return hashes[0]


def read_hashes(rows: Reader, level: int, start: int, stop: int) -> list[bytes]:
    """Return the hashes of a level from index `start` up to but excluding `stop`.

    At level 0 the hashes are the leaf hashes of the headers; at other levels they are the values of the rows.

    Raises:
        CorruptionError: a hash is missing or does not have 32 bytes.
    """
    if start == stop:
        return []
    key_of = journal_key if not level else lambda index: subtree_key(level, index)
    stored = rows.scan(key_of(start), key_of(stop))
    hashes = []
    for index in range(start, stop):
        key, value = next(stored, (b"", b""))
        if key != key_of(index):
            raise _corrupt(level, index, "is missing")
        if level and len(value) != DIGEST_BYTES:
            raise _corrupt(level, index, f"has {len(value)} bytes, not {DIGEST_BYTES}")
        hashes.append(value if level else leaf_hash(value))
    return hashes


def frontier_of(rows: Reader, size: int) -> Frontier:
    """Return the frontier of the first `size` events, from the stored subtrees and the headers after them.

    With all subtrees stored, this reads at most 255 rows of each level.

    Raises:
        CorruptionError: a header or a subtree is missing or malformed, or the cursor does not match.
    """
    cursor = read_cursor(rows, LogFollower.name)
    covered = 0
    if cursor is not None and cursor.version == LogFollower.version:
        check_cursor(rows, LogFollower.name, cursor, size)
        covered = cursor.size
    ends = _Ends(rows, size, covered)
    start, roots = 0, []
    for bit in range(size.bit_length() - 1, -1, -1):
        if size >> bit & 1:
            roots.append(_subtree(ends, start, bit, covered))
            start += 1 << bit
    return Frontier.from_bytes(size.to_bytes(SIZE_BYTES, "big") + b"".join(roots))


def check_log_state(rows: Reader, log: LogState) -> None:
    """Check that `log` is the state of the log of the stored headers.

    Raises:
        CorruptionError: `log` is a different state.
    """
    time = read_header(rows, log.size - 1)[0].time if log.size else 0
    if (
        frontier_of(rows, log.size) != log.frontier
        or time != log.time
        or next(rows.scan(journal_key(log.size), JOURNAL + b"\xff"), None) is not None
    ):
        raise CorruptionError(
            f"the state of the log does not match the {log.size} headers of the journal",
            hint="run `engine rebuild`, then `engine verify-root`",
            family="meta",
        )


def header_runs(rows: Reader, stop: int, start: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the stored headers of the events from `start` up to `stop`, many at once, each list with its seq.

    Nothing is checked. A missing header makes the log of the yielded headers another one.
    """
    stored = rows.scan(journal_key(start), journal_key(stop))
    while run := [raw for _, raw in islice(stored, limits.FOLLOW_EVENTS_MAX)]:
        yield start, run
        start += len(run)


LOG_DAMAGE_BYTES_MAX = 8
"""The maximum number of bytes in which a damaged state of the log may differ from the computed one. If more
bytes differ, a header was changed, because a changed header changes all 32 bytes of a hash."""


def is_damaged_state(stored: Frontier, computed: Frontier) -> bool:
    """Return True if `stored` is the state `computed` with some damage, not the state of other headers."""
    one, other = stored.to_bytes(), computed.to_bytes()
    differing = sum(map(ne, one, other)) + abs(len(one) - len(other))
    return bool(differing <= LOG_DAMAGE_BYTES_MAX)


class _Ends:
    """Hashes of the first `size` events. The incomplete last group of each level is read with one scan.

    Each complete subtree of a frontier is a range of such a group. A scan for each of them would be up to
    eight times as many.
    """

    def __init__(self, rows: Reader, size: int, covered: int) -> None:
        self._rows = rows
        self._size = size
        self._covered = covered
        self._groups: dict[int, list[bytes]] = {}

    def read(self, level: int, start: int, stop: int) -> list[bytes]:
        """Return the result of `read_hashes`."""
        end = self._size >> level * WIDTH_BITS
        first = end // WIDTH * WIDTH
        stored = not level or end << level * WIDTH_BITS <= self._covered
        if start < first or stop > end or not stored:
            return read_hashes(self._rows, level, start, stop)
        if level not in self._groups:
            self._groups[level] = read_hashes(self._rows, level, first, end)
        return self._groups[level][start - first : stop - first]


def _subtree(ends: _Ends, start: int, height: int, covered: int) -> bytes:
    """Return the root over 2^`height` leaves; the follower has processed the first `covered` leaves."""
    level = height // WIDTH_BITS if start + (1 << height) <= covered else 0
    if level or height <= WIDTH_BITS:
        first, last = start >> level * WIDTH_BITS, (start + (1 << height)) >> level * WIDTH_BITS
        return complete_root(ends.read(level, first, last))
    half = height - 1
    left = _subtree(ends, start, half, covered)
    return node_hash(left, _subtree(ends, start + (1 << half), half, covered))


def _corrupt(level: int, index: int, problem: str) -> CorruptionError:
    if not level:
        return CorruptionError(f"journal header {index} {problem}", family="journal", seq=index)
    return CorruptionError(
        f"root {index} of the log's subtrees of 256^{level} events {problem}",
        hint="run `engine verify-root`, then `engine rebuild`",
        family="log",
    )
