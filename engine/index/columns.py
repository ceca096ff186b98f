"""The documents of the index, and the content of a segment as columns of numbers (SPEC: Index).

With the columns of facts, a query can find neighbours, near-duplicates and mentioned titles without reading
payloads. numpy is imported on first use only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.base.errors import CorruptionError
from engine.base.limits import INTEGER_MAX
from engine.base.native import NATIVE
from engine.index.document_numbers import decode_numbers, encode_numbers
from engine.index.segments import HEAD, IndexKeys, columns_head, describe
from engine.text.analyzer import KERNEL_TERMS, STOP_WORDS, index_terms
from engine.text.simhash import combine, term_hash, title_hash
from engine.text.speaker_labels import label_of
from proofs.events import AtomBody, Body
from proofs.hashing import source_number
from proofs.leaves import LENGTH_MAX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


HEAD_MARK: Final = HEAD.decode()


class IndexedDocument(NamedTuple):
    """The data of one ordinal (a version of an atom's text) from which the index is built."""

    terms: Sequence[str]
    """The terms of the text in order, then the terms of its head (the title or speaker label), each prefixed
    with HEAD_MARK."""
    source: int
    """The number of the atom's source, as in `Facts.sources`."""
    sequence: int
    """The number of the position in the source, as in `Facts.sequences`."""
    title: int
    """The hash of the title, as in `Facts.titles`."""


NO_DOCUMENT: Final = IndexedDocument((), 0, 0, 0)
"""The document of an ordinal whose payload is destroyed. Compare with `is`, not `==`, because the
document of a text without terms may be equal to it."""


class NewDocument:
    """The document of an ordinal that is in no segment yet. It is analysed at most once, on first use."""

    __slots__ = ("_analysed", "body")

    def __init__(self, body: AtomBody | None) -> None:
        """Keep the body of the atom, or None if the payload is destroyed."""
        self.body = body
        self._analysed: IndexedDocument | None = None

    @property
    def analysed(self) -> IndexedDocument:
        """The data from which the index is built; `NO_DOCUMENT` if the payload is destroyed."""
        if self._analysed is None:
            self._analysed = document_of(self.body)
        return self._analysed

    @property
    def kernel_item(self) -> tuple[object, ...] | None:
        """The argument of the kernels for this document.

        The argument contains the text, or the result of the Python analysis if the kernels decline this text.
        """
        body = self.body
        if body is None:
            return None
        content, title = body.content, body.title
        if _is_simple(content) and (title is None or _is_simple(title)):
            return content, title, body.source, body.sequence
        return tuple(self.analysed)


def _is_simple(text: str) -> bool:
    """Return whether the kernels analyse `text` themselves."""
    return text.isascii() or (NATIVE is not None and bool(NATIVE.is_simple_text(text)))


def atom_body(body: Body | None) -> AtomBody | None:
    """Return `body` if it is the body of an atom; otherwise return None."""
    return body if isinstance(body, AtomBody) else None


def document_of(body: AtomBody | None) -> IndexedDocument:
    """Return the document of an atom. Its text is the title (if any), a newline and the content."""
    if body is None:
        return NO_DOCUMENT
    terms = index_terms(body.content)
    if body.title is None:
        label = label_of(body.content)
        head = index_terms(label) if label else []
    else:
        # No term spans the newline, so the terms of the text are those of the title and of the content.
        head = index_terms(body.title)
        terms = head + terms
    terms += [HEAD_MARK + term for term in head]
    source = 0 if body.source is None else _source_number(body.source)
    sequence = 0 if body.sequence is None else body.sequence + 1
    return IndexedDocument(terms, source, sequence, title_hash(body.title))


@lru_cache(1024)
def _source_number(source: str) -> int:
    return source_number(source.encode())


class Facts(NamedTuple):
    """Four numbers for each document, in four arrays of equal length. The number 0 stands for no value."""

    sources: NDArray[np.uint64]
    """The `proofs.hashing.source_number` of each document's source, equal for all documents of one source."""
    sequences: NDArray[np.uint64]
    """The sequence of each document (its position in the source), plus 1."""
    titles: NDArray[np.uint64]
    """The `title_hash` of each document's title."""
    fingerprints: NDArray[np.uint64]
    """The `engine.text.simhash.fingerprint` of each document, computed from all terms of its text."""


def join(parts: Sequence[Facts]) -> Facts:
    """Join the facts of adjacent ranges of documents into the read-only facts of the whole range."""
    import numpy as np

    empty = np.zeros(0, np.uint64)
    columns = [np.concatenate([empty, *column]) for column in zip(*parts, strict=True)] or [empty] * 4
    for column in columns:
        column.flags.writeable = False
    return Facts(*columns)


def facts_row(facts: Facts) -> bytes:
    """Return the row of facts in the form that is hashed."""
    columns = b"".join(column.astype("<u8").tobytes() for column in facts)
    return columns_head(len(facts.sources)) + columns


def lengths_row(lengths: NDArray[np.uint16]) -> bytes:
    """Return the row of lengths in the form that is hashed."""
    return columns_head(len(lengths)) + lengths.astype("<u2").tobytes()


def encode_facts(facts: Facts) -> bytes:
    """Return the stored form of the row of facts."""
    return b"".join(map(encode_numbers, facts))


def decode_facts(key: bytes, value: bytes | None, documents: int) -> Facts:
    """Decode the stored facts of `documents` documents. The arrays are read-only.

    Raises:
        CorruptionError: the row is missing or malformed.
    """
    columns = _decode_columns(key, value, documents, len(Facts._fields), "facts")
    facts = Facts(*columns)
    if (facts.sequences > INTEGER_MAX + 1).any():
        raise CorruptionError(f"{describe(key)} has a sequence number above {INTEGER_MAX}")
    return facts


def decode_lengths(key: bytes, value: bytes | None, documents: int) -> NDArray[np.uint16]:
    """Decode the stored lengths of `documents` documents.

    Raises:
        CorruptionError: the row is missing or malformed.
    """
    (lengths,) = _decode_columns(key, value, documents, 1, "lengths")
    if int(lengths.max()) > LENGTH_MAX:
        raise CorruptionError(f"{describe(key)} has a length above {LENGTH_MAX}")
    return lengths.astype("<u2")


def _decode_columns(
    key: bytes, value: bytes | None, documents: int, count: int, kind: str
) -> list[NDArray[np.uint64]]:
    if value is None:
        raise CorruptionError(f"{describe(key)} is missing")
    columns, at = [], 0
    for _ in range(count):
        decoded = decode_numbers(value[at:], documents)
        if decoded is None:
            break
        decoded[0].flags.writeable = False
        columns.append(decoded[0])
        at += decoded[1]
    if len(columns) != count or at != len(value):
        raise CorruptionError(f"{describe(key)} does not have the {kind} of {documents} documents")
    return columns


TF_MAX: Final = 0xFF

_FIRST_OF_TEXT: Final = chr(HEAD[0] + 1)
"""The bound between two groups of terms. The terms of heads, which begin with HEAD, sort before this bound;
the terms of texts sort after it."""


class Columns(NamedTuple):
    """The content of a segment as columns: arrays with one item for each term, posting or document."""

    terms: list[bytes]
    """The names of the rows of the terms (`IndexKeys.names`), ascending. Terms of heads begin with HEAD."""
    dfs: NDArray[np.int64]
    """The number of postings of each term."""
    offsets: NDArray[np.uint16]
    """The offsets of the documents of all postings, term by term. They are ascending within each term."""
    tfs: NDArray[np.uint8]
    """The term frequencies of all postings, in the order of `offsets`."""
    lengths: NDArray[np.uint16]
    """The length of each document."""
    facts: Facts
    documents: int
    """The number of documents whose payload is not erased."""


def columns_of(documents: Sequence[NewDocument], keys: IndexKeys) -> Columns:
    """Return the columns of a sequence of at most `proofs.leaves.LARGEST` documents."""
    if NATIVE is not None:
        items = [document.kernel_item for document in documents]
        built = NATIVE.build_columns(KERNEL_TERMS, keys.labels, items)
        if built is not None:
            return _from_kernel(len(documents), *built)
    return build([document.analysed for document in documents], keys)


def _from_kernel(
    size: int,
    terms: list[bytes],
    dfs: bytes,
    offsets: bytes,
    tfs: bytes,
    lengths: bytes,
    facts: bytes,
    documents: int,
) -> Columns:
    import numpy as np

    columns = np.frombuffer(facts, "<u8").astype(np.uint64, copy=False).reshape(4, size)
    return Columns(
        terms,
        np.frombuffer(dfs, "<i8").astype(np.int64, copy=False),
        np.frombuffer(offsets, "<u2"),
        np.frombuffer(tfs, "u1"),
        np.frombuffer(lengths, "<u2"),
        Facts(*columns),
        documents,
    )


def build(documents: Sequence[IndexedDocument], keys: IndexKeys) -> Columns:
    """Return the columns of a sequence of at most `proofs.leaves.LARGEST` documents."""
    import numpy as np

    # Sorting one number for each (term, document) takes 4 µs for a document of 40 words; a dict of lists,
    # the simple alternative, takes 7 µs without the encoding (measured).
    flat = list(chain.from_iterable(document.terms for document in documents))
    vocabulary = sorted(set(flat))
    numbers = {term: number for number, term in enumerate(vocabulary)}
    ids = np.fromiter(map(numbers.__getitem__, flat), np.int64, len(flat))
    sizes = np.fromiter((len(document.terms) for document in documents), np.int64, len(documents))
    owners = np.repeat(np.arange(len(documents), dtype=np.int64), sizes)
    pairs, tfs = np.unique(ids << 16 | owners, return_counts=True)
    heads = bisect_left(vocabulary, _FIRST_OF_TEXT)
    counted = np.fromiter((term not in STOP_WORDS for term in vocabulary), np.bool_, len(vocabulary))
    counted[:heads] = False
    lengths = np.bincount(owners[counted[ids]], minlength=len(documents))
    names = keys.names([term.encode() for term in vocabulary])
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    places = np.empty(len(names), np.int64)
    places[by_name] = np.arange(len(names))
    order = np.argsort(places[pairs >> 16], kind="stable")
    return Columns(
        sorted(names),
        np.bincount(pairs >> 16, minlength=len(vocabulary))[by_name],
        (pairs & 0xFFFF).astype("<u2")[order],
        np.minimum(tfs, TF_MAX).astype("u1")[order],
        np.minimum(lengths, LENGTH_MAX).astype("<u2"),
        Facts(
            np.fromiter((document.source for document in documents), np.uint64, len(documents)),
            np.fromiter((document.sequence for document in documents), np.uint64, len(documents)),
            np.fromiter((document.title for document in documents), np.uint64, len(documents)),
            _fingerprints(vocabulary, heads, ids, owners, pairs, len(documents)),
        ),
        sum(document is not NO_DOCUMENT for document in documents),
    )


def _fingerprints(
    vocabulary: list[str],
    heads: int,
    ids: NDArray[np.int64],
    owners: NDArray[np.int64],
    pairs: NDArray[np.int64],
    documents: int,
) -> NDArray[np.uint64]:
    """Return the fingerprints of the texts.

    In `vocabulary`, the first `heads` terms come from titles, and the others from texts.
    """
    import numpy as np

    hashes = np.zeros(len(vocabulary), np.uint64)
    hashes[heads:] = np.fromiter(map(term_hash, vocabulary[heads:]), np.uint64, len(vocabulary) - heads)
    in_text = ids >= heads
    distinct = pairs[np.searchsorted(pairs, heads << 16) :] & 0xFFFF
    return combine(
        hashes[ids[in_text]],
        np.bincount(owners[in_text], minlength=documents),
        np.bincount(distinct, minlength=documents),
    )


def remove(columns: Columns, offsets: Collection[int]) -> Columns:
    """Return the columns with `NO_DOCUMENT` in place of the documents at `offsets`.

    The documents at `offsets` must not already be `NO_DOCUMENT`.
    """
    import numpy as np

    removed = np.array(sorted(offsets), np.int64)
    remaining = ~np.isin(columns.offsets, removed)
    owners = np.repeat(np.arange(len(columns.terms), dtype=np.int64), columns.dfs)
    dfs = np.bincount(owners[remaining], minlength=len(columns.terms))
    lengths, facts = columns.lengths.copy(), Facts(*(column.copy() for column in columns.facts))
    lengths[removed] = 0
    for column in facts:
        column[removed] = 0
    return Columns(
        [term for term, df in zip(columns.terms, dfs.tolist(), strict=True) if df],
        dfs[dfs > 0],
        columns.offsets[remaining],
        columns.tfs[remaining],
        lengths,
        facts,
        columns.documents - len(removed),
    )


def merge(parts: Sequence[Columns]) -> Columns:
    """Merge the columns of adjacent ranges of documents into the columns of the whole range.

    No text is read.
    """
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    vocabulary = sorted(set(chain.from_iterable(part.terms for part in parts)))
    numbers = {term: number for number, term in enumerate(vocabulary)}
    ids, offsets, before = [], [], 0
    for part in parts:
        numbering = np.fromiter(map(numbers.__getitem__, part.terms), np.int32, len(part.terms))
        ids.append(np.repeat(numbering, part.dfs))
        offsets.append(part.offsets.astype(np.int32) + before)
        before += len(part.lengths)
    terms_of = np.concatenate(ids)
    # Within a term the parts are already in ascending order, and a stable sort preserves this order.
    order = np.argsort(terms_of, kind="stable")
    return Columns(
        vocabulary,
        np.bincount(terms_of, minlength=len(vocabulary)),
        np.concatenate(offsets)[order].astype("<u2"),
        np.concatenate([part.tfs for part in parts])[order],
        np.concatenate([part.lengths for part in parts]),
        join([part.facts for part in parts]),
        sum(part.documents for part in parts),
    )
