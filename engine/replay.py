"""Replaying a journal into another backend: what copying, verifying and reading the past share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from backends import open_backend
from backends.base import Backend, Batch, Reader
from backends.errors import GuardFailed
from engine import limits
from engine.errors import ConflictError
from engine.followers.base import catch_up
from engine.followers.records import Records, count, head_guards, seal
from engine.journal import RawEntry, encode_log, read_entries, read_log, read_raw
from engine.layout import LOG, journal_key, payload_key
from engine.records import read_counters

Progress = Callable[[int, int], None]
"""Called with (events done, events in all)."""


def no_progress(done: int, total: int) -> None:
    """Shows nothing."""


def append(target: Backend, events: Sequence[RawEntry]) -> None:
    """Append `events` to the target's journal and fold its records, in one batch.

    The target is at all times a store whose journal is a prefix of the source's. It is not durable yet.

    Raises:
        ConflictError: somebody else writes to the target.
    """
    log = read_log(target)
    guards = head_guards(target, log)
    batch, frontier, records = Batch(), log.frontier.copy(), Records()
    for event in events:
        batch.put(journal_key(event.entry.header.seq), event.header)
        batch.put(payload_key(event.entry.header.seq), event.payload)
        frontier.append(event.entry.leaf)
    last = events[-1].entry
    with target.snapshot() as rows:
        entries = [event.entry for event in events]
        records.follow(entries, rows, batch)
        seal(batch, last, count(entries, read_counters(rows)))
    batch.put(LOG, encode_log(last.header.time, frontier))
    try:
        target.write(batch, guard=guards, durable=False)
    except GuardFailed:
        raise ConflictError("another process is writing to the target") from None


def replay(source: Reader, target: Backend, stop: int, progress: Progress = no_progress) -> None:
    """Bring `target` from its own head to `stop` with the events of `source`.

    Killed anywhere, it is continued by calling this again.

    Raises:
        CorruptionError: an event of the source is not what was written.
        ConflictError: somebody else writes to the target.
    """
    catch_up(target, Records(), read_entries)
    while (at := read_log(target).size) < stop:
        events = list(read_raw(source, at, min(stop, at + limits.FOLLOW_EVENTS_MAX)))
        append(target, events)
        progress(read_log(target).size, stop)


def check_prefix(source: Reader, target: Reader) -> None:
    """Make sure that the target's journal, if it has one, is the beginning of the source's.

    Raises:
        ConflictError: it is not.
    """
    size = read_log(target).size
    if size > read_log(source).size:
        raise ConflictError("the target already holds a longer journal than the source")
    # All headers: only the log chains them, and its frontier at an earlier size is not kept.
    end = journal_key(size)
    theirs = source.scan(journal_key(0), end)
    if any(row != next(theirs, None) for row in target.scan(journal_key(0), end)):
        raise ConflictError("the target already holds another store", hint="choose an empty place")


@contextmanager
def scratch_backend(*, on_disk: bool) -> Iterator[Backend]:
    """A backend that is gone afterwards: in memory, or in a temporary folder (TMPDIR)."""
    if not on_disk:
        with open_backend("memory:") as backend:
            yield backend
        return
    folder = Path(tempfile.mkdtemp(prefix="memroot-scratch-"))
    try:
        with open_backend(str(folder / "store")) as backend:
            yield backend
    finally:
        shutil.rmtree(folder, ignore_errors=True)
