"""Replaying a journal into another backend, for copying, verifying and reading the past."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from backends import open_backend
from backends.base import Backend, Batch, Reader
from backends.errors import GuardFailed
from backends.files import scratch_folder
from engine.base import limits
from engine.base.errors import ConflictError
from engine.followers.base import are_current, catch_up
from engine.followers.records import Records, count
from engine.ledger.appender import head_guards, seal
from engine.ledger.heads import extended
from engine.ledger.journal import (
    RawEntry,
    encode_log,
    read_entries,
    read_header,
    read_log,
    read_raw,
    subject_key,
)
from engine.ledger.layout import LOG, encode_seq, erasure_key, journal_key, payload_key
from engine.ledger.records import read_counters
from proofs.events import ERASING_KINDS, Entry

Progress = Callable[[int, int], None]
"""A callback that receives the number of events done and the number of all events."""


def no_progress(done: int, total: int) -> None:
    """Do nothing. This is the default callback for progress."""


Stage = Callable[[str], None]
"""A callback that receives the name of each stage of an erasure when the stage begins."""


def ignore_stage(stage: str) -> None:
    """Do nothing. This is the default callback for the stages of an erasure."""
    del stage


def append(
    target: Backend,
    events: Sequence[RawEntry],
    head: bytes | None,
    *,
    sweep: bool = False,
    journal: bool = True,
) -> bytes:
    """Append `events` to the target's journal and update its records, in one batch that is not yet durable.

    Args:
        target: A store whose journal is always equal to the beginning of the source's journal.
        events: Consecutive events of the source that follow the last event of the target.
        head: The log row that the target must still have, as returned by the previous call. It must not be
            read again from the target. Otherwise an event that a different process has appended there would
            be treated as an event of the source.
        sweep: Also delete earlier payloads of each atom or edge that one of the events erases.
        journal: Write the headers and payloads. False if the target reads them from the source.

    Returns:
        The log row that the target has now.

    Raises:
        ConflictError: Another process writes to the target. Nothing was written.
    """
    records = Records()
    with target.snapshot() as rows:
        log = read_log(rows)
        current = not log.size or are_current(rows, log, (records,))
        if log.row != head or events[0].entry.header.seq != log.size or not current:
            raise ConflictError(_OTHER_WRITER)
        batch, guards = Batch(), head_guards(rows, log)
        entries = [event.entry for event in events]
        records.follow(entries, rows, batch)
        counters = count(entries, read_counters(rows))
        for entry in entries:
            if sweep and entry.header.kind in ERASING_KINDS:
                _delete_payloads(entry.header.prev, rows, entries, batch)
    for event in events:
        header = event.entry.header
        if journal:
            batch.put(journal_key(header.seq), event.header)
            if event.payload is not None:
                batch.put(payload_key(header.seq), event.payload)
        # The erasure row shows why a payload is missing, even if the replay stops before the erasing event.
        erased = header.seq if header.kind in ERASING_KINDS else event.erased
        if erased is not None:
            batch.put(erasure_key(subject_key(header.detail)), encode_seq(erased))
    seal(batch, entries[-1], counters)
    row = encode_log(
        entries[-1].header.time, extended(log.frontier, [entry.leaf for entry in entries]).to_bytes()
    )
    batch.put(LOG, row)
    try:
        target.write(batch, guard=guards, durable=False)
    except GuardFailed:
        raise ConflictError(_OTHER_WRITER) from None
    return row


def _delete_payloads(last: int | None, rows: Reader, entries: Sequence[Entry], batch: Batch) -> None:
    """Delete from the target store the payloads of each atom or edge that one of `entries` erases.

    The target may be an earlier copy, made before the source destroyed these payloads.
    """
    first, seq = entries[0].header.seq, last
    while seq is not None:
        header = entries[seq - first].header if seq >= first else read_header(rows, seq)[0]
        if header.kind in ERASING_KINDS:
            return
        if seq < first:
            batch.delete(payload_key(seq))
        seq = header.prev


_OTHER_WRITER = "another process is writing to the target"


def replay(
    source: Reader,
    target: Backend,
    stop: int,
    progress: Progress = no_progress,
    *,
    head: bytes | None = None,
    sweep: bool = False,
) -> None:
    """Append events of `source` to `target` until the target has `stop` events.

    If the process is killed, calling this function again continues the replay.

    Args:
        source: The rows of the store to replay.
        target: The backend to write to.
        stop: The number of events that the target has at the end.
        progress: Called with (events done, `stop`).
        head: The present log row of the target; None for an empty target.
        sweep: As for `append`.

    Raises:
        CorruptionError: An event in the source differs from the event that was written.
        ConflictError: Another process writes to the target.
    """
    catch_up(target, Records(), read_entries)
    at = read_log(target).size
    while at < stop:
        events = list(read_raw(source, at, min(stop, at + limits.FOLLOW_EVENTS_MAX)))
        head = append(target, events, head, sweep=sweep)
        at += len(events)
        progress(at, stop)


def check_prefix(source: Reader, target: Reader) -> bytes | None:
    """Check that the target is empty or that its journal equals the beginning of the source's journal.

    Returns:
        The present log row of the target, with which `replay` can continue.

    Raises:
        ConflictError: The target contains a different journal.
    """
    log = read_log(target)
    if log.size > read_log(source).size:
        raise ConflictError("the journal of the target is already longer than the journal of the source")
    # Compare all headers. The log state at an earlier size, which covers them, is not stored.
    end = journal_key(log.size)
    source_rows = source.scan(journal_key(0), end)
    if any(row != next(source_rows, None) for row in target.scan(journal_key(0), end)):
        raise ConflictError("the target already contains a different store", hint="choose an empty target")
    return log.row


@contextmanager
def scratch_backend(*, on_disk: bool) -> Iterator[Backend]:
    """Open a temporary backend, in main memory or in a folder under TMPDIR, and delete it afterwards."""
    if not on_disk:
        with open_backend("memory:") as backend:
            yield backend
        return
    with scratch_folder() as folder, open_backend(str(folder / "store"), temporary=True) as backend:
        yield backend
