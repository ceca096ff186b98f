"""The rivals of the benchmarks. The first is the simplest fair alternative: SQLite with FTS5 and two tables.

Question: what is the cost of a memory that proves nothing? The rival has no journal, history, roots, proofs
    or idempotent adds. If the owner of the file changes a row, the row cannot be distinguished from any other
    row.
Data, seed: the same as for memroot; batches of the same 1,000 texts.
How: WAL and synchronous=FULL, so each commit survives a loss of power, as in memroot. FTS5 uses its Porter
    stemmer because memroot stems too (measured: no slower than without). Ranking is FTS5's own BM25
    over the question's words joined by OR.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple, Protocol, Self

from bench.data import Text

_SCHEMA = """
CREATE VIRTUAL TABLE docs USING fts5(title, content, tokenize = 'porter unicode61');
CREATE TABLE places (doc INTEGER PRIMARY KEY, source TEXT, sequence INTEGER);
CREATE TABLE tags (tag TEXT, doc INTEGER, PRIMARY KEY (tag, doc)) WITHOUT ROWID;
CREATE TABLE edges (src INTEGER, type TEXT, dst TEXT, PRIMARY KEY (src, type, dst)) WITHOUT ROWID;
CREATE INDEX edges_to ON edges (dst, type, src);
"""
_WORD = re.compile(r"\w+")


FTS: Final = "rival"
"""The rival that is always there, `Fts`."""
PACKAGED: Final = ("tantivy", "plugmem")
"""The rivals that are packages, by the names of the packages in the dependency group `bench`."""


class Rival(Protocol):
    """A store of texts that memroot is compared with."""

    def add(self, batch: Sequence[Text], /) -> object:
        """Add texts."""

    def finish(self) -> None:
        """Make everything that was added durable, and ready to be found."""

    def recall(self, question: str, limit: int = 10, /) -> object:
        """Return the best texts for a question."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def is_installed(name: str) -> bool:
    """Return True if the rival `name` can be measured here."""
    return name == FTS or find_spec(name) is not None


def open_rival(name: str, path: Path) -> Rival:
    """Open the rival's store at `path`, and create it if it does not exist."""
    if name == "tantivy":
        from bench.packaged_rivals import Tantivy

        return Tantivy(path)
    if name == "plugmem":
        from bench.packaged_rivals import Plugmem

        return Plugmem(path)
    return Fts(path)


class Answer(NamedTuple):
    """A hit of a rival's recall."""

    doc: int
    source: str
    content: str
    score: float
    """The score of FTS5. It is negative, and a smaller score is better."""


class Fts:
    """A store of the rival, to be used as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the file at `path`, and create it if it does not exist."""
        new = not path.exists()
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        if new:
            self._db.executescript(_SCHEMA)
        (last,) = self._db.execute("SELECT max(doc) FROM places").fetchone()
        self._next = count((last or 0) + 1)

    def add(
        self, batch: Iterable[Text], titles: Iterable[str | None] = (), links: Sequence[Sequence[str]] = ()
    ) -> None:
        """Add texts with their tags and links in one durable transaction."""
        texts = [(next(self._next), text) for text in batch]
        names = list(titles) or [None] * len(texts)
        db = self._db
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO docs (rowid, title, content) VALUES (?, ?, ?)",
            [(doc, name, text.content) for (doc, text), name in zip(texts, names, strict=True)],
        )
        db.executemany(
            "INSERT INTO places VALUES (?, ?, ?)", [(doc, text.source, text.sequence) for doc, text in texts]
        )
        db.executemany(
            "INSERT OR IGNORE INTO tags VALUES (?, ?)",
            [(tag, doc) for doc, text in texts for tag in text.tags],
        )
        db.executemany(
            "INSERT OR IGNORE INTO edges VALUES (?, 'references', ?)",
            [(doc, target) for (doc, _), targets in zip(texts, links, strict=False) for target in targets],
        )
        db.execute("COMMIT")

    def finish(self) -> None:
        """Do nothing: every batch is durable, and can be found, as soon as it is added."""

    def recall(self, question: str, limit: int = 10) -> list[Answer]:
        """Return the best texts that contain any of the question's words."""
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        # Measured at 100,000 texts: sorting by `bm25(docs)` takes 63 ms, by FTS5's own `rank` 95 ms.
        found = self._db.execute(
            "SELECT doc, source, content, score FROM"
            " (SELECT rowid, content, bm25(docs) AS score FROM docs"
            " WHERE docs MATCH ? ORDER BY score LIMIT ?) AS hits"
            " JOIN places ON doc = hits.rowid ORDER BY score",
            (match, limit),
        )
        return [Answer(*row) for row in found]

    def rebuild(self) -> None:
        """Rebuild the full-text index from the texts, durably."""
        self._db.execute("INSERT INTO docs (docs) VALUES ('rebuild')")

    def check(self) -> None:
        """Run the integrity checks of SQLite and FTS5. They check consistency, not who wrote the file.

        Raises:
            sqlite3.DatabaseError: the file is inconsistent.
        """
        (found,) = self._db.execute("PRAGMA integrity_check").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        self._db.execute("INSERT INTO docs (docs, rank) VALUES ('integrity-check', 1)")

    def close(self) -> None:
        """Checkpoint the WAL into the main file and close it."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
