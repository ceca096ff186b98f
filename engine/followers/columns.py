"""Documents, as the index is told of them, and the content of a segment as columns of numbers (SPEC: Index).

Neighbours, titles that a text mentions and near-duplicates are found by the columns of facts, without reading
a body. numpy is imported on first use only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.base.errors import CorruptionError
from engine.base.limits import INTEGER_MAX
from engine.followers.segments import HEAD, HEAD_BYTES, columns_head, describe
from engine.text.analyzer import index_terms
from engine.text.labels import label_of
from engine.text.simhash import combine, phrase_hash, term_hash
from engine.text.words import STOP_WORDS
from proofs.events import AtomBody, Body
from proofs.hashing import source_number
from proofs.segments import LENGTH_MAX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


HEAD_MARK: Final = HEAD.decode()


class Document(NamedTuple):
    """A document as the index sees it."""

    terms: Sequence[str]
    """Those of its text in order, then those of its head, each with HEAD_MARK before it."""
    source: int
    sequence: int
    title: int
    """These three as in `engine.followers.columns.Facts`."""


NO_DOCUMENT: Final = Document((), 0, 0, 0)
"""Where the payload is destroyed: this object and no equal one, which a text without terms may have."""


def atom_body(body: Body | None) -> AtomBody | None:
    """The atom in an event's body; None when there is none."""
    return body if isinstance(body, AtomBody) else None


def document_of(body: AtomBody | None) -> Document:
    """The document of an atom: the text is the title, if there is one, a newline, and the content."""
    if body is None:
        return NO_DOCUMENT
    terms = index_terms(body.content)
    if body.title is None:
        label = label_of(body.content)
        head = index_terms(label) if label else []
    else:
        # Nothing reaches over the newline: the terms of both together are those of each.
        head = index_terms(body.title)
        terms = head + terms
    terms += [HEAD_MARK + term for term in head]
    source = 0 if body.source is None else _source_number(body.source)
    sequence = 0 if body.sequence is None else body.sequence + 1
    return Document(terms, source, sequence, title_hash(body.title))


def title_hash(title: str | None) -> int:
    """What a title is found by in texts that mention it: the hash of its terms, 64 bits.

    A parenthesis at its end, from the last ` (` to a final `)`, says which of several is meant, and
    does not count. 0 without a title, or where only stop words are left.
    """
    if title is None:
        return 0
    if title.endswith(")"):
        named, _, _ = title.rpartition(" (")
        title = named or title
    terms = index_terms(title)
    return 0 if STOP_WORDS.issuperset(terms) else phrase_hash(terms)


@lru_cache(1024)
def _source_number(source: str) -> int:
    return source_number(source.encode())


FACT_BYTES: Final = 32
"""For each document."""


class Facts(NamedTuple):
    """What is known of each document; arrays of equal length, 0 where there is nothing to know."""

    sources: NDArray[np.uint64]
    """`proofs.hashing.source_number` of the source: equal for documents of one source."""
    sequences: NDArray[np.uint64]
    """One more than the sequence."""
    titles: NDArray[np.uint64]
    """`engine.followers.columns.title_hash` of the title."""
    fingerprints: NDArray[np.uint64]
    """`engine.text.simhash.fingerprint` of all terms of the text."""


def join(parts: Sequence[Facts]) -> Facts:
    """The facts of neighbouring ranges as those of the one range they make up, read-only."""
    import numpy as np

    nothing = np.zeros(0, np.uint64)
    columns = [np.concatenate([nothing, *column]) for column in zip(*parts, strict=True)] or [nothing] * 4
    for column in columns:
        column.flags.writeable = False
    return Facts(*columns)


def encode_facts(facts: Facts) -> bytes:
    """The value of the row."""
    columns = b"".join(column.astype("<u8").tobytes() for column in facts)
    return columns_head(len(facts.sources)) + columns


def decode_facts(key: bytes, value: bytes | None, documents: int) -> Facts:
    """The facts of `documents` documents, read-only.

    Raises:
        CorruptionError: the row is missing or malformed.
    """
    import numpy as np

    if value is None:
        raise CorruptionError(f"{describe(key)}: missing")
    fits = len(value) == HEAD_BYTES + FACT_BYTES * documents
    if not fits or value[:HEAD_BYTES] != columns_head(documents):
        raise CorruptionError(f"{describe(key)}: not the facts of {documents} documents")
    columns = np.frombuffer(value, "<u8", 4 * documents, HEAD_BYTES).astype(np.uint64, copy=False)
    facts = Facts(*columns.reshape(4, documents))
    if (facts.sequences > INTEGER_MAX + 1).any():
        raise CorruptionError(f"{describe(key)}: a sequence over {INTEGER_MAX}")
    return facts


TF_MAX: Final = 0xFF

FIRST_OF_TEXT: Final = bytes([HEAD[0] + 1])
"""Terms of heads, with HEAD, are before this; those of texts are not."""


class Columns(NamedTuple):
    """The content of a segment, all rows one after the other."""

    terms: list[bytes]
    """Ascending: those of heads with HEAD before them, then those of texts."""
    dfs: NDArray[np.int64]
    """Postings of each term."""
    offsets: NDArray[np.uint16]
    """Of all postings, term by term; ascending within a term."""
    tfs: NDArray[np.uint8]
    lengths: NDArray[np.uint16]
    """Of each document."""
    facts: Facts
    documents: int
    """How many of them have a payload that is not erased."""


def build(documents: Sequence[Document]) -> Columns:
    """The columns of at most LARGEST documents."""
    import numpy as np

    # Sorting one number for each (term, document) was measured at 4 µs a document of 40 words; a dict
    # of lists, the plain way, at 7 and without the encoding.
    flat = list(chain.from_iterable(document.terms for document in documents))
    vocabulary = sorted(set(flat))
    numbers = {term: number for number, term in enumerate(vocabulary)}
    ids = np.fromiter(map(numbers.__getitem__, flat), np.int64, len(flat))
    sizes = np.fromiter((len(document.terms) for document in documents), np.int64, len(documents))
    owners = np.repeat(np.arange(len(documents), dtype=np.int64), sizes)
    pairs, tfs = np.unique(ids << 16 | owners, return_counts=True)
    heads = bisect_left(vocabulary, FIRST_OF_TEXT.decode())
    counted = np.fromiter((term not in STOP_WORDS for term in vocabulary), np.bool_, len(vocabulary))
    counted[:heads] = False
    lengths = np.bincount(owners[counted[ids]], minlength=len(documents))
    return Columns(
        [term.encode() for term in vocabulary],
        np.bincount(pairs >> 16, minlength=len(vocabulary)),
        (pairs & 0xFFFF).astype("<u2"),
        np.minimum(tfs, TF_MAX).astype("u1"),
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
    """The fingerprints of the texts; the first `heads` of the vocabulary are not of texts."""
    import numpy as np

    hashes = np.zeros(len(vocabulary), np.uint64)
    hashes[heads:] = np.fromiter(map(term_hash, vocabulary[heads:]), np.uint64, len(vocabulary) - heads)
    said = ids >= heads
    distinct = pairs[np.searchsorted(pairs, heads << 16) :] & 0xFFFF
    return combine(
        hashes[ids[said]],
        np.bincount(owners[said], minlength=documents),
        np.bincount(distinct, minlength=documents),
    )


def without(columns: Columns, offsets: Collection[int]) -> Columns:
    """The columns as they would be if these documents, which are not, had been `NO_DOCUMENT`."""
    import numpy as np

    gone = np.array(sorted(offsets), np.int64)
    kept = ~np.isin(columns.offsets, gone)
    owners = np.repeat(np.arange(len(columns.terms), dtype=np.int64), columns.dfs)
    dfs = np.bincount(owners[kept], minlength=len(columns.terms))
    lengths, facts = columns.lengths.copy(), Facts(*(column.copy() for column in columns.facts))
    lengths[gone] = 0
    for column in facts:
        column[gone] = 0
    return Columns(
        [term for term, df in zip(columns.terms, dfs.tolist(), strict=True) if df],
        dfs[dfs > 0],
        columns.offsets[kept],
        columns.tfs[kept],
        lengths,
        facts,
        columns.documents - len(gone),
    )


def merge(parts: Sequence[Columns]) -> Columns:
    """The columns of neighbouring ranges as those of the one range they make up; no text is needed."""
    import numpy as np

    if len(parts) == 1:
        return parts[0]
    vocabulary = sorted(set(chain.from_iterable(part.terms for part in parts)))
    numbers = {term: number for number, term in enumerate(vocabulary)}
    ids, offsets, before = [], [], 0
    for part in parts:
        own = np.fromiter(map(numbers.__getitem__, part.terms), np.int32, len(part.terms))
        ids.append(np.repeat(own, part.dfs))
        offsets.append(part.offsets.astype(np.int32) + before)
        before += len(part.lengths)
    terms_of = np.concatenate(ids)
    # Within a term the parts are in ascending order already, and a stable sort keeps that.
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
