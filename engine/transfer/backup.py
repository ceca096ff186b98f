"""Exports of the journal, backups, and stores from them: JSON Lines, checked by whoever reads them.

A backup is the journal and nothing else. A copy of a store's files would be three times as large, tied to
one kind of backend, and full of rows that follow from the journal anyway (`engine copy` makes one).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from backends import locate, open_backend, store_exists
from backends.base import Backend
from engine.base import limits
from engine.base.error_translation import translated
from engine.base.errors import (
    ConflictError,
    CorruptionError,
    EngineError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    VerificationError,
)
from engine.base.model import Checkpoint
from engine.ledger.journal import decode_seq, read_identity, read_log, read_raw
from engine.ledger.layout import ERASURE
from engine.store import maintenance
from engine.store.replay import Progress, no_progress, scratch_backend
from engine.store.store import Store
from engine.transfer.atomic_output import new_store, written
from engine.transfer.journal_import import LINE_BYTES_MAX, Check, JournalReader, pass_all, read_into
from engine.transfer.journal_lines import Head, LineError, event_line, head_line, read_head, tail_line
from engine.trust.notes.history import read_history
from proofs.log import Frontier
from proofs.note import Checkpoint as NotedCheckpoint
from proofs.note import Note, origin_of

STDIN = "-"
_NAMED = "sqlite+"

Write = Callable[[bytes], object]
"""Takes the next bytes of an export."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of an import of a journal."""

    created: bool
    """The store was not there before."""
    events: int
    """Appended."""
    size: int
    root: str


def export_store(store: Store, write: Write, progress: Progress = no_progress) -> Checkpoint:
    """Write all events of a store, as of one head, in its one canonical form; others may go on writing.

    Two exports of one store at one head are the same bytes. Memory is bounded by 16 MiB of events.

    Raises:
        CorruptionError: the journal is damaged; what was written has no last line.
        BusyError: other processes kept moving the head.
    """
    digest, frontier = sha256(), Frontier()

    def put(line: bytes) -> None:
        digest.update(line)
        write(line)

    with store.view(*store.followers) as rows:
        roots = store.roots(rows)
        put(head_line(Head(read_identity(rows), roots)))
        while frontier.size < roots.size:
            stop = min(roots.size, frontier.size + limits.FOLLOW_EVENTS_MAX)
            for event in read_raw(rows, frontier.size, stop):
                frontier.append(event.entry.leaf)
                put(event_line(event))
            progress(frontier.size, roots.size)
    if frontier.root() != roots.log:
        raise CorruptionError(
            f"the {roots.size} headers of the journal are not those that the log commits to",
            hint="`engine verify-root` names the first that differs",
            family="journal",
        )
    write(tail_line(roots.size, roots.log, digest.digest()))
    return roots.as_checkpoint()


def export_to(store: Store, path: str | Path, progress: Progress = no_progress) -> Checkpoint:
    """Write the journal of a store to a new file, which shows itself only when it is whole.

    Raises:
        RefusedError: something is there.
        CorruptionError: the journal is damaged; there is no file.
    """
    with translated(), written(Path(path)) as file:
        return export_store(store, file.write, progress)


def backup(store: Store, path: str | Path, progress: Progress = no_progress) -> Checkpoint:
    """Write the journal of a store to a file, in the place of an earlier backup of the same store.

    Others may go on writing meanwhile: it is of one head. Killed anywhere, the earlier one is still there.

    Raises:
        InconsistentError: the backup there is of another store, or has events that this store has not:
            the store went back or was forked. It stays.
        RefusedError: something else is there.
        CorruptionError: the journal is damaged; nothing was replaced.
    """
    file = Path(path)
    earlier = _earlier(file)
    if earlier is not None:
        with store.backend.snapshot() as rows:
            read_history(rows, [earlier.size]).check(earlier)
    with written(file, replace=earlier is not None) as target:
        return export_store(store, target.write, progress)


def _earlier(path: Path) -> NotedCheckpoint | None:
    """What the backup that is there says of its log; None: nothing is there."""
    if not path.exists() or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            head = read_head(file.readline(LINE_BYTES_MAX))
    except OSError as error:
        raise EngineError(f"{path} cannot be read: {error.strerror}") from error
    except LineError:
        raise RefusedError(f"{path} is there and is no backup", hint="name another file") from None
    return NotedCheckpoint(origin_of(head.identity.store_id), head.roots.size, head.roots.log)


def verify_backup(
    path: str | Path,
    *,
    expect: str | None = None,
    notes: Sequence[Note] = (),
    progress: Progress = no_progress,
) -> Checkpoint:
    """Work out every commitment, header and root of a backup, in a scratch store that is gone afterwards.

    Args:
        path: The file; `-` is stdin.
        expect: An overall root, 64 hex digits, that it must have.
        notes: Checkpoints that its log must continue.
        progress: Told how many of all events are done.

    Raises:
        CorruptionError: a line is not right; it is named.
        VerificationError: the root is another one than `expect`.
        InconsistentError: its log does not continue one of `notes`.
    """
    if expect is not None and (len(expect) != 64 or set(expect.lower()) - set("0123456789abcdef")):
        raise InvalidInputError(f"the root {expect!a:.80} is not 64 hex digits")
    with opened(path) as (stream, name), translated(), scratch_backend(on_disk=True) as scratch:
        found = read_into(scratch, JournalReader(stream, name), progress)
        if expect is not None and found.overall.hex() != expect.lower():
            raise VerificationError(f"{name} is whole, but its root is {found.overall.hex()}, not {expect}")
        with scratch.snapshot() as rows:
            history = read_history(rows, [note.checkpoint.size for note in notes])
        for note in notes:
            history.check(note.checkpoint)
    return found.as_checkpoint()


def import_journal(
    path: str | Path, url: str, progress: Progress = no_progress, *, check: Check = pass_all
) -> Restored:
    """Make the store whose journal was exported, or bring one forward that is the beginning of it.

    Nothing is at the place, and a store that is there is not touched, before the whole file was found right.

    Args:
        path: The file; `-` is stdin.
        url: The store.
        progress: Told how many of all events are done.
        check: Told each event before anything is made of it; what it raises ends the import.

    Raises:
        CorruptionError: a line is not right; it is named.
        ConflictError: the store there is another one, or has more events, or somebody is writing to it.
    """
    with translated():
        there = store_exists(url)
        scheme = locate(url).scheme
        if scheme == "memory":
            raise InvalidInputError("a store in memory would be gone at once", hint="name a place: --store")
    with opened(path) as (stream, name), translated():
        journal = JournalReader(stream, name)
        journal.check = check
        if there or scheme.startswith(_NAMED):  # a memory among others has no file to put in place whole
            with open_backend(url) as target, scratch_backend(on_disk=True) as scratch:
                return _forward(scratch, target, journal, progress)
        with new_store(url) as backend:
            roots = read_into(backend, journal, progress)
    return Restored(True, roots.size, roots.size, roots.overall.hex())


def _forward(scratch: Backend, target: Backend, journal: JournalReader, progress: Progress) -> Restored:
    before = read_log(target).size
    if before and read_identity(target).store_id != journal.head.identity.store_id:
        raise ConflictError("another store is there already", hint="choose an empty place: --store")
    read_into(scratch, journal, progress)
    _refuse_erasures(scratch, before)
    found = maintenance.copy(scratch, target)
    return Restored(not before, found.size - before, found.size, found.root)


def _refuse_erasures(scratch: Backend, since: int) -> None:
    """Appending events does not destroy what the store there still holds: a new one never held it."""
    for _, row in scratch.scan_prefix(ERASURE):
        if since and decode_seq(row, "erasure") >= since:
            raise RefusedError(
                "something was erased since, and the store there may hold it still",
                hint="import into a new place (--store), then remove the old store",
            )


@contextmanager
def opened(path: str | Path) -> Iterator[tuple[BinaryIO, str]]:
    """A file to read, or stdin for `-`, with what to call it.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: it cannot be a file's path, or is none.
        EngineError: it cannot be read.
    """
    if str(path) == STDIN:
        yield sys.stdin.buffer, "stdin"
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115  closed below: an error of the block is not one of opening
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except (IsADirectoryError, ValueError) as error:
        raise InvalidInputError(f"{str(path)!a} is no file: {error}") from None
    except OSError as error:
        raise EngineError(f"{path} cannot be read: {error.strerror}") from error
    with stream:
        yield stream, os.fspath(path)
