"""The row of facts of a segment: four numbers for each document, side by side (SPEC: Index).

    value = u32be ordinals ‖ u8 0 ‖ ordinals × u64le source ‖ sequences ‖ titles ‖ fingerprints, likewise

Neighbours, titles that a text mentions and near-duplicates are found by these, without reading a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.base.errors import CorruptionError
from engine.base.limits import INTEGER_MAX
from engine.followers.segments import HEAD_BYTES, columns_head, describe

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FACT_BYTES: Final = 32
"""For each document."""


class Facts(NamedTuple):
    """What is known of each document; arrays of equal length, 0 where there is nothing to know."""

    sources: NDArray[np.uint64]
    """`proofs.hashing.source_number` of the source: equal for documents of one source."""
    sequences: NDArray[np.uint64]
    """One more than the sequence."""
    titles: NDArray[np.uint64]
    """`engine.followers.documents.title_hash` of the title."""
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
