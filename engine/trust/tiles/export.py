"""The log as static files that any web server can hand out (c2sp.org/tlog-tiles; SPEC: The log as tiles).

    checkpoint                      origin, size and root of the log; signatures, if it was given any
    tile/<level>/<number>           256 hashes of the level, side by side
    tile/entries/<number>           256 headers, each after its u16 length
    ….p/<width>                     the same of fewer, at the right edge of one size

Tiles never change once they are there. The checkpoint comes last, so that it never speaks of a tile that is
missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.errors import ConflictError, CorruptionError, InvalidInputError, RefusedError
from engine.base.validation import quoted
from engine.followers.log import WIDTH, WIDTH_BITS, complete_root
from engine.ledger.journal import read_log
from engine.ledger.layout import journal_key
from engine.store.replay import Progress, no_progress
from engine.trust.notes.history import read_history
from engine.trust.proving.log_witnesses import LogPaths
from engine.trust.tiles.folder import PublishedFolder, published
from proofs.errors import ProofError
from proofs.log import leaf_hash
from proofs.note import Checkpoint, Note, format_note, origin_of, parse_note

TILES: Final = "tile"
ENTRIES: Final = "entries"
PARTIAL: Final = ".p"
ENTRY_BYTES_MAX: Final = (1 << 16) - 1


class Tile(NamedTuple):
    """One file: hashes of a level, or the headers that level 0 is of."""

    kind: str
    """The level in decimal, or `entries`."""
    number: int
    width: int
    """How many hashes or headers, 1 to 256."""

    @property
    def level(self) -> int:
        """That of the hashes, or of the leaves that the headers make."""
        return 0 if self.kind == ENTRIES else int(self.kind)

    @property
    def name(self) -> str:
        """Its path in the folder."""
        whole = tile_name(self.kind, self.number)
        return whole if self.width == WIDTH else f"{whole}{PARTIAL}/{self.width}"


def tile_name(kind: str, number: int) -> str:
    """The path of a whole tile: `kind` is a level or `entries`, the number in groups of three digits."""
    groups = [f"{number % 1000:03}"]
    while number := number // 1000:
        groups.insert(0, f"x{number % 1000:03}")
    return f"{TILES}/{kind}/{'/'.join(groups)}"


class Tiles:
    """The files of a log at one size, made from the rows of a snapshot."""

    def __init__(self, rows: Reader, paths: LogPaths, size: int) -> None:
        """Look at the first `size` events; `paths` are of at least so many, and lead to the right root."""
        self.size = size
        self._rows = rows
        self._paths = paths
        self._place = (-1, -1)
        self._hashes: list[bytes] = []
        self._headers: list[bytes] = []

    def __iter__(self) -> Iterator[Tile]:
        """Every file of this size; those of level 0 are last for each number."""
        level = 0
        while size := self.size >> WIDTH_BITS * level:
            for number in range(-(-size // WIDTH)):
                width = min(WIDTH, size - number * WIDTH)
                if not level:
                    yield Tile(ENTRIES, number, width)
                yield Tile(str(level), number, width)
            level += 1

    def data(self, tile: Tile) -> bytes:
        """What is in a file of this size, or of an earlier one.

        The hashes are known to be right, because a tile never changes: a whole one is bound to its hash
        in the level above, and those at the right edge make the root.

        Raises:
            CorruptionError: they do not, or a row is missing or malformed.
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
                f"tile {number} of level {level} does not lead to the log's root",
                hint="run `engine verify-root`",
            )
        self._hashes, self._place = hashes, (level, number)

    def _read_headers(self, start: int, stop: int) -> list[bytes]:
        found = list(self._rows.scan(journal_key(start), journal_key(stop)))
        if [key for key, _ in found] != [journal_key(seq) for seq in range(start, stop)]:
            raise CorruptionError(f"not all headers {start} to {stop - 1} are there", family="journal")
        headers = [header for _, header in found]
        if any(len(header) > ENTRY_BYTES_MAX for header in headers):
            raise CorruptionError(f"a header of over {ENTRY_BYTES_MAX} bytes", family="journal")
        return headers


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
            try:
                found[name] = parse_note(raw)
            except ProofError as error:
                problem = f"{files.root / name} is no checkpoint: {error}"
                raise ConflictError(problem, hint=_ELSEWHERE) from None
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
