"""The `index` tree as a proof has it: whole (SPEC: Proofs, Segments)."""

from __future__ import annotations

from typing import Final, NamedTuple

from proofs.errors import ProofError
from proofs.file import Segments
from proofs.segments import (
    LENGTH_MAX,
    SEGMENT_DOCUMENTS,
    TAIL_LEVEL,
    Summary,
    index_root,
    number_of_segments,
    segment_key,
    segments_of,
)

ROWS_MIN: Final = 2
"""The lengths and the facts; a segment has them even where no document has a term."""


class Part(NamedTuple):
    """A segment of the index, or the tail, as the root of `index` has it."""

    start: int
    summary: Summary


class Index(NamedTuple):
    """All of the index but its rows."""

    ordinals: int
    """N: how many ordinals there are, dead ones too."""
    parts: list[Part]


def read_index(given: Segments, root: bytes) -> Index:
    """The segments of an index, which must be all there is under `root`.

    Raises:
        ProofError: not as many as its ordinals make (`segments`), or of another root (`index`).
    """
    count = given.ordinals
    if len(given.summaries) != number_of_segments(count):
        raise ProofError("segments", f"{len(given.summaries)} are not the segments of {count} ordinals")
    places = [(segment.key, segment.start, segment.documents) for segment in segments_of(count)]
    if tail := count % SEGMENT_DOCUMENTS:
        places.append((segment_key(TAIL_LEVEL, count - tail), count - tail, tail))
    leaves, parts = [], []
    for (key, start, documents), (total, rows, rows_root) in zip(places, given.summaries, strict=True):
        if total > documents * LENGTH_MAX or rows < ROWS_MIN:
            raise ProofError(
                "segments", f"no segment of {documents} documents has length {total}, {rows} rows"
            )
        summary = Summary(documents, total, rows, rows_root)
        leaves.append((key, summary))
        parts.append(Part(start, summary))
    if index_root(leaves) != root:
        raise ProofError("index", "the segments do not lead to the root of the index")
    return Index(count, parts)
