"""What a follower is, and the one loop that brings it up to the head (SPEC: Followers).

A follower turns journal entries into rows of its own. It reads nothing but its own rows and the
entries it is handed, so its rows depend on the journal alone: not on how the entries were cut into
batches, nor on who wrote them, nor on where a crash fell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from backends.base import Backend, Batch, Guard, Reader
from backends.errors import GuardFailed
from engine.base import limits
from engine.base.errors import CorruptionError, EngineError
from engine.ledger.codec import fields, unpack
from engine.ledger.journal import LogState, read_log
from engine.ledger.layout import cursor_key, journal_key
from engine.ledger.records import Lookup
from proofs.codec import pack
from proofs.events import Entry
from proofs.forms import sized, uint
from proofs.log import leaf_hash

EntrySource = Callable[[Reader, int, int], Sequence[Entry]]
"""(rows, start, stop) → consecutive entries from `start`, at least one, at most up to `stop`."""

SWEEP_ROWS = 10_000
"""Rows deleted in one batch when a projection is dropped."""


class Follower(ABC):
    """A projection of the journal with a cursor of its own."""

    name: str
    version: int
    """Raised when the rows change shape; rows of another version are dropped and made again."""
    prefixes: tuple[bytes, ...]
    """The rows it owns, and nobody else does."""

    @abstractmethod
    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Put into `batch` what `entries` change, given the rows as they are before them.

        `entries` are consecutive and begin where the rows end. Must not write, must not fail on
        any journal that commands can have written, and must give the same final rows however a
        history is cut.
        """

    def share(self, entries: Sequence[Entry], rows: Reader, *, more: bool) -> int:
        """How many of `entries` to follow in one batch: the same rows in the end, for less work.

        `more` says that others are about to come; only then may the answer be 0, to wait for them.
        """
        del rows, more
        return len(entries)


class Cursor(NamedTuple):
    """How far a projection has come: the number of events in its rows, and the last one's leaf."""

    version: int
    size: int
    leaf: bytes


_CURSOR_FIELDS = (uint(255), uint(limits.SEQ_MAX), sized(32))


def encode_cursor(cursor: Cursor) -> bytes:
    """The row of a cursor."""
    return pack(list(cursor))


def read_cursor(rows: Lookup, name: str) -> Cursor | None:
    """The cursor of the projection `name`; None when its rows are to be made anew.

    Raises:
        CorruptionError: the row is not a cursor.
    """
    return _decode_cursor(rows.get(cursor_key(name)), name)


def _decode_cursor(raw: bytes | None, name: str) -> Cursor | None:
    if raw is None:
        return None
    where = f"cursor of {name}"
    return Cursor(*fields(unpack(raw, where), _CURSOR_FIELDS, where))


def check_cursor(rows: Lookup, name: str, cursor: Cursor, size: int) -> None:
    """Compare a cursor with the journal it claims to have followed.

    Raises:
        CorruptionError: it is beyond the journal's end, or names another event than the journal has.
    """
    if cursor.size > size or cursor.leaf != _leaf_at(rows, cursor.size):
        raise CorruptionError(
            f"cursor of {name}: followed {cursor.size} events that are not the journal's",
            hint="run `engine verify-root`, then `engine rebuild`",
        )


def _leaf_at(rows: Lookup, size: int) -> bytes:
    """The leaf of the last of `size` events: 32 zero bytes where there is none, nothing where it is lost."""
    if not size:
        return bytes(32)
    raw = rows.get(journal_key(size - 1))
    return b"" if raw is None else leaf_hash(raw)


def are_current(rows: Lookup, log: LogState, followers: Iterable[Follower]) -> bool:
    """Whether the rows of each of `followers` are exactly those of the journal up to its head."""
    size = log.size
    leaf = _leaf_at(rows, size)
    return all(
        read_cursor(rows, follower.name) == Cursor(follower.version, size, leaf) for follower in followers
    )


def catch_up(
    backend: Backend,
    follower: Follower,
    source: EntrySource,
    *,
    stop: int | None = None,
    more: bool = False,
) -> None:
    """Bring the follower to event `stop`, or to the head as it was when this was called.

    With `more`, said while bulk work goes on, it may stay behind by what it would rather do later.

    Each batch is guarded by the follower's own cursor: of several that follow at once one wins, the
    others read on from where it came to. A crash between batches leaves rows and cursor of an
    earlier head, which the next call continues. Nothing here needs to be durable: what
    is lost with the power is caught up again, and no backend keeps a later write without an earlier one.

    Raises:
        CorruptionError: the journal or the cursor is not what was written.
    """
    key = cursor_key(follower.name)
    while True:
        with backend.snapshot() as rows:
            guard = Guard(key, rows.get(key))
            cursor = _decode_cursor(guard.expected, follower.name)
            size = read_log(rows).size
            stop = size if stop is None else stop
            if cursor is None or cursor.version < follower.version:
                batch, reached = _restart(rows, follower), 0
            else:
                _refuse_newer(follower, cursor)
                check_cursor(rows, follower.name, cursor, size)
                if cursor.size >= stop:
                    return
                entries = _share(rows, follower, source, cursor.size, stop, more=more)
                if not entries:
                    return
                batch, reached = Batch(), cursor.size + len(entries)
                follower.follow(entries, rows, batch)
                batch.put(key, encode_cursor(Cursor(follower.version, reached, entries[-1].leaf)))
        with suppress(GuardFailed):
            backend.write(batch, guard=guard, durable=False)
            if reached >= stop:
                return


def _refuse_newer(follower: Follower, cursor: Cursor) -> None:
    # Two installations on one store would undo each other's rows for ever.
    if cursor.version > follower.version:
        raise EngineError(
            f"the rows of {follower.name} have version {cursor.version}, this installation makes "
            f"{follower.version}",
            hint="open the store with the newer version of memroot, or `engine rebuild` with this one",
        )


def _share(
    rows: Reader, follower: Follower, source: EntrySource, start: int, stop: int, *, more: bool
) -> Sequence[Entry]:
    """The entries to follow next; none when the follower would rather wait for what is about to come."""
    entries = source(rows, start, min(stop, start + limits.FOLLOW_EVENTS_MAX))
    ends = start + len(entries) == stop
    taken = follower.share(entries, rows, more=more or not ends)
    return entries[:taken] if taken or ends else entries


def _restart(rows: Reader, follower: Follower) -> Batch:
    # Rows of an earlier life go first, in batches guarded by the cursor that says they are void; only
    # a batch that finds nothing more to delete may set the cursor to the beginning.
    batch = Batch()
    for prefix in follower.prefixes:
        for key, _ in rows.scan_prefix(prefix):
            batch.delete(key)
            if len(batch) >= SWEEP_ROWS:
                batch.delete(cursor_key(follower.name))
                return batch
    batch.put(cursor_key(follower.name), encode_cursor(Cursor(follower.version, 0, bytes(32))))
    return batch


def drop(backend: Backend, followers: Sequence[Follower]) -> None:
    """Declare all rows of `followers` void, durably; catching up then makes them anew.

    The cursors go first and alone: whatever crash follows, nobody takes the old rows for current.
    """
    batch = Batch()
    for follower in followers:
        batch.delete(cursor_key(follower.name))
    backend.write(batch, durable=True)
