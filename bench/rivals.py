"""The plainest honest rival: SQLite with FTS5 and tables for tags and edges, as anybody would write it.

Question: what does a memory cost that proves nothing? It has no journal, no history, no roots, no
    proofs and no idempotent adds; a row that its holder changes looks like any other.
Data, seed: whatever the measurement gives both sides; batches of the same 1,000 texts.
How: WAL, synchronous=FULL (each commit survives loss of power, as ours does), FTS5 with its Porter
    stemmer because ours stems too (measured: no slower than without), BM25 by FTS5's own function over
    the question's words joined by OR.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple, Self

from bench.data import Text

_SCHEMA = """
CREATE VIRTUAL TABLE docs USING fts5(title, content, tokenize = 'porter unicode61');
CREATE TABLE places (doc INTEGER PRIMARY KEY, source TEXT, sequence INTEGER);
CREATE TABLE tags (tag TEXT, doc INTEGER, PRIMARY KEY (tag, doc)) WITHOUT ROWID;
CREATE TABLE edges (src INTEGER, type TEXT, dst TEXT, PRIMARY KEY (src, type, dst)) WITHOUT ROWID;
CREATE INDEX edges_to ON edges (dst, type, src);
"""
_WORD = re.compile(r"\w+")


class Answer(NamedTuple):
    """A hit of the rival."""

    doc: int
    source: str
    content: str
    score: float
    """As FTS5 counts: negative, smaller is better."""


class Fts:
    """A store of the rival. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the file at `path`, making it if it is not there."""
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
        """Add texts, their tags and what each links to, in one durable transaction."""
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

    def recall(self, question: str, limit: int = 10) -> list[Answer]:
        """The best texts that have any of the question's words."""
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        # Measured at 100,000 texts: sorting by `bm25(docs)` takes 63 ms, by FTS5's own `rank` 95.
        found = self._db.execute(
            "SELECT doc, source, content, score FROM"
            " (SELECT rowid, content, bm25(docs) AS score FROM docs"
            " WHERE docs MATCH ? ORDER BY score LIMIT ?) AS hits"
            " JOIN places ON doc = hits.rowid ORDER BY score",
            (match, limit),
        )
        return [Answer(*row) for row in found]

    def rebuild(self) -> None:
        """Make the full-text index anew from the texts, durably."""
        self._db.execute("INSERT INTO docs (docs) VALUES ('rebuild')")

    def check(self) -> None:
        """SQLite's and FTS5's own checks: that the file agrees with itself, not who wrote it.

        Raises:
            sqlite3.DatabaseError: it does not.
        """
        (found,) = self._db.execute("PRAGMA integrity_check").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        self._db.execute("INSERT INTO docs (docs, rank) VALUES ('integrity-check', 1)")

    def close(self) -> None:
        """Move everything into the one file and release it."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
