"""The rows that were found in a damaged store: every value of every key, in a scratch file.

The rows are kept on disk, because a store may be larger than the main memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from backends.base import AFTER_ALL_KEYS, Row, prefix_end

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE found (key BLOB, digest BLOB, rank INTEGER, value BLOB, PRIMARY KEY (key, digest)) WITHOUT ROWID;
"""

_ADD = "INSERT OR IGNORE INTO found VALUES (?, ?, ?, ?)"
_SCAN = "SELECT key, value FROM found WHERE key >= ? AND key < ? ORDER BY key, rank"


@dataclass
class Way:
    """A way of reading a store. It is read once only; `problems` is complete after that."""

    name: str
    """A short description of the way, for people."""
    own: bool
    """True if the backend's library reads the rows. The rows are then a state that the store once had."""
    read: Callable[[list[str]], Iterator[Row]]
    """Yields the rows, and adds the problems that were found to a list."""
    problems: list[str] = field(default_factory=list)
    """The problems that were found, in sentences for people; empty if nothing seems damaged."""
    count: int = 0
    """The number of rows that were read and have one of the wanted prefixes."""


class FoundRows:
    """A collection of rows. A key may have several values, in the order in which they were found."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(_SCHEMA)
        self._rank = 0
        self.open_value: Callable[[bytes, bytes], bytes | None] | None = None
        """Returns the plain value of a row, or None if the value is damaged; None for an open store. The file
        has the values as they were found."""

    def add(self, rows: Iterable[Row]) -> int:
        """Add the rows that were not found before. Return the number of all rows in `rows`."""
        before = self._rank
        self._connection.execute("BEGIN")
        self._connection.executemany(_ADD, map(self._found, rows))
        self._connection.execute("COMMIT")
        return self._rank - before

    def _found(self, row: Row) -> tuple[bytes, bytes, int, bytes]:
        key, value = row
        self._rank += 1
        return key, blake2b(value, digest_size=8).digest(), self._rank, value

    def values(self, key: bytes) -> list[bytes]:
        """Return the values of `key`, in the order in which they were found."""
        rows = self._connection.execute("SELECT value FROM found WHERE key = ? ORDER BY rank", (key,))
        return self._opened(key, (value for (value,) in rows))

    def _opened(self, key: bytes, values: Iterable[bytes]) -> list[bytes]:
        if self.open_value is None:
            return list(values)
        opened = (self.open_value(key, value) for value in values)
        return [value for value in opened if value is not None]

    def scan(self, start: bytes, end: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
        """Yield the keys with start <= key < end in order, each with its values in the order of `values`."""
        rows = self._connection.execute(_SCAN, (start, end))
        for key, some in groupby(rows, itemgetter(0)):
            if values := self._opened(key, (value for _, value in some)):
                yield key, values

    def scan_prefix(self, prefix: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
        """Yield the keys that begin with `prefix`, like `scan`."""
        return self.scan(prefix, prefix_end(prefix) or AFTER_ALL_KEYS)

    def close(self) -> None:
        """Close the scratch file."""
        self._connection.close()
