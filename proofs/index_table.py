"""The `index` tree as a proof has it: whole (SPEC, section 20.5)."""

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


class Part(NamedTuple):
    """A segment of the index, or the tail, as the root of `index` has it."""

    start: int
    size: int
    """How many ordinals it covers."""
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
    places = [(segment.key, segment.start, segment.size) for segment in segments_of(count)]
    if tail := count % SEGMENT_DOCUMENTS:
        places.append((segment_key(TAIL_LEVEL, count - tail), count - tail, tail))
    leaves, parts = [], []
    for (key, start, size), fields in zip(places, given.summaries, strict=True):
        summary = Summary(*fields)
        if not fits(summary, size):
            raise ProofError("segments", f"no segment of {size} ordinals has the summary {fields[:3]}")
        leaves.append((key, summary))
        parts.append(Part(start, size, summary))
    if index_root(count, leaves) != root:
        raise ProofError("index", "the segments do not lead to the root of the index")
    return Index(count, parts)
