"""Rebuilding a store in place, and copying it to another backend."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice

from backends.base import Backend, Batch, Guard, Reader
from backends.errors import GuardFailed
from engine.base import limits
from engine.base.collection import without_collection
from engine.base.errors import CorruptionError, VerificationError
from engine.base.model import Checkpoint
from engine.followers.base import drop, read_cursor
from engine.followers.records import Records
from engine.ledger.codec import decode_header
from engine.ledger.heads import erasing, extended, leaf_hashes
from engine.ledger.journal import (
    LogState,
    check_entries,
    encode_log,
    encode_seq,
    erased_at,
    read_entries,
    read_header,
    read_log,
    read_raw,
    subject_key,
)
from engine.ledger.layout import ERASURE, JOURNAL, LOG, erasure_key, journal_key, payload_key
from engine.store.replay import Progress, check_prefix, no_progress, replay
from engine.store.store import Store, projections
from proofs.log import Frontier, leaf_hash


def rebuild(backend: Backend, progress: Progress = no_progress) -> Checkpoint:
    """Delete all data that is derived from the journal, and compute it again from the journal alone.

    Before anything is deleted, the whole journal is read and checked. Then the cursors of all derived data
    are deleted durably. If the process crashes after that, the rebuild is finished when the store is opened
    next or when this function is called again. Only the journal needs to be intact. `progress` is called with
    (events done, all events); the check counts as the first half of the events.

    Raises:
        CorruptionError: The journal is damaged. Nothing was deleted.
    """
    size = _check_journal(backend, progress)
    drop(backend, projections())
    store = Store(backend, None, finish=False)
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
        CorruptionError: An event differs from the one that the log commits to.
    """
    log, stored = _journal_log(backend)
    erased = _correct_erasures(backend, log, stored)
    at = 0
    while at < log.size:
        stop = min(log.size, at + limits.FOLLOW_EVENTS_MAX)
        if not erased:
            check_entries(backend, at, stop)
            at = stop
            progress(at // 2, log.size)
            continue
        for raw in read_raw(backend, at, stop):
            at += 1
            if raw.payload is None:
                continue
            header = raw.entry.header
            erased_by = erased_at(backend, header)
            if erased_by is not None:
                raise CorruptionError(
                    f"payload {header.seq} exists, although event {erased_by} destroyed it",
                    hint="another program wrote the payload; restore a copy of the store whose root you know",
                    family="payload",
                    seq=header.seq,
                )
        progress(at // 2, log.size)
    if log.row is not None and log.row != stored:
        corrected = Batch()
        corrected.put(LOG, log.row)
        backend.write(corrected, guard=Guard(LOG, stored), durable=True)
    return log.size


LOG_DAMAGE_BYTES_MAX = 8
"""The maximum number of bytes in which a damaged state of the log may differ from the computed one.

If more bytes differ, a header was changed: this changes all 32 bytes of a hash.
"""


def _journal_log(backend: Backend) -> tuple[LogState, bytes | None]:
    """Return the state of the log as computed from the headers, and the row with the stored state.

    The row may be damaged, missing or older than the records, but must not show that a header was changed.

    Raises:
        CorruptionError: a header differs from the one that the log commits to.
    """
    with backend.snapshot() as rows:
        row, stored = rows.get(LOG), None
        with suppress(CorruptionError):
            stored = None if row is None else read_log(rows)
        size = max(_recorded(rows), 0 if stored is None else stored.size) or _headers_in(rows)
    frontier, last = Frontier(), b""
    headers = backend.scan(journal_key(0), journal_key(size))
    while run := [raw for _, raw in islice(headers, limits.FOLLOW_EVENTS_MAX)]:
        frontier, last = extended(frontier, leaf_hashes(run)), run[-1]
    wrong = not size or frontier.size != size
    if stored is not None and stored.size == size and not wrong:
        pairs = zip(frontier.to_bytes(), stored.frontier.to_bytes(), strict=True)
        wrong = sum(one != other for one, other in pairs) > LOG_DAMAGE_BYTES_MAX
    if wrong:
        raise CorruptionError(
            f"the {size} headers of the journal are not those that the log commits to",
            hint="restore a copy of the store whose root you know",
            family="journal",
        )
    time = decode_header(last, size - 1).time
    return LogState(encode_log(time, frontier), time, frontier), row


def _recorded(rows: Reader) -> int:
    """Return the number of events that the records include, or 0 if their cursor is missing or damaged."""
    with suppress(CorruptionError):
        cursor = read_cursor(rows, Records.name)
        if cursor is not None and cursor.size:
            header = rows.get(journal_key(cursor.size - 1))
            if header is not None and leaf_hash(header) == cursor.leaf:
                return cursor.size
    return 0


def _headers_in(rows: Reader) -> int:
    return sum(1 for _ in rows.scan(journal_key(0), JOURNAL + b"\xff"))


def _correct_erasures(backend: Backend, log: LogState, stored: bytes | None) -> dict[bytes, bytes]:
    """Correct the rows about erased atoms and edges, and return those that follow from the headers.

    In a copy that was broken off, such a row may name an event that was not copied. It remains if a payload
    of its subject is missing.

    `stored` is the row with the state of the log.
    """
    erased = dict[bytes, bytes]()
    rows = backend.scan(journal_key(0), journal_key(log.size))
    while run := list(islice(rows, limits.FOLLOW_EVENTS_MAX)):
        headers = [raw for _, raw in run]
        for at in erasing(headers):
            seq = int.from_bytes(run[at][0][len(JOURNAL) :], "big")
            erased[erasure_key(subject_key(decode_header(headers[at], seq).detail))] = encode_seq(seq)
    wrong = {key: row for key, row in backend.scan_prefix(ERASURE) if erased.get(key) != row}
    if any(row >= encode_seq(log.size) for row in wrong.values()):
        missing = _unexplained(backend, log.size, erased)
        later = {key for key, row in wrong.items() if row >= encode_seq(log.size) and key in missing}
        wrong = {key: row for key, row in wrong.items() if key not in later}
        erased = {key: row for key, row in erased.items() if key not in later}
    batch = Batch()
    batch.rows.update(dict.fromkeys(wrong))
    batch.rows.update((key, row) for key, row in erased.items() if backend.get(key) != row)
    if batch.rows:
        with suppress(GuardFailed):  # another process is appending events; the next rebuild adds them
            backend.write(batch, guard=Guard(LOG, stored), durable=True)
    return erased


def _unexplained(backend: Backend, size: int, erased: Mapping[bytes, bytes]) -> set[bytes]:
    """Return the keys of the rows that would say why payloads of the first `size` events are missing.

    Payloads that were destroyed by one of these events, as `erased` says, are left out.
    """
    payloads = {key for key, _ in backend.scan(payload_key(0), payload_key(size))}
    found = set()
    for seq in range(size):
        if payload_key(seq) not in payloads:
            key = erasure_key(subject_key(read_header(backend, seq)[0].detail))
            if erased.get(key, b"") < encode_seq(seq):
                found.add(key)
    return found


def copy(source: Backend, target: Backend, progress: Progress = no_progress) -> Checkpoint:
    """Copy the journal of a store to another backend, rebuild it there, and compare the roots.

    An interrupted copy is continued by calling this function again. The target may also contain an earlier
    copy of the same store.

    Raises:
        ConflictError: The target is neither empty nor an earlier copy of the store.
        VerificationError: The roots differ: one of the backends does not return the bytes that were written
            to it.
    """
    original = Store(source, None)
    with original.view(*original.followers) as rows:
        with target.exclusive():
            with target.snapshot() as before:
                head, earlier_size = check_prefix(rows, before), read_log(before).size
            replay(rows, target, read_log(rows).size, progress, head=head, sweep=True)
        roots = original.roots(rows)
    copied = Store(target, None)
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
