"""The `index` tree, which a proof includes as a whole (SPEC, section 20.5)."""

from __future__ import annotations

from typing import NamedTuple

from proofs.errors import ProofError
from proofs.file import Segments
from proofs.segments import (
    SEGMENT_DOCUMENTS,
    TAIL_LEVEL,
    Summary,
    fits,
    index_root,
    number_of_segments,
    segment_key,
    segments_of,
)


class IndexPart(NamedTuple):
    """A segment of the index, or the tail after the last segment, with the summary in the `index` tree."""

    start: int
    size: int
    """The number of ordinals that the segment or the tail covers."""
    summary: Summary


class Index(NamedTuple):
    """The index of a store without the rows: the number of ordinals and all segments."""

    ordinals: int
    """N, the number of ordinals, including dead ordinals."""
    parts: list[IndexPart]


def read_index(segments: Segments, root: bytes) -> Index:
    """Return the index that `segments` describes, after checking that `root` is the root of their tree.

    Raises:
        ProofError: the number of segments is wrong or a summary is impossible (`segments`), or the tree of
            the segments has a different root (`index`).
    """
    count = segments.ordinals
    if len(segments.summaries) != number_of_segments(count):
        raise ProofError(
            "segments", f"{len(segments.summaries)} is the wrong number of segments for {count} ordinals"
        )
    places = [(segment.key, segment.start, segment.size) for segment in segments_of(count)]
    if tail := count % SEGMENT_DOCUMENTS:
        places.append((segment_key(TAIL_LEVEL, count - tail), count - tail, tail))
    leaves, parts = [], []
    for (key, start, size), fields in zip(places, segments.summaries, strict=True):
        summary = Summary(*fields)
        if not fits(summary, size):
            raise ProofError("segments", f"a segment of {size} ordinals cannot have the summary {fields[:3]}")
        leaves.append((key, summary))
        parts.append(IndexPart(start, size, summary))
    if index_root(count, leaves) != root:
        raise ProofError("index", "the segments do not hash to the root of the index")
    return Index(count, parts)
