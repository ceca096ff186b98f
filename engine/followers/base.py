"""The base class of followers, and the loop that brings a follower up to the head (SPEC: Followers).

A follower is an object that computes rows from the entries of the journal. It reads only its own rows and the
entries that are passed to it, so its rows depend on the journal alone. The rows do not depend on how the
entries are divided into batches, on which process writes the rows, or on when a crash happens.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from backends.base import Backend, Batch, Guard, Reader
from backends.errors import GuardFailed
from engine.base import limits
from engine.base.errors import CorruptionError, EngineError
from engine.ledger.journal import Cursor, LogState, encode_cursor, read_log
from engine.ledger.layout import cursor_key, fields, journal_key, unpack
from engine.ledger.records import Lookup
from proofs.codec import pack
from proofs.events import Entry
from proofs.forms import sized, uint
from proofs.log import leaf_hash

EntrySource = Callable[[Reader, int, int], Sequence[Entry]]
"""A function (rows, start, stop) that returns at least one entry of the journal. The entries are consecutive.
The first one is entry `start`, and the last one is before entry `stop`."""

SWEEP_ROWS = 10_000
"""The maximum number of rows that one batch deletes when a projection is rebuilt."""


class Follower(ABC):
    """A projection: rows computed from the journal, and a cursor that counts the processed events."""

    name: str
    version: int
    """The version of the row format. Rows of an older version are deleted and rebuilt."""
    prefixes: tuple[bytes, ...]
    """The key prefixes of the follower's rows. No other follower has rows with these prefixes."""

    @abstractmethod
    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Put the rows that `entries` change into `batch`.

        `entries` are consecutive and begin at the cursor. `rows` holds the rows as they are before these
        entries. An implementation must not write to the store, must not fail on any journal that commands can
        write, and must produce the same final rows for every division of a history into batches.
        """

    def batch_size(self, entries: Sequence[Entry], rows: Reader, *, more: bool) -> int:
        """Return the number of `entries` to process in one batch.

        The number affects the amount of work but not the final rows. If `more` is True, further entries will
        be passed soon, and the result may be 0. `entries` are then processed later, together with the further
        entries.
        """
        del rows, more
        return len(entries)


VOID = 0
"""The version of a void cursor. No follower has this version."""

_CURSOR_FIELDS = (uint(255), uint(limits.SEQ_MAX), sized(32))


def void_cursor() -> bytes:
    """Return a cursor row that says that the rows of the projection must be rebuilt.

    In place of the leaf, the row has random bytes, so no two of these rows are equal. A batch that is guarded
    by such a row fails if the rows were rebuilt and marked as void again meanwhile. A guard on a missing row
    would be satisfied.
    """
    return pack([VOID, 0, os.urandom(32)])


def read_cursor(rows: Lookup, name: str) -> Cursor | None:
    """Return the cursor of the projection `name`, or None if it is missing or void: the rows must be rebuilt.

    Raises:
        CorruptionError: the row does not hold a valid cursor.
    """
    return _decode_cursor(rows.get(cursor_key(name)), name)


def _decode_cursor(raw: bytes | None, name: str) -> Cursor | None:
    if raw is None:
        return None
    cursor = decode_cursor(raw, name)
    return None if cursor.version == VOID else cursor


def decode_cursor(raw: bytes, name: str) -> Cursor:
    """Decode the row that stores the cursor of the projection `name`; the cursor may be void.

    Raises:
        CorruptionError: the row does not hold a valid cursor.
    """
    where = f"cursor of {name}"
    return Cursor(*fields(unpack(raw, where), _CURSOR_FIELDS, where))


def check_cursor(rows: Lookup, name: str, cursor: Cursor, size: int) -> None:
    """Check that a cursor matches the journal, which has `size` events.

    Raises:
        CorruptionError: the cursor is beyond the end of the journal, or the journal has a different leaf at
            the position of the cursor.
    """
    if cursor.size > size or cursor.leaf != _leaf_at(rows, cursor.size):
        raise CorruptionError(
            f"the cursor of {name} does not match the first {cursor.size} events of the journal",
            hint="run `engine verify-root`, then `engine rebuild`",
        )


def _leaf_at(rows: Lookup, size: int) -> bytes:
    """Return the log leaf of event `size` − 1: b"" if the event is missing, 32 zero bytes if `size` is 0."""
    if not size:
        return bytes(32)
    raw = rows.get(journal_key(size - 1))
    return b"" if raw is None else leaf_hash(raw)


def are_current(rows: Reader, log: LogState, followers: Iterable[Follower]) -> bool:
    """Return True if the rows of all `followers` are up to date with the head of the journal."""
    leaf = _leaf_at(rows, log.size)
    listed = tuple(followers)
    cursors = rows.multi_get([cursor_key(follower.name) for follower in listed])
    return all(_is_at(raw, follower, log.size, leaf) for raw, follower in zip(cursors, listed, strict=True))


def is_current(rows: Lookup, log: LogState, follower: Follower, cursor: bytes | None) -> bool:
    """Return the result of `are_current` for one follower whose cursor was already read."""
    return _is_at(cursor, follower, log.size, _leaf_at(rows, log.size))


def _is_at(raw: bytes | None, follower: Follower, size: int, leaf: bytes) -> bool:
    if raw == encode_cursor(Cursor(follower.version, size, leaf)):
        return True
    _decode_cursor(raw, follower.name)
    return False


def catch_up(
    backend: Backend,
    follower: Follower,
    source: EntrySource,
    *,
    stop: int | None = None,
    more: bool = False,
) -> None:
    """Process the events before event `stop`, or all events up to the head at the time of the call.

    `more` is True during bulk work. The follower may then stop earlier and leave the remaining events to a
    later call.

    The follower's own cursor guards each batch. If several processes catch up at the same time, the batch of
    one process succeeds, and the other processes continue from the new cursor. A crash between batches leaves
    the rows and the cursor of an earlier head, and the next call continues from there. The batches need not
    be durable: if a backend loses a write, it also loses all later writes. After a power loss, therefore, the
    rows still match the cursor, and only some events are processed again.

    Raises:
        CorruptionError: the journal or the cursor does not have the bytes that were written.
        EngineError: a newer version of memroot wrote the rows.
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
                _check_version(follower, cursor)
                check_cursor(rows, follower.name, cursor, size)
                if cursor.size >= stop:
                    return
                entries = _next_entries(rows, follower, source, cursor.size, stop, more=more)
                if not entries:
                    return
                batch, reached = Batch(), cursor.size + len(entries)
                follower.follow(entries, rows, batch)
                batch.put(key, encode_cursor(Cursor(follower.version, reached, entries[-1].leaf)))
        with suppress(GuardFailed):
            backend.write(batch, guard=guard, durable=False)
            if reached >= stop:
                return


AT_ONCE_EVENTS_MAX = 256
"""The largest number of events that `catch_up_at_once` processes."""


def catch_up_at_once(
    backend: Backend, current: Follower, followers: Sequence[Follower], source: EntrySource
) -> bool:
    """Process the last events with all of `followers`, in one snapshot and one write.

    A follower alone needs a snapshot and a write of its own. In a database on another machine, each of them
    takes a message and its answer.

    Returns:
        False if `current`, or one of `followers`, needs `catch_up`: because it lacks too many events, because
            its rows must be rebuilt, or because another process wrote meanwhile. Nothing was written.

    Raises:
        CorruptionError: as for `catch_up`.
        EngineError: as for `catch_up`.
    """
    batch, guards = Batch(), []
    with backend.snapshot() as rows:
        log = read_log(rows)
        if not are_current(rows, log, (current,)):
            return False
        behind = []
        for follower in followers:
            guard = Guard(cursor_key(follower.name), rows.get(cursor_key(follower.name)))
            cursor = _decode_cursor(guard.expected, follower.name)
            if cursor is None or cursor.version != follower.version:
                return False
            check_cursor(rows, follower.name, cursor, log.size)
            if log.size - cursor.size > AT_ONCE_EVENTS_MAX:
                return False
            if cursor.size < log.size:
                behind.append((follower, cursor.size))
                guards.append(guard)
        for follower, start in behind:
            entries = _next_entries(rows, follower, source, start, log.size, more=False)
            if len(entries) < log.size - start:
                return False
            follower.follow(entries, rows, batch)
            cursor = Cursor(follower.version, log.size, entries[-1].leaf)
            batch.put(cursor_key(follower.name), encode_cursor(cursor))
    if guards:
        try:
            backend.write(batch, guard=guards, durable=False)
        except GuardFailed:
            return False
    return True


def _check_version(follower: Follower, cursor: Cursor) -> None:
    # Otherwise two installations on one store would rebuild each other's rows forever.
    if cursor.version > follower.version:
        raise EngineError(
            f"the rows of {follower.name} have version {cursor.version}, but this installation writes "
            f"version {follower.version}",
            hint="open the store with the newer version of memroot, or run `engine rebuild` with this one",
        )


def _next_entries(
    rows: Reader, follower: Follower, source: EntrySource, start: int, stop: int, *, more: bool
) -> Sequence[Entry]:
    """Return the entries for the next batch, or an empty sequence if the follower waits for more entries."""
    entries = source(rows, start, min(stop, start + limits.FOLLOW_EVENTS_MAX))
    reaches_stop = start + len(entries) == stop
    size = follower.batch_size(entries, rows, more=more or not reaches_stop)
    return entries[:size] if size or reaches_stop else entries


def _restart(rows: Reader, follower: Follower) -> Batch:
    # The old rows are deleted first. These batches are guarded by the void, missing or outdated cursor. Only
    # the batch that deletes the last old rows sets the cursor to the beginning. Each earlier batch replaces
    # the cursor, so a batch that was computed before it can no longer be written.
    batch = Batch()
    for prefix in follower.prefixes:
        for key in rows.keys(prefix, SWEEP_ROWS - len(batch)):
            batch.delete(key)
        if len(batch) >= SWEEP_ROWS:
            batch.put(cursor_key(follower.name), void_cursor())
            return batch
    batch.put(cursor_key(follower.name), encode_cursor(Cursor(follower.version, 0, bytes(32))))
    return batch


def drop(backend: Backend, followers: Sequence[Follower]) -> None:
    """Durably mark all rows of `followers` as void, so that catching up rebuilds them.

    The cursors are replaced first, in a separate batch, so that after a crash at any later point the old rows
    are not mistaken for current rows. The new cursors are void, and differ from all earlier ones. If the
    cursors were deleted, another process that had found a cursor missing before the rows were last rebuilt
    could still set the cursor to the beginning, although the old rows are there.
    """
    batch = Batch()
    for follower in followers:
        batch.put(cursor_key(follower.name), void_cursor())
    backend.write(batch, durable=True)


def sweep(backend: Backend, followers: Iterable[Follower]) -> None:
    """Delete the rows of all `followers` whose cursor is void or missing; set the cursors to the beginning.

    No value but the cursor's is read, so this also deletes damaged rows. A damaged row would otherwise stop
    a follower that reads nearby rows. After a crash, some of the rows may be left, with a void cursor;
    catching up deletes these rows.
    """
    for follower in followers:
        key = cursor_key(follower.name)
        while True:
            with backend.snapshot() as rows:
                rows.confirm_missing = False
                guard = Guard(key, rows.get(key))
                if _decode_cursor(guard.expected, follower.name) is not None:
                    break
                batch = _restart(rows, follower)
            with suppress(GuardFailed):
                backend.write(batch, guard=guard, durable=False)
