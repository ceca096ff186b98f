"""Entries, a follower in a store, and a plain implementation of the index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from backends.base import Batch, Reader
from backends.memory import MemoryBackend
from engine.followers.base import read_cursor
from engine.index.columns import atom_body
from engine.index.index_follower import IndexFollower
from engine.index.index_view import IndexView
from engine.index.segments import IndexKeys
from engine.ledger.journal import Cursor, encode_cursor
from engine.ledger.layout import INDEX, cursor_key, journal_key, payload_key, tree_prefix
from engine.text.analyzer import STOP_WORDS, index_terms
from proofs.codec import encode_body, encode_header
from proofs.events import (
    AtomBody,
    AtomDetail,
    Body,
    Entry,
    EventKind,
    GenesisBody,
    GenesisDetail,
    Header,
    ReasonBody,
)
from proofs.hashing import RULES, commitment, label_commitment
from tests.spec.spec_facts import NO_DOCUMENT, Document, document
from tests.spec.spec_naive import Keys, rows_root, salted_rows, summary, term_rows
from tests.spec.spec_packs import stored_segment

Rows = dict[bytes, bytes]

Written = str | AtomBody | None
"""A content, an entire body, or None for a destroyed payload."""

KEYS = Keys(b"i" * 32, b"l" * 32, b"r" * 32)
"""The secrets of every store here."""

INDEX_KEYS = IndexKeys(KEYS.labels, KEYS.rows)


def genesis_rows() -> Rows:
    """Return the rows of an event 0 that states KEYS."""
    salt, raw = bytes(32), encode_body(GenesisBody(*KEYS))
    detail = GenesisDetail(bytes(16), "test", bytes(32), label_commitment(KEYS.labels), RULES)
    header = Header(0, 0, EventKind.GENESIS, "engine", commitment(salt, raw), None, detail)
    return {journal_key(0): encode_header(header), payload_key(0): salt + raw}


def body(
    content: str, title: str | None = None, source: str | None = None, sequence: int | None = None
) -> AtomBody:
    """Return the body of an atom with the given fields and constants for all others."""
    return AtomBody(content, title, "note", (), (), source, sequence, "internal", None, None, 0)


def entry(seq: int, ordinal: int, text: Body | None, kind: EventKind = EventKind.ATOM_ADDED) -> Entry:
    """Return an event on an atom that has no other events."""
    detail = AtomDetail(seq.to_bytes(16, "big"), ordinal, None)
    header = Header(seq, 0, kind, "test", bytes(32), None, detail)
    return Entry(header, text, seq.to_bytes(32, "big"))


def history(texts: Iterable[Written], between: int = 0) -> list[Entry]:
    """Return an entry for each text, followed by `between` entries that assign no ordinal."""
    entries: list[Entry] = []
    for ordinal, text in enumerate(texts):
        kind = EventKind.ATOM_REVISED if ordinal % 3 == 2 else EventKind.ATOM_ADDED
        entries.append(entry(len(entries), ordinal, body(text) if isinstance(text, str) else text, kind))
        entries += [
            entry(len(entries) + more, ordinal, ReasonBody(""), EventKind.ATOM_TOMBSTONED)
            for more in range(between)
        ]
    return entries


class World:
    """A store with the rows of the index, and the journal from which they are built.

    Only the genesis is stored; the entries are passed to the follower.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.rows = MemoryBackend()
        batch = Batch()
        batch.rows.update(genesis_rows())
        self.rows.write(batch)
        self.loads = 0
        self.follower = self.fresh()

    def fresh(self) -> IndexFollower:
        """Return a follower without cached data, as in a process that has just opened the store."""
        return IndexFollower(self._load)

    def follow(self, first: int, last: int, *, lost: bool = False) -> None:
        """Follow the entries from `first` up to but excluding `last`; a lost batch is not written."""
        batch = Batch()
        followed = self.entries[first:last]
        if not followed:
            return
        self.follower.follow(followed, self.rows, batch)
        reached = Cursor(IndexFollower.version, followed[-1].header.seq + 1, followed[-1].leaf)
        batch.put(cursor_key(IndexFollower.name), encode_cursor(reached))
        if not lost:
            self.rows.write(batch)

    def all_rows(self) -> Rows:
        """Return all rows of the index and of its tree, except the seal of the tree."""
        rows = [*self.rows.scan_prefix(INDEX), *self.rows.scan_prefix(tree_prefix("index"))]
        return {key: row for key, row in rows if key != tree_prefix("index") + b"\xff"}

    def root(self, follower: IndexFollower | None = None) -> bytes:
        """Return the root of the index, from `follower` or from the follower of the store."""
        cursor = read_cursor(self.rows, IndexFollower.name)
        return (follower or self.follower).root(self.rows, cursor.size if cursor else 0)

    def view(self) -> IndexView:
        """Return a view of the current index."""
        return self.follower.view(self.rows)

    def _load(self, rows: Reader, start: int, seqs: Sequence[int]) -> list[AtomBody | None]:
        self.loads += len(seqs)
        return [atom_body(self.entries[seq].body) for seq in seqs]


def world_of(texts: Iterable[Written]) -> World:
    """Return a store whose follower has followed all of `texts` in one batch."""
    world = World(history(texts))
    world.follow(0, len(world.entries))
    return world


def plain_document(text: Written) -> Document:
    """Return the terms, head and facts of a text, from the implementation that follows SPEC.md alone."""
    if text is None:
        return NO_DOCUMENT
    return document(body(text) if isinstance(text, str) else text, index_terms, STOP_WORDS)


def plain_segment(key: bytes, texts: Sequence[Written]) -> tuple[Rows, bytes]:
    """Return the rows of a segment by name, without salts, and its summary, from its key and texts."""
    documents = [plain_document(text) for text in texts]
    return dict(term_rows(documents, STOP_WORDS, KEYS)), summary(key, documents, STOP_WORDS, KEYS)


def _salted_root(key: bytes, rows: Sequence[tuple[bytes, bytes]]) -> bytes:
    return rows_root(salted_rows(key, rows, KEYS))


def plain_sizes(count: int) -> list[tuple[int, int, int]]:
    """Return the level, start and size of each segment of `count` ordinals, by division."""
    found = []
    start = 0
    for level in (4, 3, 2, 1, 0):
        size = 256 * 4**level
        for _ in range((count - start) // size):
            found.append((level, start, size))
            start += size
    return found


def plain_rows(texts: Sequence[Written], between: int = 0) -> Rows:
    """Return all rows of the index except those of its tree."""
    rows: Rows = {}
    for level, start, size in plain_sizes(len(texts)):
        name = bytes([level]) + start.to_bytes(4, "big")
        own, rows[b"i/sum/" + name] = plain_segment(name, texts[start : start + size])
        root_of = partial(_salted_root, name)
        stored, rows[b"i/blk/" + name] = stored_segment(list(own.items()), size, root_of)
        rows |= {b"i/seg/" + name + b"/" + term: value for term, value in stored.items()}
    for ordinal, text in enumerate(texts):
        in_tail = ordinal >= len(texts) - len(texts) % 256
        if text is None or in_tail:
            seq = (ordinal * (1 + between)).to_bytes(8, "big")
            rows[b"i/doc/" + ordinal.to_bytes(4, "big")] = seq if in_tail else b""
    if texts:
        leaf = ((len(texts) - 1) * (1 + between)).to_bytes(32, "big")
        rows[b"i/head"] = len(texts).to_bytes(4, "big") + leaf
    return rows
