"""Rebuilding a store in place, and copying it to another backend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from backends.base import Backend, Batch, Guard, Reader, Snapshot
from backends.errors import BackendCorrupt, GuardFailed
from engine.base import limits
from engine.base.errors import BusyError, CorruptionError, VerificationError
from engine.base.model import Checkpoint
from engine.base.process import without_collection
from engine.followers.base import drop, read_cursor, sweep
from engine.followers.log import header_runs, is_damaged_state
from engine.followers.records import Records
from engine.ledger.heads import erasing, extended, leaf_hashes
from engine.ledger.journal import (
    LogState,
    check_entries,
    decode_log,
    encode_log,
    erased_at,
    read_entries,
    read_header,
    read_log,
    read_raw,
    subject_key,
)
from engine.ledger.layout import (
    ERASURE,
    JOURNAL,
    LOG,
    decode_header,
    encode_seq,
    erasure_key,
    journal_key,
    payload_key,
)
from engine.store.replay import Progress, check_prefix, no_progress, replay
from engine.store.store import Store
from engine.store.views import projections
from proofs.log import Frontier, leaf_hash


def rebuild(backend: Backend, progress: Progress = no_progress) -> Checkpoint:
    """Delete all data that is derived from the journal, and compute it again from the journal alone.

    Before anything is deleted, the whole journal is read and checked. Then the cursors of all derived data
    are durably marked as void. If the process crashes after this step, the rebuild is finished when the store
    is next opened, or when this function is called again. Only the journal needs to be intact. `progress` is
    called with (events done, all events); the check counts as the first half of the events.

    Raises:
        BusyError: Another process repaired the journal meanwhile. Nothing was deleted.
        CorruptionError: The journal is damaged. Nothing was deleted.
    """
    size = _check_journal(backend, progress)
    drop(backend, projections())
    sweep(backend, projections())
    store = Store(backend, finish=False)
    at = 0
    while at < size:
        with without_collection():
            entries = read_entries(backend, at, min(at + limits.FOLLOW_EVENTS_MAX, size))
            at += len(entries)
            store.recent.add(entries)
            store.follow_together(*store.projections, stop=at)
        progress((size + at) // 2, size)
    store.follow(*store.projections)
    backend.write(Batch(), durable=True)
    progress(size, size)
    with store.view(*store.followers) as rows:
        return store.roots(rows).as_checkpoint()


def _check_journal(backend: Backend, progress: Progress) -> int:
    """Check every event of the journal against the log, and return the number of events.

    The rows about erased atoms and edges, which show whether a missing payload was destroyed or lost, are
    computed again from the headers.

    Raises:
        BusyError: Another process corrected the state of the log, too.
        CorruptionError: An event differs from the one that the log commits to.
    """
    log, guard = _journal_log(backend)
    erased = _correct_erasures(backend, log, guard)
    at = 0
    while at < log.size:
        stop = min(log.size, at + limits.FOLLOW_EVENTS_MAX)
        with _journal_rows(backend) as rows:
            if erased:
                _check_payloads(rows, at, stop)
            else:
                check_entries(rows, at, stop)
        at = stop
        progress(at // 2, log.size)
    if log.row is not None and (guard is None or log.row != guard.expected):
        corrected = Batch()
        corrected.put(LOG, log.row)
        try:
            backend.write(corrected, guard=guard, durable=True)
        except GuardFailed:
            raise BusyError(
                "another process changed the state of the log while the journal was checked", hint="try again"
            ) from None
    return log.size


@contextmanager
def _journal_rows(backend: Backend) -> Iterator[Snapshot]:
    """Open a snapshot for reading the journal.

    The caller checks the rows against the log. If a row is missing, the backend does not check the adjacent
    rows, because they need not belong to the journal and may be damaged.
    """
    with backend.snapshot() as rows:
        rows.confirm_missing = False
        yield rows


def _check_payloads(rows: Reader, start: int, stop: int) -> None:
    """Check the events `start` to `stop` − 1 of a journal in which payloads were destroyed."""
    for raw in read_raw(rows, start, stop):
        header = raw.entry.header
        erased_by = None if raw.payload is None else erased_at(rows, header)
        # Another process may have destroyed the payload after it was read here.
        if erased_by is not None and rows.get(payload_key(header.seq)) is not None:
            raise CorruptionError(
                f"payload {header.seq} exists, although event {erased_by} destroyed it",
                hint="another program wrote the payload; restore a copy of the store whose root you know",
                family="payload",
                seq=header.seq,
            )


def _journal_log(backend: Backend) -> tuple[LogState, Guard | None]:
    """Return the state of the log as computed from the headers, and a guard on the row that stores it.

    The stored row may be damaged, missing or older than the records. But if it shows that a header was
    changed, this function raises an error. The guard is None if the backend refuses to read the row; in this
    case, no process can append events.

    Raises:
        CorruptionError: a header differs from the one that the log commits to.
    """
    with _journal_rows(backend) as rows:
        guard, stored = None, None
        with suppress(CorruptionError, BackendCorrupt):
            guard = Guard(LOG, rows.get(LOG))
            stored = None if guard.expected is None else read_log(rows)
        size = max(_recorded(rows), 0 if stored is None else stored.size) or _headers_in(rows)
        frontier, last = Frontier(), b""
        for _, run in header_runs(rows, size):
            frontier, last = extended(frontier, leaf_hashes(run)), run[-1]
    other = stored is not None and stored.size == size and not is_damaged_state(stored.frontier, frontier)
    if not size or frontier.size != size or other:
        raise CorruptionError(
            f"the {size} headers of the journal are not those that the log commits to",
            hint="restore a copy of the store whose root you know",
            family="journal",
        )
    time = decode_header(last, size - 1).time
    return decode_log(encode_log(time, frontier.to_bytes())), guard


def _recorded(rows: Reader) -> int:
    """Return the number of events that the records include, or 0 if their cursor is missing or damaged."""
    with suppress(CorruptionError, BackendCorrupt):
        cursor = read_cursor(rows, Records.name)
        if cursor is not None and cursor.size:
            header = rows.get(journal_key(cursor.size - 1))
            if header is not None and leaf_hash(header) == cursor.leaf:
                return cursor.size
    return 0


def _headers_in(rows: Reader) -> int:
    return sum(1 for _ in rows.scan(journal_key(0), JOURNAL + b"\xff"))


def _correct_erasures(backend: Backend, log: LogState, guard: Guard | None) -> dict[bytes, bytes]:
    """Correct the rows about erased atoms and edges, and return the rows that follow from the headers.

    In an interrupted copy, such a row may name an event that was not copied. Such a row is kept if it
    explains why a payload is missing. `guard` is the guard on the row with the state of the log.
    """
    erased = dict[bytes, bytes]()
    with _journal_rows(backend) as rows:
        for start, headers in header_runs(rows, log.size):
            for at in erasing(headers):
                header = decode_header(headers[at], start + at)
                erased[erasure_key(subject_key(header.detail))] = encode_seq(start + at)
        erased |= _later_erasures(rows, log.size, erased)
        batch = Batch()
        if not _has_erasures(rows, erased):
            batch.rows.update(dict.fromkeys(rows.keys(ERASURE, log.size)) | erased)
    if batch.rows:
        with suppress(GuardFailed):  # another process is appending events; the next rebuild adds them
            backend.write(batch, guard=guard, durable=True)
    return erased


def _later_erasures(rows: Reader, size: int, erased: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the rows by which later events explain missing payloads of the first `size` events.

    A payload that one of the first `size` events destroyed needs no such row: it has a row in `erased`.
    """
    named = {}
    for key in rows.keys(ERASURE, size):
        with suppress(BackendCorrupt):
            row = rows.get(key) or b""
            if len(row) == len(encode_seq(size)) and row >= encode_seq(size):
                named[key] = row
    if not named:
        return {}
    payloads = {key for key, _ in rows.scan(payload_key(0), payload_key(size))}
    missing = [seq for seq in range(size) if payload_key(seq) not in payloads]
    subjects = {seq: erasure_key(subject_key(read_header(rows, seq)[0].detail)) for seq in missing}
    unexplained = {key for seq, key in subjects.items() if erased.get(key, b"") < encode_seq(seq)}
    return {key: row for key, row in named.items() if key in unexplained}


def _has_erasures(rows: Reader, erased: dict[bytes, bytes]) -> bool:
    """Return True if the rows about erased atoms and edges equal `erased` and are not damaged."""
    try:
        return dict(rows.scan_prefix(ERASURE)) == erased
    except BackendCorrupt:
        return False


def copy(source: Backend, target: Backend, progress: Progress = no_progress) -> Checkpoint:
    """Copy the journal of a store to another backend, rebuild it there, and compare the roots.

    An interrupted copy is continued by calling this function again. The target may also contain an earlier
    copy of the same store.

    Raises:
        ConflictError: The target is neither empty nor an earlier copy of the store.
        VerificationError: The roots differ: one of the backends does not return the bytes that were written
            to it.
    """
    original = Store(source)
    with original.view(*original.followers) as rows:
        with target.exclusive():
            with target.snapshot() as before:
                head, earlier_size = check_prefix(rows, before), read_log(before).size
            replay(rows, target, read_log(rows).size, progress, head=head, sweep=True)
        roots = original.roots(rows)
    copied = Store(target)
    with copied.view(*copied.followers) as rows:
        copied_roots = copied.roots(rows)
        # Also after an interrupted run, which may have deleted payloads whose bytes are still in the files.
        erased = earlier_size > 0 and next(rows.scan_prefix(ERASURE), None) is not None
    target.write(Batch(), durable=True)
    if erased:
        target.purge()  # the earlier copy contained payloads that the source has destroyed since
    if copied_roots != roots:
        raise VerificationError(
            f"the copy has the root {copied_roots.overall.hex()}, and the original has {roots.overall.hex()}"
        )
    return copied_roots.as_checkpoint()


def check_copy(backend: Backend, expected: Checkpoint, progress: Progress = no_progress) -> None:
    """Check a copy that was closed and opened again: every event of its journal, and its roots.

    Args:
        backend: The copy.
        expected: The result of `copy`.
        progress: Called with the number of events checked and the number of all events.

    Raises:
        CorruptionError: An event differs from the one that the log commits to.
        VerificationError: The copy has other roots.
    """
    size = _check_journal(backend, lambda done, size: progress(2 * done, size))
    progress(size, size)
    store = Store(backend)
    with store.view(*store.followers) as rows:
        checkpoint = store.roots(rows).as_checkpoint()
    if checkpoint != expected:
        raise VerificationError(
            f"the copy has the root {checkpoint.root} after opening it again, not {expected.root}"
        )
