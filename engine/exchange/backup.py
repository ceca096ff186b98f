"""Export the journal as JSON Lines, write backups, verify exports and backups, and import them.

A backup contains only the journal. A copy of a store's files (`engine copy` makes one) would be three times
as large, tied to one kind of backend, and full of rows that can be derived from the journal anyway.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from backends import locate, open_backend, store_exists
from backends.base import Backend
from engine.base import limits
from engine.base.errors import (
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    VerificationError,
    system_failure,
    translated,
)
from engine.base.model import Checkpoint
from engine.base.outside_files import require_folder
from engine.exchange.journal_import import LINE_BYTES_MAX, EventCheck, JournalReader, accept_all, read_into
from engine.exchange.journal_lines import Head, LineError, event_line, head_line, read_head, tail_line
from engine.files.atomic_output import new_file, new_store
from engine.ledger.journal import read_identity, read_log, read_raw
from engine.ledger.layout import ERASURE, decode_seq
from engine.store import maintenance
from engine.store.replay import Progress, no_progress, scratch_backend
from engine.store.store import Store
from engine.trust.notes.known_checkpoints import read_history
from proofs.log import Frontier
from proofs.note import Checkpoint as NotedCheckpoint
from proofs.note import Note, origin_of

if TYPE_CHECKING:
    from backends.sealed.seal import Seal

STDIN = "-"
"""The prefix of the URL scheme of a store that shares one file with other stores."""

Write = Callable[[bytes], object]
"""A callback that receives the next bytes of an export."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of importing a journal."""

    created: bool
    """True if the store did not exist before."""
    events: int
    """The number of events that were appended."""
    size: int
    root: str


def export_store(store: Store, write: Write, progress: Progress = no_progress) -> Checkpoint:
    """Write the events of a store in canonical form; see `_export`."""
    return _export(store, write, progress).roots.as_checkpoint()


def _export(store: Store, write: Write, progress: Progress) -> Head:
    """Write the events of a store in canonical form, up to the store's head when the export begins.

    Other processes may write to the store during the export. Two exports of a store at the same head have the
    same bytes. At most 16 MiB of events are held in memory.

    Raises:
        CorruptionError: the journal is damaged; the output has no last line.
        BusyError: other processes kept appending events.
    """
    digest, frontier = sha256(), Frontier()

    def put(line: bytes) -> None:
        digest.update(line)
        write(line)

    with store.view(*store.followers) as rows:
        roots = store.roots(rows)
        head = Head(read_identity(rows), roots)
        put(head_line(head))
        while frontier.size < roots.size:
            stop = min(roots.size, frontier.size + limits.FOLLOW_EVENTS_MAX)
            for event in read_raw(rows, frontier.size, stop):
                frontier.append(event.entry.leaf)
                put(event_line(event))
            progress(frontier.size, roots.size)
    if frontier.root() != roots.log:
        raise CorruptionError(
            f"the {roots.size} headers in the journal differ from the headers that the log commits to",
            hint="`engine verify-root` names the first header that differs",
            family="journal",
        )
    write(tail_line(roots.size, roots.log, digest.digest()))
    return head


def export_to(store: Store, path: str | Path, progress: Progress = no_progress) -> Checkpoint:
    """Write the journal of a store to a new file, which appears only when it is complete and was read back.

    Raises:
        NotFoundError: the folder of the file does not exist.
        RefusedError: something exists at `path`.
        CorruptionError: the journal is damaged, or the file does not have the bytes that were written; no
            file is created.
    """
    return _export_checked(store, Path(path), progress, replace=False)


def _export_checked(
    store: Store, path: Path, progress: Progress, *, replace: bool, seal: Seal | None = None
) -> Checkpoint:
    """Write the journal to a temporary file, and read it back before it is moved to its final path."""
    require_folder(path)
    digest = sha256()

    def check(written: Path) -> None:
        with written.open("rb") as stream:
            if file_digest(stream, "sha256").digest() != digest.digest():
                raise CorruptionError(f"{path} does not have the bytes that were written", family="journal")

    with translated(), new_file(path, replace=replace, check=check) as file:

        def put(raw: bytes) -> None:
            digest.update(raw)
            file.write(raw)

        if seal is None:
            return _export(store, put, progress).roots.as_checkpoint()
        from backends.sealed.sealed_file import SealedWriter

        writer = SealedWriter(put, seal)
        head = _export(store, writer, progress)
        writer.finish()
        return head.roots.as_checkpoint()


def backup(
    store: Store, path: str | Path, progress: Progress = no_progress, *, sealed: bool = False
) -> Checkpoint:
    """Write the journal of a store to a file, replacing an earlier backup of the same store.

    With `sealed`, the file is encrypted under the key of the store.

    The backup ends at the store's head when the backup begins, so other processes may write to the store
    during the backup. The new file is read back and compared with the store before it replaces the earlier
    backup. If this process is killed at any point, the earlier backup still exists.

    Raises:
        InvalidInputError: `sealed`, and the store is not sealed.
        InconsistentError: the existing backup is of a different store; or this store was rolled back or has
            forked, and so lacks events that the backup has. The existing backup is kept.
        NotFoundError: the folder of the file does not exist.
        RefusedError: something that is not a backup exists at `path`.
        CorruptionError: the journal is damaged, or the file does not have the bytes that were written;
            nothing was replaced.
    """
    if sealed and store.backend.seal is None:
        raise InvalidInputError(
            "the store is not sealed, so it has no key to seal a backup", hint="`engine seal` seals it"
        )
    file = Path(path)
    earlier = _existing_backup(file, store.backend.seal)
    if earlier is not None:
        with store.backend.snapshot() as rows:
            read_history(rows, [earlier.size]).check(earlier)
    seal = store.backend.seal if sealed else None
    return _export_checked(store, file, progress, replace=earlier is not None, seal=seal)


def _existing_backup(path: Path, key: Seal | None) -> NotedCheckpoint | None:
    """Return the checkpoint in the first line of the backup at `path`, or None if the file does not exist."""
    if not path.exists() or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            head = read_head(plain(file, key)[0].readline(LINE_BYTES_MAX))
    except OSError as error:
        raise system_failure(error, f"{path} cannot be read") from error
    except LineError:
        raise RefusedError(f"{path} exists and is not a backup", hint="name another file") from None
    return NotedCheckpoint(origin_of(head.identity.store_id), head.roots.size, head.roots.log)


def verify_backup(
    path: str | Path,
    *,
    expect: str | None = None,
    notes: Sequence[Note] = (),
    progress: Progress = no_progress,
) -> Checkpoint:
    """Recompute all commitments, headers and roots of a backup, in a scratch store that is then deleted.

    Args:
        path: The file; `-` is stdin.
        expect: The overall root, 64 hex digits, that the backup must have.
        notes: Checkpoints that the log of the backup must extend.
        progress: Called with the number of events processed and the number of all events.

    Raises:
        CorruptionError: a line is wrong; the error names the line.
        VerificationError: the root is not `expect`.
        InconsistentError: the log does not extend one of `notes`.
    """
    if expect is not None and (len(expect) != 64 or set(expect.lower()) - set("0123456789abcdef")):
        raise InvalidInputError(f"the root {expect!a:.80} is not 64 hex digits")
    with (
        open_input(path) as (stream, name),
        translated(),
        closing(plain(stream)[0]) as stream,
        scratch_backend(on_disk=True) as scratch,
    ):
        report = read_into(scratch, JournalReader(stream, name), progress)
        if expect is not None and report.overall.hex() != expect.lower():
            raise VerificationError(
                f"{name} is complete, but the root is {report.overall.hex()}, not {expect}"
            )
        with scratch.snapshot() as rows:
            history = read_history(rows, [note.checkpoint.size for note in notes])
        for note in notes:
            history.check(note.checkpoint)
    return report.as_checkpoint()


def import_journal(
    path: str | Path, url: str, progress: Progress = no_progress, *, check: EventCheck = accept_all
) -> Restored:
    """Create a store from an exported journal, or append the missing events to an older copy of that store.

    No store is created or changed before the whole file has been verified.

    Args:
        path: The file; `-` is stdin.
        url: The store.
        progress: Called with the number of events processed and the number of all events.
        check: Called with each event before the event is used. An exception in this call ends the import.

    Raises:
        CorruptionError: a line is wrong; the error names the line.
        ConflictError: the existing store is a different store, has more events than the file, or is being
            written to.
        RefusedError: content was erased after the last event of the existing store.
    """
    with translated():
        exists = store_exists(url)
        location = locate(url)
        if location.kind == "memory":
            raise InvalidInputError(
                "a store in memory would be lost when the command ends",
                hint="name a persistent store: --store",
            )
    with open_input(path) as (stream, name), translated():
        stream, seal = plain(stream)
        journal = JournalReader(stream, name)
        journal.check = check
        if exists or location.shared:  # a store that shares a file or a database cannot be renamed
            with open_backend(url, key=seal) as target, scratch_backend(on_disk=True) as scratch:
                return _forward(scratch, target, journal, progress)
        with new_store(url, key=seal) as backend:
            roots = read_into(backend, journal, progress)
    return Restored(True, roots.size, roots.size, roots.overall.hex())


def _forward(scratch: Backend, target: Backend, journal: JournalReader, progress: Progress) -> Restored:
    before = read_log(target).size
    if before and read_identity(target).store_id != journal.head.identity.store_id:
        raise ConflictError(
            "the existing store is not the store that was exported", hint="name a new store: --store"
        )
    read_into(scratch, journal, progress)
    _refuse_erasures(scratch, before)
    report = maintenance.copy(scratch, target)
    return Restored(not before, report.size - before, report.size, report.root)


def _refuse_erasures(scratch: Backend, since: int) -> None:
    """Raise RefusedError if content was erased after the first `since` events.

    The existing store has exactly `since` events. It may still contain the erased content, and appending
    events does not destroy this content. Importing into a new store is safe, because a new store never
    contained the content.
    """
    for _, row in scratch.scan_prefix(ERASURE):
        if since and decode_seq(row, "erasure") >= since:
            raise RefusedError(
                "content was erased after the last event of the existing store, which may still hold it",
                hint="import into a new store (--store), then delete the old one",
            )


def plain(stream: BinaryIO, key: Seal | None = None) -> tuple[BinaryIO, Seal | None]:
    """Return the plain bytes of a file and the key of a sealed backup, as `sealed_file.opened_file`."""
    if not isinstance(stream, BufferedReader) or not stream.peek(1).startswith(b"{"):
        return stream, None
    from backends.sealed.sealed_file import opened_file

    return opened_file(stream, key)


@contextmanager
def open_input(path: str | Path) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file for reading, or stdin for `-`, and yield it with the name to use in messages.

    Raises:
        NotFoundError: there is no such file.
        InvalidInputError: `path` is a folder, or cannot be a path.
        EngineError: the file cannot be read.
    """
    if str(path) == STDIN:
        yield sys.stdin.buffer, "stdin"
        return
    try:
        # The file is closed below: an error inside the block must not be reported as an error of opening.
        stream = Path(path).open("rb")  # noqa: SIM115
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}") from None
    except (IsADirectoryError, ValueError) as error:
        raise InvalidInputError(f"{str(path)!a} is not a file: {error}") from None
    except OSError as error:
        raise system_failure(error, f"{path} cannot be read") from error
    with stream:
        yield stream, os.fspath(path)
