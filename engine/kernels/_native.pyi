# The twin of each function describes what the function returns.
from collections.abc import Sequence

def leaf_hashes(leaves: Sequence[bytes], /) -> list[bytes]: ...
def is_postings(row: bytes, documents: int, /) -> bool: ...
def best_documents(
    terms: Sequence[tuple[float, Sequence[bytes | None], Sequence[bytes | None]]],
    head: float,
    tags: Sequence[tuple[float, bytes]],
    starts: Sequence[int],
    lengths: Sequence[bytes],
    norms: bytes,
    least_norms: Sequence[float],
    allowed: bytes,
    factors: Sequence[tuple[float, bytes]],
    limit: int,
    most: int,
    /,
) -> tuple[bytes, bytes] | None: ...
def gains_at(
    terms: Sequence[tuple[float, Sequence[bytes | None], Sequence[bytes | None]]],
    head: float,
    tags: Sequence[tuple[float, bytes]],
    starts: Sequence[int],
    lengths: Sequence[bytes],
    norms: bytes,
    ordinals: bytes,
    /,
) -> tuple[bytes, bytes] | None: ...
def best_nearby(
    scores: bytes, ordinals: bytes, hits: bytes, others: Sequence[tuple[float, bytes]], /
) -> bytes | None: ...
def best_in_groups(scores: bytes, sources: bytes, chosen: bytes, /) -> tuple[bytes, bytes] | None: ...
