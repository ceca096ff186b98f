"""The log as static files that any web server can serve (c2sp.org/tlog-tiles; SPEC: The log as tiles).

    checkpoint                      origin, size and root of the log, with signatures if there are any
    tile/<level>/<number>           256 hashes of the level, concatenated
    tile/entries/<number>           256 headers, each after its u16 length
    ….p/<width>                     a tile with only <width> entries: the last tile of a log at some size

Existing tiles never change. The checkpoint is written last, so that it never refers to a missing tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.errors import ConflictError, CorruptionError, InvalidInputError, RefusedError
from engine.base.outside_files import PublishedFolder, published
from engine.base.validation import quoted
from engine.followers.log import WIDTH, WIDTH_BITS, complete_root
from engine.ledger.journal import read_log
from engine.ledger.layout import journal_key
from engine.store.replay import Progress, no_progress
from engine.trust.notes.known_checkpoints import read_history
from engine.trust.proving.log_witnesses import LogPaths
from proofs.errors import ProofError
from proofs.log import leaf_hash
from proofs.note import Checkpoint, Note, format_note, origin_of, parse_note

TILES: Final = "tile"
ENTRIES: Final = "entries"
PARTIAL: Final = ".p"
ENTRY_BYTES_MAX: Final = (1 << 16) - 1


class Tile(NamedTuple):
    """One file of the export: the hashes of a level, or the headers whose hashes are in a tile of level 0."""

    kind: str
    """The level as a decimal number, or `entries` for headers."""
    number: int
    width: int
    """The number of hashes or headers in the file, 1 to 256."""

    @property
    def level(self) -> int:
        """The level of the hashes; 0 for headers."""
        return 0 if self.kind == ENTRIES else int(self.kind)

    @property
    def name(self) -> str:
        """The path of the file, relative to the folder of the export."""
        whole = tile_name(self.kind, self.number)
        return whole if self.width == WIDTH else f"{whole}{PARTIAL}/{self.width}"


def tile_name(kind: str, number: int) -> str:
    """Return the path of a full tile; `kind` is a level or `entries`.

    The number of the tile is written in groups of three digits.
    """
    groups = [f"{number % 1000:03}"]
    while number := number // 1000:
        groups.insert(0, f"x{number % 1000:03}")
    return f"{TILES}/{kind}/{'/'.join(groups)}"


class Tiles:
    """Generates the files of a log at one size from the rows of a snapshot."""

    def __init__(self, rows: Reader, paths: LogPaths, size: int) -> None:
        """Prepare to generate the files of the first `size` events.

        `paths` covers at least `size` events, and its root has been verified.
        """
        self.size = size
        self._rows = rows
        self._paths = paths
        self._place = (-1, -1)
        self._hashes: list[bytes] = []
        self._headers: list[bytes] = []

    def __iter__(self) -> Iterator[Tile]:
        """Yield all files. Headers precede the tile of level 0 with the same number."""
        level = 0
        while size := self.size >> WIDTH_BITS * level:
            for number in range(-(-size // WIDTH)):
                width = min(WIDTH, size - number * WIDTH)
                if not level:
                    yield Tile(ENTRIES, number, width)
                yield Tile(str(level), number, width)
            level += 1

    def data(self, tile: Tile) -> bytes:
        """Return the content of a file that belongs to this size of the log or to an earlier size.

        All hashes are verified. The hashes in a full tile must hash to the entry for the tile in the level
        above. The root of the log must follow from the hashes in the partial tiles at the end.

        Raises:
            CorruptionError: A hash does not match, or a row is missing or malformed.
        """
        if self._place != (tile.level, tile.number):
            self._read(tile.level, tile.number)
        if tile.kind != ENTRIES:
            return b"".join(self._hashes[: tile.width])
        return b"".join(len(header).to_bytes(2, "big") + header for header in self._headers[: tile.width])

    def _read(self, level: int, number: int) -> None:
        start, stop = number * WIDTH, min(self.size >> WIDTH_BITS * level, (number + 1) * WIDTH)
        if level:
            hashes = self._paths.hashes(level, start, stop)
        else:
            self._headers = self._read_headers(start, stop)
            hashes = [leaf_hash(header) for header in self._headers]
        if len(hashes) == WIDTH and [complete_root(hashes)] != self._paths.hashes(
            level + 1, number, number + 1
        ):
            raise CorruptionError(
                f"tile {number} of level {level} does not match the log's root",
                hint="run `engine verify-root`",
            )
        self._hashes, self._place = hashes, (level, number)

    def _read_headers(self, start: int, stop: int) -> list[bytes]:
        rows = list(self._rows.scan(journal_key(start), journal_key(stop)))
        if [key for key, _ in rows] != [journal_key(seq) for seq in range(start, stop)]:
            raise CorruptionError(f"some of the headers {start} to {stop - 1} are missing", family="journal")
        headers = [header for _, header in rows]
        if any(len(header) > ENTRY_BYTES_MAX for header in headers):
            raise CorruptionError(f"a header has more than {ENTRY_BYTES_MAX} bytes", family="journal")
        return headers


CHECKPOINT: Final = "checkpoint"
ANNOUNCED: Final = ".checkpoint"
"""The file with the next checkpoint during an export. After a killed export, it identifies the log."""

_ELSEWHERE: Final = "choose an empty folder"


@dataclass(frozen=True, slots=True)
class LogExport:
    """The result of an export."""

    origin: str
    size: int
    """The number of events that the checkpoint covers."""
    log_root: str
    """The root of the log with `size` events, as 64 hex digits."""
    new: int
    """The number of events that the new checkpoint covers and the previous checkpoint did not cover."""
    files: int
    """The number of files that were written by this export."""


def export(
    rows: Reader,
    store_id: bytes,
    folder: Path,
    checkpoint: bytes | None = None,
    progress: Progress = no_progress,
) -> LogExport:
    """Write the log into `folder`. If the folder contains an earlier export, add the later events.

    Before anything is written, every file that the checkpoint covers is compared with the log; missing files
    are written again. If the process is killed, the next call finishes the export. The files are then the
    same as after an uninterrupted export.

    Args:
        rows: A snapshot of the store.
        store_id: The store id from the genesis event.
        folder: A folder that is empty, does not exist yet, or contains an earlier export.
        checkpoint: The checkpoint to publish, which may be signed. The log is written up to the size in this
            checkpoint. None for an unsigned checkpoint of all events.
        progress: Called with the number of events whose files exist, and the number of all events.

    Raises:
        InvalidInputError: `checkpoint` is not a checkpoint of this log.
        ConflictError: The folder contains files that are not an export, or more events than `checkpoint`
            covers.
        InconsistentError: This store does not continue the log in the folder: that log is of another store,
            or this store has since been rolled back or has forked.
        RefusedError: An existing tile differs from the log, or an unsigned checkpoint would replace a signed
            one.
        BusyError: Another process is writing to the folder.
        CorruptionError: The rows do not match the log state.
        EngineError: Writing to the disk failed.
    """
    log = _read(rows, origin_of(store_id))
    note = _note_of(log, checkpoint)
    size = note.checkpoint.size
    with published(folder) as files:
        before = _before(files, note.checkpoint, log)
        if before is not None and checkpoint is None and before.checkpoint.size == size:
            note = before  # keep the signatures of the published checkpoint, if there are any
        if before is not None and before.signatures and not note.signatures:
            raise RefusedError(
                f"{folder} has a signed checkpoint, which an unsigned checkpoint must not replace",
                hint="give a signed checkpoint (--checkpoint)",
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
            files.sync()
        files.clear()
    new = size - before.checkpoint.size if before else size
    return LogExport(note.checkpoint.origin, size, note.checkpoint.root.hex(), new, files.written)


def published_notes(folder: Path) -> list[Note]:
    """Return the checkpoints in a folder, including the one that a killed export was about to publish."""
    notes = []
    for name in (CHECKPOINT, ANNOUNCED):
        try:
            raw = PublishedFolder(folder).read(name)
            notes += [] if raw is None else [parse_note(raw)]
        except (OSError, ConflictError, ProofError):
            continue
    return notes


class _Log(NamedTuple):
    """The log in one snapshot, and the object that computes the roots and paths of the log."""

    rows: Reader
    head: Checkpoint
    paths: LogPaths


class _Counter:
    """Counts the events whose hashes and headers have been written, and reports the progress."""

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
            "the rows of the log do not match the root that the log state commits to",
            hint="run `engine verify-root`",
        )
    return _Log(rows, Checkpoint(origin, log.size, log.frontier.root()), paths)


def _note_of(log: _Log, raw: bytes | None) -> Note:
    """Return the checkpoint to publish, after checking that it is a checkpoint of this log."""
    try:
        note = Note(log.head) if raw is None else parse_note(raw)
    except ProofError as error:
        raise InvalidInputError(f"the given checkpoint is not a checkpoint note: {error}") from None
    checkpoint = note.checkpoint
    if checkpoint.origin != log.head.origin:
        raise InvalidInputError(
            f"the given checkpoint belongs to {quoted(checkpoint.origin)}, but this log is {log.head.origin}"
        )
    if not 0 < checkpoint.size <= log.head.size:
        raise InvalidInputError(
            f"the given checkpoint has size {checkpoint.size}, but this log has only {log.head.size} events"
        )
    if log.paths.root(checkpoint.size) != checkpoint.root:
        raise InvalidInputError(
            f"the given checkpoint and this log have different roots at size {checkpoint.size}"
        )
    return note


def _before(files: PublishedFolder, wanted: Checkpoint, log: _Log) -> Note | None:
    """Return the checkpoint in the folder, after checking that the files in the folder belong to this log."""
    notes = {}
    for name in (CHECKPOINT, ANNOUNCED):
        raw = files.read(name)
        if raw is not None:
            try:
                notes[name] = parse_note(raw)
            except ProofError as error:
                problem = f"{files.root / name} is not a checkpoint: {error}"
                raise ConflictError(problem, hint=_ELSEWHERE) from None
            _check_published(notes[name].checkpoint, log)
    for note in notes.values():
        if note.checkpoint.size > wanted.size:
            raise ConflictError(
                f"{files.root} already contains {note.checkpoint.size} events of this log, more than the "
                f"{wanted.size} to export",
                hint="export up to a later checkpoint",
            )
    if not notes and files.names():
        raise ConflictError(
            f"{files.root} is not empty and does not contain an exported log", hint=_ELSEWHERE
        )
    return notes.get(CHECKPOINT)


def _check_published(previous: Checkpoint, log: _Log) -> None:
    """Check that this log continues the published checkpoint.

    The errors are the same as the errors of `engine verify-root`.
    """
    same_store = previous.origin == log.head.origin and previous.size <= log.head.size
    if same_store and log.paths.root(previous.size) == previous.root:
        return
    read_history(log.rows, {previous.size}).check(previous)
    raise CorruptionError(
        f"the rows of the log do not match its root at {previous.size} events",
        hint="run `engine verify-root`",
    )


def _missing(files: PublishedFolder, tiles: Tiles, counter: _Counter) -> list[Tile]:
    """Return the missing tiles, after checking all existing tiles and the partial tiles of earlier sizes."""
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
    """Return the existing partial tiles that have the number of `tile` and belong to earlier sizes."""
    names = files.listed(tile_name(tile.kind, tile.number) + PARTIAL)
    if not names:
        return []
    narrower = {str(width): width for width in range(1, tile.width)}
    return [tile._replace(width=narrower[name]) for name in names if name in narrower]
