"""The log as static files that any web server can hand out (c2sp.org/tlog-tiles; SPEC: The log as tiles).

    checkpoint                      origin, size and root of the log; signatures, if it was given any
    tile/…                          what `engine.trust.tiles.layout` describes

Tiles never change. The checkpoint comes last, so that it never speaks of a tile that is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.errors import ConflictError, CorruptionError, InvalidInputError, RefusedError
from engine.base.validation import quoted
from engine.ledger.journal import read_log
from engine.store.replay import Progress, no_progress
from engine.trust.notes.history import read_history
from engine.trust.proving.log_paths import LogPaths
from engine.trust.tiles.folder import PublishedFolder, published
from engine.trust.tiles.layout import PARTIAL, Tile, Tiles, tile_name
from proofs.errors import ProofError
from proofs.note import Checkpoint, Note, format_note, origin_of, parse_note

CHECKPOINT: Final = "checkpoint"
ANNOUNCED: Final = ".checkpoint"
"""What `CHECKPOINT` will say; it shows whose log an export that was killed has left."""

_ELSEWHERE: Final = "choose an empty folder"


@dataclass(frozen=True, slots=True)
class Exported:
    """What a folder holds after an export."""

    origin: str
    size: int
    """Events that its checkpoint covers."""
    log_root: str
    """The log's root at that size, 64 hex digits."""
    new: int
    """Events of these that the checkpoint before did not cover."""
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

    Every file that the checkpoint covers is compared with the log before anything is written, and one
    that is missing is written again. Killed anywhere, the export is finished by calling this again; the
    files are then those of one go.

    Args:
        rows: A snapshot of the store.
        store_id: The store's, from its genesis.
        folder: Empty, not there yet, or what an earlier export has left.
        given: The checkpoint to publish, signed or not; the log is written up to its size. None: an
            unsigned one of all events.
        progress: Told of how many events, of all, the files are known to be there.

    Raises:
        InvalidInputError: `given` is no checkpoint of this log.
        ConflictError: the folder holds something else, or is ahead of `given`.
        InconsistentError: this store does not continue the log that the folder holds: it is another
            store's, or this one went back or forked since.
        RefusedError: a tile is there with other bytes; or a signed checkpoint would be replaced by an
            unsigned one.
        BusyError: another process is writing to the folder.
        CorruptionError: the rows are not those of the log.
        EngineError: the disk does not take what is written.
    """
    log = _read(rows, origin_of(store_id))
    note = _note_of(log, given)
    size = note.checkpoint.size
    with published(folder) as files:
        before = _before(files, note.checkpoint, log)
        if before is not None and given is None and before.checkpoint.size == size:
            note = before  # with its signatures, if it has any
        if before is not None and before.signatures and not note.signatures:
            raise RefusedError(
                f"{folder} has a signed checkpoint, which an unsigned one must not replace",
                hint="give a signed one with --checkpoint",
            )
        tiles = Tiles(rows, log.paths, size)
        counter = _Counter(size, progress)
        missing = _missing(files, tiles, counter)
        if note != before:
            files.replace(ANNOUNCED, format_note(note))
        for tile in missing:
            files.replace(tile.name, tiles.data(tile))
            counter.add(tile)
        if note != before:
            files.rename(ANNOUNCED, CHECKPOINT)
        elif missing:
            files.settle()
        files.clear()
    new = size - before.checkpoint.size if before else size
    return Exported(note.checkpoint.origin, size, note.checkpoint.root.hex(), new, files.written)


def published_notes(folder: Path) -> list[Note]:
    """The checkpoints that a folder holds, that of a killed export too; what is none is left out."""
    found = []
    for name in (CHECKPOINT, ANNOUNCED):
        try:
            raw = PublishedFolder(folder).read(name)
            found += [] if raw is None else [parse_note(raw)]
        except (OSError, ConflictError, ProofError):
            continue
    return found


class _Log(NamedTuple):
    """The log of one snapshot."""

    rows: Reader
    head: Checkpoint
    paths: LogPaths


class _Counter:
    """Tells the progress: events whose hashes, and so whose entries, are there."""

    def __init__(self, size: int, progress: Progress) -> None:
        self._size, self._progress, self._done = size, progress, 0

    def add(self, tile: Tile) -> None:
        if tile.kind == "0":
            self._done += tile.width
            self._progress(self._done, self._size)


def _read(rows: Reader, origin: str) -> _Log:
    log = read_log(rows)
    paths = LogPaths(rows, log.size)
    if paths.root(log.size) != log.frontier.root():
        raise CorruptionError(
            "the log's rows do not lead to the root that the log state commits to",
            hint="run `engine verify-root`",
        )
    return _Log(rows, Checkpoint(origin, log.size, log.frontier.root()), paths)


def _note_of(log: _Log, given: bytes | None) -> Note:
    """The checkpoint to publish, known to be true of this log."""
    try:
        note = Note(log.head) if given is None else parse_note(given)
    except ProofError as error:
        raise InvalidInputError(f"the given checkpoint is none: {error}") from None
    checkpoint = note.checkpoint
    if checkpoint.origin != log.head.origin:
        raise InvalidInputError(
            f"the given checkpoint is of {quoted(checkpoint.origin)}, this log is {log.head.origin}"
        )
    if not 0 < checkpoint.size <= log.head.size:
        raise InvalidInputError(f"the given checkpoint has size {checkpoint.size}, this log {log.head.size}")
    if log.paths.root(checkpoint.size) != checkpoint.root:
        raise InvalidInputError(
            f"the given checkpoint and this log differ in the root of size {checkpoint.size}"
        )
    return note


def _before(files: PublishedFolder, wanted: Checkpoint, log: _Log) -> Note | None:
    """The checkpoint that is published already, once what is there is known to be of this log."""
    found = {}
    for name in (CHECKPOINT, ANNOUNCED):
        raw = files.read(name)
        if raw is not None:
            found[name] = _read_there(files.root / name, raw)
            _check_there(found[name].checkpoint, log)
    for note in found.values():
        if note.checkpoint.size > wanted.size:
            raise ConflictError(
                f"{files.root} holds {note.checkpoint.size} events of this log already, not {wanted.size}",
                hint="export up to a later checkpoint",
            )
    if not found and files.names():
        raise ConflictError(f"{files.root} is not empty and holds no log", hint=_ELSEWHERE)
    return found.get(CHECKPOINT)


def _read_there(path: Path, raw: bytes) -> Note:
    try:
        return parse_note(raw)
    except ProofError as error:
        raise ConflictError(f"{path} is no checkpoint: {error}", hint=_ELSEWHERE) from None


def _check_there(there: Checkpoint, log: _Log) -> None:
    """Make sure that this log continues what is there; the verdict is that of `engine verify-root`."""
    mine = there.origin == log.head.origin and there.size <= log.head.size
    if mine and log.paths.root(there.size) == there.root:
        return
    read_history(log.rows, {there.size}).check(there)
    raise CorruptionError(
        f"the log's rows do not lead to its root of {there.size} events", hint="run `engine verify-root`"
    )


def _missing(files: PublishedFolder, tiles: Tiles, counter: _Counter) -> list[Tile]:
    """The tiles that are not there; all others, and partial ones of earlier sizes, are known to be right."""
    missing = []
    for tile in tiles:
        for earlier in _earlier(files, tile):
            files.check(earlier.name, tiles.data(earlier))
        if files.has(tile.name):
            files.check(tile.name, tiles.data(tile))
            counter.add(tile)
        else:
            missing.append(tile)
    return missing


def _earlier(files: PublishedFolder, tile: Tile) -> list[Tile]:
    """The partial tiles in the place of one that a log of an earlier size has left."""
    names = files.listed(tile_name(tile.kind, tile.number) + PARTIAL)
    if not names:
        return []
    narrower = {str(width): width for width in range(1, tile.width)}
    return [tile._replace(width=narrower[name]) for name in names if name in narrower]
