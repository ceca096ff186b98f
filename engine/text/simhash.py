"""Fingerprints that are nearly equal for nearly equal texts (Charikar 2002; SPEC: Index).

Every term of a text and every pair of neighbours votes on each bit of the fingerprint. Stop words vote, too,
because `not` must count, and pairs, because order must. A text of n terms has 2n − 1 votes, so no vote is a
tie. All of it is stored and hashed: nothing here may ever give another number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING, Final

from proofs.hashing import term_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MULTIPLIER: Final = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio; odd, so that no bit of a phrase's first terms is lost."""

DISTINCT_MIN: Final = 4
"""A text with fewer different terms has no fingerprint, 0, and is near to none.

Measured on the 16,344 different texts of LoCoMo, HotpotQA and a garden of notes: of the 578 with fewer,
7 pairs would be near, none of them duplicates (`doing daily`, `doing work`); of the 5,198 with 4 to 19
different terms no pair is near; of the others 17, of which 14 are duplicates.
"""

NEAR_BITS: Final = 3
"""Near-duplicates have fingerprints that differ in fewer bits than this (Standard 065)."""

CACHED_TERMS_MAX: Final = 1 << 15

_BITS: Final = 64
_MASK: Final = (1 << _BITS) - 1
_LANES: Final = 0x0101010101010101
_BLOCK: Final = 127
"""So many terms, with a pair each, can be counted in a lane of 8 bits."""
_CHUNK: Final = 1 << 15
"""So many terms at a time stay in the processor's cache."""
_BANDS: Final = (0, 21, 42, 64)
_RUN_MAX: Final = 1024
"""From here on midpoints are faster than comparing all that share a band."""

# Term → its hash; most terms of a text have been seen before. Entries are pure, so no lock is needed.
_CACHE: Final[dict[str, int]] = {}


def term_hash(term: str) -> int:
    """The hash of a term, 64 bits."""
    found = _CACHE.get(term)
    if found is None:
        found = term_number(term.encode())
        if len(_CACHE) >= CACHED_TERMS_MAX:
            _CACHE.clear()
        _CACHE[term] = found
    return found


def phrase_hash(terms: Iterable[str]) -> int:
    """The hash of terms in their order, 64 bits; 0 for no terms, and for nothing else."""
    hashes = [term_hash(term) for term in terms]
    return (reduce(_joined, hashes) or 1) if hashes else 0


def _joined(before: int, last: int) -> int:
    return (before * MULTIPLIER + last) & _MASK


def fingerprint(terms: Sequence[str]) -> int:
    """The fingerprint of a text, 64 bits, from all its terms in order.

    0 if fewer than DISTINCT_MIN of them are different, and for nothing else: an outcome of 0 counts as 1.
    """
    if len(set(terms)) < DISTINCT_MIN:
        return 0
    hashes = [term_hash(term) for term in terms]
    votes = [*hashes, *(_joined(*pair) for pair in pairwise(hashes))]
    elected = (bit for bit in range(_BITS) if 2 * sum(vote >> bit & 1 for vote in votes) > len(votes))
    return sum(1 << bit for bit in elected) or 1


def combine(
    hashes: NDArray[np.uint64], sizes: NDArray[np.int64], distinct: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The fingerprints of texts from the hashes of their terms.

    Args:
        hashes: Of all terms, text after text, each in its order.
        sizes: How many terms each text has; their sum is the length of `hashes`.
        distinct: How many of them are different.
    """
    import numpy as np

    found = np.zeros(len(sizes), np.uint64)
    compared = distinct >= DISTINCT_MIN
    hashes, sizes = hashes[np.repeat(compared, sizes)], sizes[compared]
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _CHUNK)) + 1
    elected = [np.zeros(0, np.uint64)]
    start = 0
    for some in np.split(sizes, cuts) if len(sizes) else ():
        end = start + int(some.sum())
        elected.append(_elect(hashes[start:end], some))
        start = end
    found[compared] = np.maximum(np.concatenate(elected), np.uint64(1))
    return found


def _elect(hashes: NDArray[np.uint64], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The bits with a majority in each of some texts, none of them empty.

    One bit of each byte is counted at a time, in a byte of its own, so that an addition counts eight:
    measured 1.2 µs for a text of 40 words.
    """
    import numpy as np

    starts = np.cumsum(sizes) - sizes
    pairs = np.zeros_like(hashes)
    pairs[1:] = hashes[:-1] * np.uint64(MULTIPLIER) + hashes[1:]
    pairs[starts] = 0
    # Blocks are short enough that no lane overflows; most texts are one.
    blocks = (sizes + (_BLOCK - 1)) // _BLOCK
    firsts = np.cumsum(blocks) - blocks
    inner = np.arange(int(blocks.sum())) - np.repeat(firsts, blocks)
    begins = np.repeat(starts, blocks) + _BLOCK * inner
    lanes = np.uint64(_LANES)
    found = np.zeros((len(sizes), _BITS // 8), np.uint8)
    for bit in range(8):
        shift = np.uint64(bit)
        counts = np.add.reduceat((hashes >> shift & lanes) + (pairs >> shift & lanes), begins)
        ayes = np.add.reduceat(counts.astype("<u8").view(np.uint8).reshape(-1, 8), firsts, dtype=np.int64)
        # More than half of 2n − 1 votes are n or more.
        found |= (ayes >= sizes[:, np.newaxis]).astype(np.uint8) << np.uint8(bit)
    return found.view("<u8").astype(np.uint64).ravel()


def distance(a: int, b: int) -> int:
    """In how many bits two fingerprints differ."""
    return (a ^ b).bit_count()


def near(a: int, b: int) -> bool:
    """Whether two fingerprints are those of near-duplicates; never where a text has none."""
    return bool(a and b) and distance(a, b) < NEAR_BITS


def near_pairs(fingerprints: NDArray[np.uint64]) -> list[tuple[int, int]]:
    """The positions of all pairs that are near, each (lower, higher), ascending.

    Fingerprints that differ in two bits at most are equal in one of three bands of bits, so those that
    share a band are compared: measured 0.1 s for 100,000 at random, 1 s where all share a band.
    """
    import numpy as np

    order = np.argsort(fingerprints, kind="stable")
    ordered = fingerprints[order]
    # Those without a fingerprint, 0, stand before the first place at which the number changes.
    firsts = np.flatnonzero(np.diff(ordered, prepend=np.uint64(0)))
    bounds = pairwise([*firsts.tolist(), len(order)])
    equals = [order[first:end].tolist() for first, end in bounds]
    found = [pair for positions in equals for pair in combinations(positions, 2)]
    for one, other in _near_values(ordered[firsts]):
        found += [(min(pair), max(pair)) for pair in product(equals[one], equals[other])]
    return sorted(found)


def _near_values(values: NDArray[np.uint64]) -> set[tuple[int, int]]:
    """The places of all pairs that are near, among values that are all different."""
    import numpy as np

    found: set[tuple[int, int]] = set()
    for first, end in pairwise(_BANDS):
        band = np.uint64((1 << end) - (1 << first))
        places = np.argsort(values & band, kind="stable")
        keys = values[places] & band
        _, begins, sizes = np.unique(keys, return_index=True, return_counts=True)
        crowded = sizes > _RUN_MAX
        kept = np.repeat(~crowded, sizes)
        for one, other in _equals(keys[kept], places[kept]):
            differing = values[one] ^ values[other]
            for _ in range(NEAR_BITS - 1):
                differing &= differing - np.uint64(1)
            near = differing == 0
            found.update(_pairs(one[near], other[near]))
        flips = [0, *(1 << bit for bit in range(_BITS) if not first <= bit < end)]
        for begin, size in zip(begins[crowded].tolist(), sizes[crowded].tolist(), strict=True):
            found |= _around_midpoints(values, places[begin : begin + size], flips)
    return found


def _around_midpoints(
    values: NDArray[np.uint64], places: NDArray[np.int64], flips: list[int]
) -> set[tuple[int, int]]:
    """As `_near_values`, for the values at `places`, which differ in the bits of `flips` only.

    Two values differ in at most two bits exactly if some number differs from both in at most one, so
    nothing is compared that is not near.
    """
    import numpy as np

    midpoints = (values[places][:, np.newaxis] ^ np.array(flips, np.uint64)).ravel()
    order = np.argsort(midpoints, kind="stable")
    found: set[tuple[int, int]] = set()
    for one, other in _equals(midpoints[order], np.repeat(places, len(flips))[order]):
        found.update(_pairs(one, other))
    return found


def _equals(
    keys: NDArray[np.uint64], places: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The places of every two equal ones of ascending `keys`, in pairs of arrays."""
    import numpy as np

    at, gap = np.arange(len(keys)), 1
    while len(at := at[: int(np.searchsorted(at, len(keys) - gap))]):
        at = at[keys[at] == keys[at + gap]]
        yield places[at], places[at + gap]
        gap += 1


def _pairs(one: NDArray[np.int64], other: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    import numpy as np

    return zip(np.minimum(one, other).tolist(), np.maximum(one, other).tolist(), strict=True)
