"""The follower `index`: an inverted index from terms to documents (SPEC: Index defines the rows).

The `index` tree has one leaf for each segment (SegmentName.key → summary row), one leaf for the tail and one
leaf for N, the number of ordinals. The tail is the documents after the last segment. It has no rows: its
documents are cached in memory, and built again from the journal if they are not in the cache.

When an atom is erased, its documents become `NO_DOCUMENT` and the segments that contain them are rewritten. A
segment therefore depends only on its ordinals and the remaining payloads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

from backends.base import Batch, Reader
from engine.base.errors import CorruptionError
from engine.followers.base import Follower
from engine.index.columns import NewDocument, atom_body
from engine.index.index_view import IndexView, Tail
from engine.index.postings import StoredPart, build_segment
from engine.index.postings_cache import PostingsCache
from engine.index.segments import (
    IndexKeys,
    SegmentName,
    decode_summary,
    describe,
    parse_summary_key,
    segments_of,
)
from engine.ledger.journal import decoded_entries, erased_ordinals, identity_for, read_body, read_identity
from engine.ledger.layout import (
    INDEX,
    INDEX_HEAD,
    INDEX_SUMMARIES,
    decode_header,
    document_key,
    journal_key,
    payload_key,
    tree_prefix,
)
from engine.ledger.paged_tree import PagedTree
from engine.ledger.pages import Digests
from engine.ledger.records import ORDINAL_KINDS
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, Header
from proofs.leaves import (
    SEGMENT_DOCUMENTS,
    TAIL_LEVEL,
    Summary,
    encode_summary,
    index_root,
    segment_key,
    segment_leaf,
)

LoadBodies = Callable[[Reader, int, Sequence[int]], Sequence[AtomBody | None]]
"""A function (rows, start, seqs) that returns the atom body of each event; None if the payload is destroyed.
`seqs` are the events that assigned the ordinals from `start` on."""

_DOCUMENT_KINDS = (*ORDINAL_KINDS, EventKind.ERASED)
BULK_DOCUMENTS: Final = 4096
"""The batches of bulk work end at multiples of this number of ordinals. When batches ended at other ordinals,
bulk adds spent 37 % of their time on segments that were soon merged (measured)."""

_DESTROYED: Final = b""
"""The value of a document row if the payload of its ordinal is destroyed. An ordinal with a payload has a
document row only while the ordinal is in the tail."""
_NO_DOCUMENT: Final = NewDocument(None)

_CACHED_TAILS_MAX = 2
"""The maximum number of cached tails. The newest tail and the previous tail are kept, because the batch that
belongs to the newest tail may never be written."""

# Without the cache, a proof from a memory of 3,000 atoms takes 1.13 of the time (`make falls`).
_index_root = lru_cache(maxsize=8)(index_root)


class IndexFollower(Follower):
    """Maintains the postings, and the `index` tree over the segments of the postings.

    The tail in memory is a cache that every call checks against `i/head`: it is rebuilt if another process
    has written rows, or if a batch of this follower was never written. `follow` must not run twice at the
    same time; the other methods may run concurrently with it. All methods raise CorruptionError if a row
    that they need is malformed or missing.
    """

    name = "index"
    version = 8
    prefixes = (INDEX, tree_prefix("index"))

    def __init__(self, load_bodies: LoadBodies | None = None) -> None:
        """Create the follower.

        The follower calls `load_bodies` (by default `read_bodies`) only for ordinals of the tail, and only if
        the tail is not in memory.
        """
        self._load_bodies = load_bodies or read_bodies
        self._tree = PagedTree("index")
        self._tails: tuple[Tail, ...] = ()
        self._summaries: tuple[bytes, list[tuple[SegmentName, Summary]]] | None = None
        self._cache = PostingsCache()
        self._keys: IndexKeys | None = None

    def keys(self, rows: Reader, entries: Sequence[Entry] = ()) -> IndexKeys:
        """Return the keys of the store, which event 0 states: the first of `entries`, or stored."""
        if self._keys is None:
            identity = identity_for(entries, rows) if entries else read_identity(rows)
            self._keys = IndexKeys(identity.label_key, identity.row_key)
        return self._keys

    def batch_size(self, entries: Sequence[Entry], rows: Reader, *, more: bool) -> int:
        """Return the number of entries up to the last entry that completes a segment of 4,096 ordinals.

        If no entry completes such a segment, return 0 if `more` is True, otherwise the number of all entries.
        This avoids building smaller segments that would soon be merged.
        """
        head = rows.get(INDEX_HEAD)
        count = 0 if head is None else int.from_bytes(head[:4], "big")
        size = 0
        for position, entry in enumerate(entries, 1):
            if entry.header.kind in ORDINAL_KINDS:
                count += 1
                if not count % BULK_DOCUMENTS:
                    size = position
        return size if size or more else len(entries)

    def follow(self, entries: Sequence[Entry], rows: Reader, batch: Batch) -> None:
        """Put the document rows of the tail into `batch`, and also the segments that are now complete.

        Raises:
            CorruptionError: a row is malformed or missing, or an entry does not assign the next ordinal.
        """
        changing = [entry for entry in entries if entry.header.kind in _DOCUMENT_KINDS]
        sizes = entries[0].header.seq, entries[-1].header.seq + 1
        keys = self.keys(rows, entries)
        if not changing:
            self._tree.advance(rows, batch, sizes, {}, {}, self._tree.sealed(rows, sizes[0]).other)
            return
        tail = self._sealed_tail(rows, sizes[0])
        documents = list(tail.documents)
        erased: set[int] = set()
        assigning: list[int] = []
        """The seqs of the entries that assign an ordinal. An erasure does so if the atom was not recorded."""
        for entry in changing:
            header = entry.header
            if header.kind is not EventKind.ERASED or _ordinal(header) == tail.start + len(documents):
                _append_document(entry, tail.start, documents)
                assigning.append(header.seq)
            if header.kind is EventKind.ERASED:
                erased |= _erase(header, rows, tail.start, documents)
        count = tail.start + len(documents)
        start = count - count % SEGMENT_DOCUMENTS
        _put_document_rows(batch, assigning, tail, documents, start)
        for ordinal in erased:
            batch.put(document_key(ordinal), _DESTROYED)
        changes: Digests = {}
        before: Digests = {}
        if erased or start != tail.start:
            changes, before = self._build(rows, batch, tail, documents, count, erased)
        head = count.to_bytes(4, "big") + changing[-1].leaf if count else b""
        self._tree.advance(rows, batch, sizes, changes, before, head)
        if not count:
            return
        batch.put(INDEX_HEAD, head)
        self._cache_tail(Tail(head, start, tuple(documents[max(start - tail.start, 0) :]), keys))

    def root(self, rows: Reader, size: int) -> bytes:
        """Return the root of the `index` tree after `size` events, with the leaves of the tail and of N.

        Raises:
            CorruptionError: the pages or the summaries do not have the root that the seal of the tree names.
        """
        tail, sealed = self._sealed_tail(rows, size), self._tree.sealed_root(rows, size)
        if not tail.end:
            return sealed
        segments = tuple((name.key, summary) for name, summary in self._stored_summaries(rows, tail))
        if _index_root(0, segments) != sealed:
            raise CorruptionError(
                "the summaries of the segments are not those in the tree",
                hint="run `engine rebuild`",
                family="index",
            )
        if tail.documents:
            segments += ((segment_key(TAIL_LEVEL, tail.start), tail.summary),)
        return _index_root(tail.end, segments)

    def _sealed_tail(self, rows: Reader, size: int) -> Tail:
        """Return the tail after `size` events. It must be the tail that the tree's seal identifies."""
        tail = self.tail(rows)
        if self._tree.sealed(rows, size).other != tail.head:
            raise CorruptionError(
                f"{describe(INDEX_HEAD)} is not the one that the seal of the tree names",
                hint="run `engine rebuild`",
                family="index",
            )
        return tail

    def view(self, rows: Reader) -> IndexView:
        """Return a view of the index for searching. The view is valid as long as `rows` does not change."""
        tail = self.tail(rows)
        return IndexView(rows, self._stored_summaries(rows, tail), tail, self._cache, self.keys(rows))

    def _stored_summaries(self, rows: Reader, tail: Tail) -> list[tuple[SegmentName, Summary]]:
        """Return the segments before the tail, with their summaries."""
        cached = self._summaries
        if cached is None or cached[0] != tail.head:
            cached = self._summaries = tail.head, read_summaries(rows, tail.end)
        return cached[1]

    def forget(self) -> None:
        """Clear all caches of data that was read from payloads or rows."""
        self._tails = ()
        self._summaries = None
        self._cache = PostingsCache()

    def _build(
        self,
        rows: Reader,
        batch: Batch,
        tail: Tail,
        documents: Sequence[NewDocument],
        count: int,
        erased: AbstractSet[int],
    ) -> tuple[dict[bytes, bytes | None], dict[bytes, bytes | None]]:
        """Write the missing segments of an index of `count` ordinals; delete the segments that they replace.

        `erased` is a set of ordinals in segments. The documents of these ordinals are removed, and the
        segments are rewritten.

        Return the changes of the tree's leaves, and the present value digest of each leaf that is replaced.
        """
        summaries = dict(read_summaries(rows, tail.end))
        leaves: dict[bytes, bytes | None] = {}
        before: dict[bytes, bytes | None] = {}
        for name in segments_of(count):
            if name in summaries and not any(name.start <= ordinal < name.end for ordinal in erased):
                continue
            parts = []
            for old in [old for old in summaries if name.start <= old.start < name.end]:
                stored = list(rows.scan_prefix(old.row_prefix))
                removed = sorted(ordinal - old.start for ordinal in erased if old.start <= ordinal < old.end)
                parts.append(StoredPart(old, summaries[old], stored, removed))
                batch.rows.update(dict.fromkeys([key for key, _ in stored]))
                batch.delete(old.summary_key)
                batch.delete(old.blocks_key)
                key, before[key] = segment_leaf(old.key, summaries[old])
                leaves[key] = None
            first = max(name.start, tail.start)
            added = documents[first - tail.start : max(name.end - tail.start, 0)]
            term_rows, summary, blocks = build_segment(name.key, parts, added, self.keys(rows))
            batch.rows.update(term_rows)
            raw = encode_summary(summary)
            batch.put(name.summary_key, raw)
            batch.put(name.blocks_key, blocks)
            key, value = segment_leaf(name.key, summary)
            leaves[key] = value
        return leaves, before

    def tail(self, rows: Reader) -> Tail:
        """Return the tail of the index in `rows`."""
        head = rows.get(INDEX_HEAD)
        if head is None:
            return Tail(b"", 0, (), self.keys(rows))
        for tail in self._tails:
            if tail.head == head:
                return tail
        tail = self._load_tail(rows, head)
        self._cache_tail(tail)
        return tail

    def _cache_tail(self, tail: Tail) -> None:
        self._tails = (tail, *self._tails)[:_CACHED_TAILS_MAX]

    def _load_tail(self, rows: Reader, head: bytes) -> Tail:
        count = int.from_bytes(head[:4], "big")
        if len(head) != 36 or not count:
            raise CorruptionError(f"{describe(INDEX_HEAD)} does not consist of a count and a hash")
        start = count - count % SEGMENT_DOCUMENTS
        keys = [document_key(ordinal) for ordinal in range(start, count)]
        seqs = []
        for key, raw in zip(keys, rows.multi_get(keys), strict=True):
            if raw is None or len(raw) != 8:
                problem = "is missing" if raw is None else "is not 8 bytes long"
                raise CorruptionError(f"{describe(key)} {problem}")
            seqs.append(int.from_bytes(raw, "big"))
        bodies = self._load_bodies(rows, start, seqs)
        documents = tuple(_NO_DOCUMENT if body is None else NewDocument(body) for body in bodies)
        return Tail(head, start, documents, self.keys(rows))


def read_bodies(rows: Reader, start: int, seqs: Sequence[int]) -> list[AtomBody | None]:
    """Return the atom body of each event in `seqs`, or None if the payload is destroyed.

    `seqs` must be the events that assigned the ordinals from `start` on.

    Raises:
        CorruptionError: a row is missing or does not have the bytes that were written, or an event did not
            assign its ordinal.
    """
    headers = rows.multi_get([journal_key(seq) for seq in seqs])
    payloads = rows.multi_get([payload_key(seq) for seq in seqs])
    decoded: Sequence[Entry | None] = [None] * len(seqs)
    present = [header for header in headers if header is not None]
    if seqs and len(present) == len(seqs) and list(seqs) == list(range(seqs[0], seqs[0] + len(seqs))):
        # Measured for 160 documents: 0.5 ms; one by one 4 ms.
        decoded = decoded_entries(present, payloads, seqs[0])
    bodies = []
    for ordinal, (seq, raw, payload, entry) in enumerate(
        zip(seqs, headers, payloads, decoded, strict=True), start
    ):
        if raw is None:
            raise CorruptionError(f"journal header {seq} is missing", family="journal", seq=seq)
        header = decode_header(raw, seq) if entry is None else entry.header
        if header.kind not in _DOCUMENT_KINDS or _ordinal(header) != ordinal:
            raise CorruptionError(
                f"{describe(document_key(ordinal))} names event {seq}, which did not assign this ordinal",
                hint="run `engine rebuild`",
                family="index",
            )
        bodies.append(atom_body(read_body(rows, header, payload) if entry is None else entry.body))
    return bodies


def _ordinal(header: Header) -> int | None:
    return header.detail.ordinal if isinstance(header.detail, AtomDetail) else None


def _append_document(entry: Entry, start: int, documents: list[NewDocument]) -> None:
    """Append the document of an event to `documents`, whose first element has the ordinal `start`."""
    ordinal = start + len(documents)
    if _ordinal(entry.header) != ordinal:
        raise CorruptionError(f"event {entry.header.seq} does not assign the next ordinal, {ordinal}")
    documents.append(NewDocument(atom_body(entry.body)))


def _put_document_rows(
    batch: Batch, seqs: Sequence[int], tail: Tail, documents: Sequence[NewDocument], start: int
) -> None:
    """Put the rows of destroyed documents, and the rows of the new tail, into the batch.

    `seqs` are the new entries that assign an ordinal; `tail` is the tail before them, and `documents` are
    the documents of this tail and of these entries.
    """
    for ordinal in range(tail.start, min(tail.end, start)):
        batch.delete(document_key(ordinal))
    for ordinal in range(max(tail.end, start), tail.start + len(documents)):
        batch.put(document_key(ordinal), seqs[ordinal - tail.end].to_bytes(8, "big"))
    for ordinal, document in enumerate(documents[: max(start - tail.start, 0)], tail.start):
        if document.body is None:
            batch.put(document_key(ordinal), _DESTROYED)


def _erase(erased: Header, rows: Reader, start: int, documents: list[NewDocument]) -> set[int]:
    """Destroy erased documents of the tail; return the erased ordinals that are in segments."""
    in_segments = set()
    for ordinal in erased_ordinals(rows, erased):
        if start <= ordinal < start + len(documents):
            documents[ordinal - start] = _NO_DOCUMENT
        elif ordinal < start and rows.get(document_key(ordinal)) != _DESTROYED:
            in_segments.add(ordinal)
    return in_segments


def read_summaries(rows: Reader, count: int) -> list[tuple[SegmentName, Summary]]:
    """Return the segments of `count` ordinals, sorted by ordinal, with their summaries.

    Raises:
        CorruptionError: a summary is missing, malformed, or belongs to no segment.
    """
    stored = {}
    for key, raw in rows.scan_prefix(INDEX_SUMMARIES):
        name = parse_summary_key(key)
        stored[name] = decode_summary(name, raw)
    expected = segments_of(count)
    for name in expected:
        if name not in stored:
            raise CorruptionError(
                f"{describe(name.summary_key)} is missing, but the index has {count} ordinals"
            )
    if len(stored) != len(expected):
        extra = min(set(stored) - set(expected))
        raise CorruptionError(
            f"{describe(extra.summary_key)} belongs to no segment of an index with {count} ordinals"
        )
    return [(name, stored[name]) for name in expected]
