"""Choosing the headers of a rescued journal among the rows that were found.

The rows also contain states of the log: rows `meta/log`, possibly several, and roots of subtrees. A header is
right if a state of the log proves it. Headers after the last usable state are kept if they decode, and the
report says that no hash of the log covers them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from operator import ne

from backends.salvaged_rows import FoundRows
from engine.base.errors import CorruptionError
from engine.followers.base import decode_cursor
from engine.followers.log import WIDTH, complete_root
from engine.ledger.journal import decode_log
from engine.ledger.layout import CURSOR, JOURNAL, LOG, decode_header, journal_key, payload_key, subtree_key
from proofs.hashing import SALT_BYTES, commitment
from proofs.log import Frontier, leaf_hash

_LOG_DAMAGE_BYTES_MAX = 8
"""If a state of the log differs in at most this many bytes, the state itself is damaged: a changed header
would change all bytes of a hash. Verification uses the same limit."""


@dataclass
class Headers:
    """The headers that were chosen."""

    size: int
    """The number of consecutive headers, starting with event 0, that may form the journal."""
    proved: int
    """The number of headers, counted from event 0, that a state of the log proves."""
    boundaries: tuple[int, ...]
    """The sizes of the journal after commits, ascending, as far as rows that were found show them."""
    recorded: int
    """The number of events that the newest state of the log covers; 0 if no state was found."""
    states: tuple[int, ...]
    """The numbers of events that the states of the log cover, ascending."""
    found: int
    """The number of headers that were found, including those after a gap."""
    last: int
    """The seq of the last header that was found, or -1 if no header was found."""
    problem: str
    """The reason why no later header was chosen; empty if no later header is known."""
    rows: dict[int, bytes] = field(default_factory=dict)
    """Seq → header, for each event for which the first header row found was not chosen."""


def choose_headers(found: FoundRows, *, unconfirmed: bool = False) -> Headers:
    """Choose the headers; see `Headers`.

    With `unconfirmed`, headers are kept even if the log commits to different headers and it is not known
    which headers are wrong.
    """
    return _Choice(found, unconfirmed=unconfirmed).run()


def header_rows(found: FoundRows, headers: Headers) -> Iterator[tuple[int, bytes]]:
    """Yield the seq and the bytes of each chosen header, in order."""
    rows = found.scan(journal_key(0), journal_key(headers.size))
    for seq, (_, values) in enumerate(rows):
        yield seq, headers.rows.get(seq) or values[0]


class _Choice:
    def __init__(self, found: FoundRows, *, unconfirmed: bool) -> None:
        self._found = found
        self._unconfirmed = unconfirmed
        self._states: dict[int, list[bytes]] = {}
        """Size → the frontiers of this size that were found, as bytes."""
        self._leaves: list[bytes] = []
        self._rows: dict[int, bytes] = {}
        self._recorded = 0

    def run(self) -> Headers:
        self._read_states()
        headers, last, problem = self._read_headers()
        proved, boundaries, broken = self._check()
        while broken is not None and not self._unconfirmed:
            start, stop = max(broken[0], proved), broken[1]
            del self._leaves[start:]
            problem = f"the log commits to other headers of the events {start} to {stop - 1}"
            proved, boundaries, broken = self._check()
        return Headers(
            size=len(self._leaves),
            proved=proved,
            boundaries=tuple(sorted({*boundaries, *self._cursors()})),
            recorded=self._recorded,
            states=tuple(sorted(self._states)),
            found=headers,
            last=last,
            problem=problem,
            rows=self._rows,
        )

    def _read_states(self) -> None:
        for value in self._found.values(LOG):
            try:
                frontier = decode_log(value).frontier
            except CorruptionError:
                continue
            self._states.setdefault(frontier.size, []).append(frontier.to_bytes())
            self._recorded = self._recorded or frontier.size

    def _cursors(self) -> Iterator[int]:
        """Yield the sizes of the cursors that match the headers. A cursor is written after the commit."""
        for key, values in self._found.scan_prefix(CURSOR):
            for value in values:
                with suppress(CorruptionError):
                    cursor = decode_cursor(value, key.decode(errors="replace"))
                    if 0 < cursor.size <= len(self._leaves) and cursor.leaf == self._leaves[cursor.size - 1]:
                        yield cursor.size

    def _read_headers(self) -> tuple[int, int, str]:
        """Choose a row for each event up to the first gap or damage.

        Returns:
            The number of headers that were found, the seq of the last one, and the reason for the end.
        """
        count, last, problem = 0, -1, ""
        for key, values in self._found.scan_prefix(JOURNAL):
            if len(key) != len(JOURNAL) + 8:
                continue
            seq = int.from_bytes(key[len(JOURNAL) :], "big")
            count += 1
            if seq > last + 1 and not problem:
                problem = f"the header of event {last + 1} is missing"
            last = seq
            if not problem:
                raw = self._choose(seq, values)
                problem = "" if raw else f"the header of event {seq} is damaged"
                self._leaves += [leaf_hash(raw)] if raw else []
        return count, last, problem

    def _choose(self, seq: int, values: list[bytes]) -> bytes | None:
        """Return the row that decodes and, of several, one to which a content belongs; None if none does."""
        right = [raw for raw in values if _decodes(raw, seq)]
        if len(right) > 1:
            payloads = self._found.values(payload_key(seq))
            right.sort(key=lambda raw: not any(_belongs(raw, seq, payload) for payload in payloads))
        if not right:
            return None
        if right[0] != values[0]:
            self._rows[seq] = right[0]
        return right[0]

    def _subtrees(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield (start, end, root) of each subtree whose root and headers were found, small ones first."""
        for number in range(len(self._leaves) // WIDTH):
            for root in self._found.values(subtree_key(1, number)):
                yield number * WIDTH, (number + 1) * WIDTH, root
        size = max((size for size in self._states if size <= len(self._leaves)), default=0)
        for raw in self._states.get(size, ()):
            yield from reversed(list(_parts(size, raw)))

    def _check(self) -> tuple[int, list[int], tuple[int, int] | None]:
        """Compare the headers with the states of the log.

        Returns:
            The largest size at which a state commits to the headers; all sizes at which a state commits to
            them; and the smallest subtree that differs, if the headers do not agree with the largest state.
        """
        frontier, agreed = Frontier(), []
        differs = False
        for size in sorted(size for size in self._states if 0 < size <= len(self._leaves)):
            frontier.extend(self._leaves[frontier.size : size])
            computed = frontier.to_bytes()
            differs = not any(_agrees(computed, raw) for raw in self._states[size])
            if not differs:
                agreed.append(size)
        proved = agreed[-1] if agreed else 0
        return proved, agreed, self._broken_subtree() if differs else None

    def _broken_subtree(self) -> tuple[int, int] | None:
        """Return the smallest known subtree that shows that a header is wrong, or None.

        If a differing subtree is inside a right subtree, or is covered by right subtrees, then the root of
        the differing subtree is damaged and its headers are right.
        """
        right, broken = set(), []
        for start, stop, root in self._subtrees():
            if complete_root(self._leaves[start:stop]) == root:
                right.add((start, stop))
            else:
                broken.append((start, stop))
        for start, stop in sorted(broken, key=_width_and_start):
            inside = any(first <= start and stop <= last for first, last in right)
            covered = sum(last - first for first, last in right if start <= first and last <= stop)
            if not inside and covered < stop - start:
                return start, stop
        return None


def _width_and_start(subtree: tuple[int, int]) -> tuple[int, int]:
    return subtree[1] - subtree[0], subtree[0]


def _agrees(computed: bytes, stored: bytes) -> bool:
    """Return True if a state of the log commits to the computed frontier, apart from a few damaged bytes."""
    return computed == stored or sum(map(ne, computed, stored)) <= _LOG_DAMAGE_BYTES_MAX


def _parts(size: int, raw: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield (start, end, root) of each perfect subtree of a frontier."""
    start, at = 0, 8
    for bit in range(size.bit_length() - 1, -1, -1):
        if size >> bit & 1:
            yield start, start + (1 << bit), raw[at : at + 32]
            start, at = start + (1 << bit), at + 32


def _decodes(raw: bytes, seq: int) -> bool:
    try:
        decode_header(raw, seq)
    except CorruptionError:
        return False
    return True


def _belongs(raw: bytes, seq: int, payload: bytes) -> bool:
    salt, body = payload[:SALT_BYTES], payload[SALT_BYTES:]
    return len(salt) == SALT_BYTES and commitment(salt, body) == decode_header(raw, seq).commitment
