"""Rebuilding in place, and moving a store to another backend."""

from __future__ import annotations

from contextlib import suppress

from backends.base import Backend, Batch, Guard
from backends.errors import GuardFailed
from engine.base import limits
from engine.base.errors import CorruptionError, VerificationError
from engine.base.model import Checkpoint
from engine.followers.base import drop
from engine.ledger.codec import decode_header
from engine.ledger.journal import (
    LogState,
    encode_seq,
    erased_at,
    read_entries,
    read_log,
    read_raw,
    subject_key,
)
from engine.ledger.layout import ERASURE, JOURNAL, LOG, erasure_key, journal_key
from engine.store.replay import Progress, check_prefix, no_progress, replay
from engine.store.store import Store, projections
from proofs.codec import kind_of
from proofs.events import ERASING_KINDS
from proofs.log import Frontier, leaf_hash


def rebuild(backend: Backend, progress: Progress = no_progress) -> Checkpoint:
    """Drop every projection, records included, and make them anew from the journal alone.

    The journal is read and checked to its end before anything is dropped. Then all cursors go,
    durably: a crash from then on leaves a store that the next opening, or the next call, finishes.
    Nothing but the journal needs to be whole. `progress` is told how many of all events are done; the check
    counts as half.

    Raises:
        CorruptionError: the journal is damaged; nothing was dropped.
    """
    size = _check_journal(backend, progress)
    drop(backend, projections())
    store = Store(backend, None, finish=False)
    at = 0
    while at < size:
        entries = read_entries(backend, at, min(at + limits.FOLLOW_EVENTS_MAX, size))
        at += len(entries)
        store.recent.add(entries)
        store.follow(*store.projections, stop=at, more=True)
        progress((size + at) // 2, size)
    store.follow(*store.projections)
    backend.write(Batch(), durable=True)
    progress(size, size)
    with store.view(*store.followers) as rows:
        return store.roots(rows).as_checkpoint()


def _check_journal(backend: Backend, progress: Progress) -> int:
    """The size of the journal, once every event in it is known to be what the log commits to.

    On the way the rows about what was erased, by which a destroyed payload is told from a lost one, are made
    anew from the headers.

    Raises:
        CorruptionError: one is not.
    """
    log = read_log(backend)
    _check_headers(backend, log)
    at = 0
    while at < log.size:
        for raw in read_raw(backend, at, min(log.size, at + limits.FOLLOW_EVENTS_MAX)):
            at += 1
            header = raw.entry.header
            erasing = None if raw.payload is None else erased_at(backend, header)
            if erasing is not None:
                raise CorruptionError(
                    f"payload {header.seq} is there, though event {erasing} destroyed it",
                    hint="somebody put it back; restore a copy whose root you know",
                    family="payload",
                    seq=header.seq,
                )
        progress(at // 2, log.size)
    return log.size


def _check_headers(backend: Backend, log: LogState) -> None:
    frontier, erased = Frontier(), dict[bytes, bytes]()
    for key, raw in backend.scan(journal_key(0), journal_key(log.size)):
        frontier.append(leaf_hash(raw))
        if kind_of(raw) in ERASING_KINDS:
            seq = int.from_bytes(key[len(JOURNAL) :], "big")
            erased[erasure_key(subject_key(decode_header(raw, seq).detail))] = encode_seq(seq)
    if frontier != log.frontier or not log.size:
        raise CorruptionError(
            f"the {log.size} headers of the journal are not those that the log commits to",
            hint="restore a copy whose root you know",
            family="journal",
        )
    batch = Batch()
    for key, row in backend.scan_prefix(ERASURE):
        if erased.get(key) != row:
            batch.delete(key)
    for key, row in erased.items():
        if backend.get(key) != row:
            batch.put(key, row)
    if batch.rows:
        with suppress(GuardFailed):  # somebody else appends: what is missing then, the next rebuild finds
            backend.write(batch, guard=Guard(LOG, log.row), durable=True)


def copy(source: Backend, target: Backend, progress: Progress = no_progress) -> Checkpoint:
    """Copy a store into another backend by its journal, and prove that the roots are equal.

    A copy that was broken off is continued.

    Raises:
        ConflictError: the target holds something else.
        VerificationError: the roots differ: one of the backends does not keep what it is given.
    """
    original = Store(source, None)
    with original.view(*original.followers) as rows:
        with target.exclusive():
            with target.snapshot() as before:
                head, held = check_prefix(rows, before), read_log(before).size
            replay(rows, target, read_log(rows).size, progress, head=head, sweep=True)
        roots = original.roots(rows)
    copied = Store(target, None)
    with copied.view(*copied.followers) as rows:
        found = copied.roots(rows)
        # Of an earlier run, too: one that was killed here has deleted, and its files still hold it.
        erased = held > 0 and next(rows.scan_prefix(ERASURE), None) is not None
    target.write(Batch(), durable=True)
    if erased:
        target.purge()  # the earlier copy held what was destroyed since
    if found != roots:
        raise VerificationError(
            f"the copy has root {found.overall.hex()}, the original {roots.overall.hex()}"
        )
    return found.as_checkpoint()
