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
from engine.base import limits
from engine.base.errors import ConflictError
from engine.followers.base import are_current, catch_up
from engine.followers.records import Records, count, head_guards, seal
from engine.ledger.journal import (
    RawEntry,
    encode_log,
    encode_seq,
    read_entries,
    read_header,
    read_log,
    read_raw,
    subject_key,
)
from engine.ledger.layout import LOG, erasure_key, journal_key, payload_key
from engine.ledger.records import read_counters
from proofs.events import ERASING_KINDS, Entry

Progress = Callable[[int, int], None]
"""Called with (events done, events in all)."""


def no_progress(done: int, total: int) -> None:
    """Shows nothing."""


def append(target: Backend, events: Sequence[RawEntry], head: bytes | None, *, sweep: bool = False) -> bytes:
    """Append `events` to the target's journal and fold its records, in one batch that is not durable yet.

    Args:
        target: At all times a store whose journal is a prefix of the source's.
        events: Consecutive, from the target's head on.
        head: The log row that the target must still have: never one that was read again, or what
            somebody else appended meanwhile would be taken for the source's.
        sweep: Delete what the target still has of a subject that one of them erases.

    Returns:
        The log row that it has now.

    Raises:
        ConflictError: somebody else writes to the target; nothing was written.
    """
    records = Records()
    with target.snapshot() as rows:
        log = read_log(rows)
        current = not log.size or are_current(rows, log, (records,))
        if log.row != head or events[0].entry.header.seq != log.size or not current:
            raise ConflictError(_DISTURBED)
        batch, frontier, guards = Batch(), log.frontier.copy(), head_guards(rows, log)
        entries = [event.entry for event in events]
        records.follow(entries, rows, batch)
        counters = count(entries, read_counters(rows))
        for entry in entries:
            if sweep and entry.header.kind in ERASING_KINDS:
                _destroy(entry.header.prev, rows, entries, batch)
    for event in events:
        header = event.entry.header
        batch.put(journal_key(header.seq), event.header)
        if event.payload is not None:
            batch.put(payload_key(header.seq), event.payload)
        # Where a payload is gone, the target must know why, also if it never gets as far as that event.
        erased = header.seq if header.kind in ERASING_KINDS else event.erased
        if erased is not None:
            batch.put(erasure_key(subject_key(header.detail)), encode_seq(erased))
        frontier.append(event.entry.leaf)
    seal(batch, entries[-1], counters)
    row = encode_log(entries[-1].header.time, frontier)
    batch.put(LOG, row)
    try:
        target.write(batch, guard=guards, durable=False)
    except GuardFailed:
        raise ConflictError(_DISTURBED) from None
    return row


def _destroy(last: int | None, rows: Reader, entries: Sequence[Entry], batch: Batch) -> None:
    """Delete what the target still has of a subject that an event of `entries` erases.

    An earlier copy that is brought forward has payloads that the source has no more.
    """
    first, seq = entries[0].header.seq, last
    while seq is not None:
        header = entries[seq - first].header if seq >= first else read_header(rows, seq)[0]
        if header.kind in ERASING_KINDS:
            return
        if seq < first:
            batch.delete(payload_key(seq))
        seq = header.prev


_DISTURBED = "another process is writing to the target"


def replay(
    source: Reader,
    target: Backend,
    stop: int,
    progress: Progress = no_progress,
    *,
    head: bytes | None = None,
    sweep: bool = False,
) -> None:
    """Bring `target` to `stop` with the events of `source`.

    `head` is the log row that the target has; None: it is empty. `sweep` is that of `append`. Killed
    anywhere, it is continued by calling this again.

    Raises:
        CorruptionError: an event of the source is not what was written.
        ConflictError: somebody else writes to the target.
    """
    catch_up(target, Records(), read_entries)
    at = read_log(target).size
    while at < stop:
        events = list(read_raw(source, at, min(stop, at + limits.FOLLOW_EVENTS_MAX)))
        head = append(target, events, head, sweep=sweep)
        at += len(events)
        progress(at, stop)


def check_prefix(source: Reader, target: Reader) -> bytes | None:
    """Make sure that the target's journal, if it has one, is the beginning of the source's.

    Returns:
        The target's log row, to go on from.

    Raises:
        ConflictError: it is not.
    """
    log = read_log(target)
    if log.size > read_log(source).size:
        raise ConflictError("the target already holds a longer journal than the source")
    # All headers: only the log chains them, and its frontier at an earlier size is not kept.
    end = journal_key(log.size)
    theirs = source.scan(journal_key(0), end)
    if any(row != next(theirs, None) for row in target.scan(journal_key(0), end)):
        raise ConflictError("the target already holds another store", hint="choose an empty place")
    return log.row


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
