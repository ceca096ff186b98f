"""Which files represent a log of some size, and what is in each (c2sp.org/tlog-tiles).

    tile/<level>/<number>           256 hashes of the level, side by side
    tile/entries/<number>           256 headers, each after its u16 length
    ….p/<width>                     the same of fewer, at the right edge of one size

A file never changes once it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.errors import CorruptionError
from engine.followers.log import WIDTH, WIDTH_BITS, complete_root
from engine.ledger.layout import journal_key
from engine.trust.proving.log_paths import LogPaths
from proofs.log import leaf_hash

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
