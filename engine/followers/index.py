"""The follower `index`: who mentions which term (SPEC: Index has the rows).

The `index` tree has a leaf for each segment, SegmentName.key → summary row, one for the tail and one for N.
Documents of erased atoms become `NO_DOCUMENT`, and the segments that held them are written anew, so that a
segment follows from its ordinals and the payloads that are left. The tail has no rows: its documents are kept
in memory and, wherever they are not at hand, made again from the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from backends.base import Batch, Reader
from engine.base.errors import CorruptionError
from engine.followers import columns, postings
from engine.followers.base import Follower
from engine.followers.columns import NO_DOCUMENT, Document, atom_body, document_of
from engine.followers.index_view import IndexView, PostingsCache
from engine.followers.postings import Tail
from engine.followers.segments import SegmentName, decode_summary, describe, parse_summary_key, segments_of
from engine.ledger.journal import erased_ordinals
from engine.ledger.layout import INDEX, INDEX_HEAD, INDEX_SUMMARIES, document_key, tree_prefix
from engine.ledger.pages import PagedTree
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, Header
from proofs.hashing import key_digest
from proofs.segments import SEGMENT_DOCUMENTS, Summary, count_leaf, encode_summary, segment_leaf

LoadBody = Callable[[Reader, int], AtomBody | None]
"""The atom in the body of the event at a seq; None where the payload is destroyed."""

_GIVES_ORDINAL = (EventKind.ATOM_ADDED, EventKind.ATOM_REVISED)
_CHANGES_DOCUMENTS = (*_GIVES_ORDINAL, EventKind.ERASED)
BULK_DOCUMENTS: Final = 4096
"""Bulk work stops here. Measured: at any other number, 37 % of the time of bulk adds went into
segments that were merged soon after."""

_GONE: Final = b""
"""The document row of an ordinal whose payload is destroyed."""

_TAILS_KEPT = 2
"""The newest tail, and the one before it for when the batch that made the newest was not written."""


class IndexFollower(Follower):
    """Keeps the postings, and the `index` tree over their segments.

    What it holds in memory is a cache, checked against `i/head` at every call: rows that another
    process wrote, or a batch of its own that was never written, make it derive the tail anew.
    `follow` must not run twice at the same time; the other methods may run beside it. Where a row that
    is needed is malformed or missing, methods raise CorruptionError.
    """

    name = "index"
    version = 4
    prefixes = (INDEX, tree_prefix("index"))

    def __init__(self, load_body: LoadBody) -> None:
        """`load_body` is only asked for ordinals of the tail, when it is not in memory."""
        self._load_body = load_body
        self._tree = PagedTree("index")
        self._tails: tuple[Tail, ...] = ()
        self._cache = PostingsCache()

    def share(self, entries: Sequence[Entry], rows: Reader, *, more: bool) -> int:
        """Up to the last ordinal that completes a segment of 4,096, so that no smaller ones are built."""
        head = rows.get(INDEX_HEAD)
        count = 0 if head is None else int.from_bytes(head[:4], "big")
        taken = 0
        for position, entry in enumerate(entries, 1):
            if entry.header.kind in _GIVES_ORDINAL:
                count += 1
                if not count % BULK_DOCUMENTS:
                    taken = position
        return taken if taken or more else len(entries)

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Give each new ordinal its document row; build the segments that are now complete.

        Raises:
            CorruptionError: also where the ordinals do not continue those in the rows.
        """
        changing = [entry for entry in entries if entry.header.kind in _CHANGES_DOCUMENTS]
        if not changing:
            return
        tail = self.tail(rows)
        documents = list(tail.documents)
        swept: set[int] = set()
        for entry in changing:
            if entry.header.kind is EventKind.ERASED:
                swept |= _erase(entry.header, rows, tail.start, documents)
            else:
                _add(entry, tail.start, documents, batch)
        count = tail.start + len(documents)
        gone = {ordinal for ordinal, document in enumerate(documents, tail.start) if document is NO_DOCUMENT}
        for ordinal in swept | gone:
            batch.put(document_key(ordinal), _GONE)
        if swept or count // SEGMENT_DOCUMENTS != tail.end // SEGMENT_DOCUMENTS:
            self._build(rows, batch, tail, documents, count, swept)
        if not count:
            return
        head = count.to_bytes(4, "big") + changing[-1].leaf
        batch.put(INDEX_HEAD, head)
        start = count - count % SEGMENT_DOCUMENTS
        self._keep(Tail(head, start, tuple(documents[max(start - tail.start, 0) :])))

    def root(self, rows: Reader) -> bytes:
        """The root of the `index` tree, tail included."""
        tail = self.tail(rows)
        if not tail.end:
            return self._tree.root(rows)
        virtual = [count_leaf(tail.end)]
        if tail.documents:
            virtual.append(segment_leaf(tail.key, tail.summary))
        return self._tree.root_with(rows, dict(virtual))

    def view(self, rows: Reader) -> IndexView:
        """The index as of `rows`, to search in. Valid as long as `rows` does not change."""
        tail = self.tail(rows)
        return IndexView(rows, read_summaries(rows, tail.end), tail, self._cache)

    def forget(self) -> None:
        """Keep nothing in memory that was read from payloads or rows."""
        self._tails = ()
        self._cache = PostingsCache()

    def _build(
        self,
        rows: Reader,
        batch: Batch,
        tail: Tail,
        documents: Sequence[Document],
        count: int,
        swept: AbstractSet[int],
    ) -> None:
        """Write the segments of `count` ordinals that are not there, and drop those they replace.

        Documents of `swept`, all of which are in segments, are left out; their segments are written anew.
        """
        summaries = dict(read_summaries(rows, tail.end))
        leaves: dict[bytes, bytes | None] = {}
        for name in segments_of(count):
            if name in summaries and not any(name.start <= ordinal < name.end for ordinal in swept):
                continue
            parts = []
            for old in [old for old in summaries if name.start <= old.start < name.end]:
                stored = list(rows.scan_prefix(old.row_prefix))
                part = postings.decode(old, summaries[old], stored)
                gone = {ordinal - old.start for ordinal in swept if old.start <= ordinal < old.end}
                parts.append(columns.without(part, gone) if gone else part)
                for key, _ in stored:
                    batch.delete(key)
                batch.delete(old.summary_key)
                batch.delete(old.blocks_key)
                leaves[key_digest("index", old.key)] = None
            first = max(name.start, tail.start)
            if first < name.end:
                parts.append(columns.build(documents[first - tail.start : name.end - tail.start]))
            term_rows, summary, blocks = postings.encode(columns.merge(parts))
            prefix = name.row_prefix
            for term, value in term_rows:
                batch.put(prefix + term, value)
            raw = encode_summary(summary)
            batch.put(name.summary_key, raw)
            batch.put(name.blocks_key, blocks)
            key, value = segment_leaf(name.key, summary)
            leaves[key] = value
        self._tree.update(rows, batch, leaves)

    def tail(self, rows: Reader) -> Tail:
        """The tail as of `rows`; what proofs need of it is on the object."""
        head = rows.get(INDEX_HEAD)
        if head is None:
            return Tail(b"", 0, ())
        for tail in self._tails:
            if tail.head == head:
                return tail
        tail = self._load_tail(rows, head)
        self._keep(tail)
        return tail

    def _keep(self, tail: Tail) -> None:
        self._tails = (tail, *self._tails)[:_TAILS_KEPT]

    def _load_tail(self, rows: Reader, head: bytes) -> Tail:
        count = int.from_bytes(head[:4], "big")
        if len(head) != 36 or not count:
            raise CorruptionError(f"{describe(INDEX_HEAD)}: not a count and a hash")
        start = count - count % SEGMENT_DOCUMENTS
        keys = [document_key(ordinal) for ordinal in range(start, count)]
        documents = []
        for key, raw in zip(keys, rows.multi_get(keys), strict=True):
            if raw is None or len(raw) not in (0, 8):
                raise CorruptionError(f"{describe(key)}: {'missing' if raw is None else 'not 8 bytes'}")
            body = None if raw == _GONE else self._load_body(rows, int.from_bytes(raw, "big"))
            documents.append(document_of(body))
        return Tail(head, start, tuple(documents))


def _add(entry: Entry, start: int, documents: list[Document], batch: Batch) -> None:
    """Append the document of an event that gives an ordinal; the first of `documents` has ordinal `start`."""
    detail, ordinal = entry.header.detail, start + len(documents)
    if not isinstance(detail, AtomDetail) or detail.ordinal != ordinal:
        raise CorruptionError(f"event {entry.header.seq} does not give the next ordinal, {ordinal}")
    batch.put(document_key(ordinal), entry.header.seq.to_bytes(8, "big"))
    documents.append(document_of(atom_body(entry.body)))


def _erase(erased: Header, rows: Reader, start: int, documents: list[Document]) -> set[int]:
    """Take the documents that an event erased out of `documents`; returns those that are in segments."""
    swept = set()
    for ordinal in erased_ordinals(rows, erased):
        if start <= ordinal < start + len(documents):
            documents[ordinal - start] = NO_DOCUMENT
        elif ordinal < start and rows.get(document_key(ordinal)) != _GONE:
            swept.add(ordinal)
    return swept


def read_summaries(rows: Reader, count: int) -> list[tuple[SegmentName, Summary]]:
    """The segments in the rows, in order of their ordinals; they must be those of `count` ordinals."""
    found = {}
    for key, raw in rows.scan_prefix(INDEX_SUMMARIES):
        name = parse_summary_key(key)
        found[name] = decode_summary(name, raw)
    expected = segments_of(count)
    for name in expected:
        if name not in found:
            raise CorruptionError(f"{describe(name.summary_key)}: missing, with {count} ordinals recorded")
    if len(found) != len(expected):
        extra = min(set(found) - set(expected))
        raise CorruptionError(f"{describe(extra.summary_key)}: no segment of {count} ordinals")
    return [(name, found[name]) for name in expected]
