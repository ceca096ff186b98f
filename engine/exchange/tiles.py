"""The log as static files that any web server can hand out (c2sp.org/tlog-tiles; SPEC: The log as tiles).

    checkpoint                      origin, size and root of the log; signatures, if it was given any
    tile/<level>/<number>           256 hashes of the level, side by side
    tile/entries/<number>           256 headers, each after its u16 length
    ….p/<width>                     the same of fewer, at the right edge of one size

Tiles never change. The checkpoint comes last, so that it never speaks of a tile that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from backends.base import Reader
from engine.border import quoted
from engine.errors import ConflictError, CorruptionError, InvalidInputError, RefusedError
from engine.exchange.folder import PublishedFolder, published
from engine.followers.log import WIDTH, WIDTH_BITS, complete_root
from engine.journal import read_log
from engine.layout import journal_key
from engine.proving.log_paths import LogPaths
from engine.replay import Progress, no_progress
from proofs.errors import ProofError
from proofs.note import Checkpoint, Note, format_note, origin_of, parse_note

CHECKPOINT: Final = "checkpoint"
ANNOUNCED: Final = ".checkpoint"
"""What `CHECKPOINT` will say; it shows whose log an export that was killed has left."""

_ELSEWHERE: Final = "choose an empty folder"

ENTRIES: Final = "entries"
ENTRY_BYTES_MAX: Final = (1 << 16) - 1


@dataclass(frozen=True, slots=True)
class Exported:
    """What a folder holds after an export."""

    origin: str
    size: int
    """Events that its checkpoint covers."""
    root: str
    """The log's root at that size, 64 hex digits."""
    files: int
    """Files written this time."""


def export(
    rows: Reader,
    store_id: bytes,
    folder: Path,
    given: bytes | None = None,
    progress: Progress = no_progress,
) -> Exported:
    """Write the log into `folder`, or add to it what is new since the last time.

    Killed anywhere, it is finished by calling this again; the files are then those of one go.

    Args:
        rows: A snapshot of the store.
        store_id: The store's, from its genesis.
        folder: Empty, not there yet, or what an earlier export has left.
        given: The checkpoint to publish, signed or not; the log is written up to its size. None: an
            unsigned one of all events.
        progress: Told how many of all events are done.

    Raises:
        InvalidInputError: `given` is no checkpoint of this log.
        ConflictError: the folder holds something else, another log, or a longer one.
        RefusedError: a signed checkpoint would be replaced by an unsigned one.
        BusyError: another process is writing to the folder.
        CorruptionError: the rows are not those of the log.
        EngineError: the disk does not take what is written.
    """
    note, paths = _note_of(rows, origin_of(store_id), given)
    size = note.checkpoint.size
    with published(folder) as files:
        before = _before(files, note.checkpoint, paths)
        if before is not None and given is None and before.checkpoint.size == size:
            note = before  # with its signatures, if it has any
        if before is not None and before.signatures and not note.signatures:
            raise RefusedError(
                f"{folder} has a signed checkpoint, which an unsigned one must not replace",
                hint="give a signed one with --checkpoint",
            )
        if note != before:
            files.replace(ANNOUNCED, format_note(note))
            _write_tiles(files, rows, paths, before.checkpoint.size if before else 0, progress)
            files.rename(ANNOUNCED, CHECKPOINT)
        files.clear()
    return Exported(note.checkpoint.origin, size, note.checkpoint.root.hex(), files.written)


def _note_of(rows: Reader, origin: str, given: bytes | None) -> tuple[Note, LogPaths]:
    """The checkpoint to publish, known to be true of this log, and the log at its size."""
    log = read_log(rows)
    if LogPaths(rows, log.size).root(log.size) != log.frontier.root():
        raise CorruptionError(
            "the log's rows do not lead to the root that the log state commits to",
            hint="run `engine verify-root`",
        )
    try:
        note = Note(Checkpoint(origin, log.size, log.frontier.root())) if given is None else parse_note(given)
    except ProofError as error:
        raise InvalidInputError(f"the given checkpoint is none: {error}") from None
    checkpoint = note.checkpoint
    if checkpoint.origin != origin:
        raise InvalidInputError(
            f"the given checkpoint is of {quoted(checkpoint.origin)}, this log is {origin}"
        )
    if not 0 < checkpoint.size <= log.size:
        raise InvalidInputError(f"the given checkpoint has size {checkpoint.size}, this log {log.size}")
    paths = LogPaths(rows, checkpoint.size)
    if paths.root(checkpoint.size) != checkpoint.root:
        raise InvalidInputError(
            f"the given checkpoint and this log differ in the root of size {checkpoint.size}"
        )
    return note, paths


def _before(files: PublishedFolder, wanted: Checkpoint, paths: LogPaths) -> Note | None:
    """The checkpoint that is published already, once everything there is known to be of this log."""
    found = {}
    for name in (CHECKPOINT, ANNOUNCED):
        raw = files.read(name)
        if raw is not None:
            found[name] = _read_there(files.root / name, raw)
            _check_there(files.root, found[name].checkpoint, wanted, paths)
    if not found and files.names():
        raise ConflictError(f"{files.root} is not empty and holds no log", hint=_ELSEWHERE)
    return found.get(CHECKPOINT)


def _read_there(path: Path, raw: bytes) -> Note:
    try:
        return parse_note(raw)
    except ProofError as error:
        raise ConflictError(f"{path} is no checkpoint: {error}", hint=_ELSEWHERE) from None


def _check_there(folder: Path, there: Checkpoint, wanted: Checkpoint, paths: LogPaths) -> None:
    if there.origin != wanted.origin:
        raise ConflictError(f"{folder} holds another log: {quoted(there.origin)}", hint=_ELSEWHERE)
    if there.size > wanted.size:
        raise ConflictError(f"{folder} holds {there.size} events of this log already, not {wanted.size}")
    if paths.root(there.size) != there.root:
        raise ConflictError(
            f"{folder} holds another history of this log: its root of {there.size} events differs",
            hint="keep that folder: one of the two stores was put back to an older state or changed",
        )


def _write_tiles(
    files: PublishedFolder, rows: Reader, paths: LogPaths, before: int, progress: Progress
) -> None:
    """All tiles of the log at its size that it did not have at size `before`."""
    for number, start, stop in _ranges(before, paths.size):
        hashes = _checked(paths, 0, number, start, stop)
        files.keep(tile_name(ENTRIES, number, len(hashes)), _bundle(rows, start, stop))
        files.keep(tile_name("0", number, len(hashes)), b"".join(hashes))
        progress(stop, paths.size)
    level = 1
    while size := paths.size >> WIDTH_BITS * level:
        for number, start, stop in _ranges(before >> WIDTH_BITS * level, size):
            hashes = _checked(paths, level, number, start, stop)
            files.keep(tile_name(str(level), number, len(hashes)), b"".join(hashes))
        level += 1


def _checked(paths: LogPaths, level: int, number: int, start: int, stop: int) -> list[bytes]:
    """The hashes of a tile, known to be right, because a tile never changes.

    A whole one is bound to its hash in the level above, and those at the right edge make the root.
    """
    hashes = paths.hashes(level, start, stop)
    if len(hashes) == WIDTH and [complete_root(hashes)] != paths.hashes(level + 1, number, number + 1):
        raise CorruptionError(
            f"tile {number} of level {level} does not lead to the log's root", hint="run `engine verify-root`"
        )
    return hashes


def _ranges(before: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Number, first and end of each tile of `size` hashes that is new since there were `before`."""
    if before < size:
        for number in range(before // WIDTH, -(-size // WIDTH)):
            yield number, number * WIDTH, min(size, (number + 1) * WIDTH)


def _bundle(rows: Reader, start: int, stop: int) -> bytes:
    """The headers `start` up to `stop`, each after its length."""
    headers = [header for _, header in rows.scan(journal_key(start), journal_key(stop))]
    if any(len(header) > ENTRY_BYTES_MAX for header in headers):
        raise CorruptionError(f"a header of over {ENTRY_BYTES_MAX} bytes", family="journal")
    return b"".join(len(header).to_bytes(2, "big") + header for header in headers)


def tile_name(kind: str, number: int, width: int) -> str:
    """The path of a tile: `kind` is a level or `entries`, the number in groups of three digits."""
    groups = [f"{number % 1000:03}"]
    while number := number // 1000:
        groups.insert(0, f"x{number % 1000:03}")
    partial = f".p/{width}" if width < WIDTH else ""
    return f"tile/{kind}/{'/'.join(groups)}{partial}"
