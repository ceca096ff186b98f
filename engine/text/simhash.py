"""SimHash fingerprints, which are nearly equal for nearly equal texts (Charikar 2002; SPEC: Index).

Each term of a text and each pair of adjacent terms votes on each bit of the fingerprint. Stop words also
vote, because a word such as `not` changes the meaning; pairs vote, because the order of the words matters. A
text of n terms has 2n − 1 votes, so there are no ties. Fingerprints are stored and hashed, so the results of
this module must never change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import accumulate, combinations, pairwise, product
from typing import TYPE_CHECKING, Final

from engine.base.native import NATIVE
from engine.text.analyzer import STOP_WORDS, index_terms
from proofs.hashing import term_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MULTIPLIER: Final = 0x9E3779B97F4A7C15
"""The multiplier in the hash of a phrase: 2^64 divided by the golden ratio, rounded to an odd number.
The hash of the preceding terms is multiplied by this number. Because the number is odd, no bits are lost."""

DISTINCT_MIN: Final = 4
"""The minimum number of distinct terms in a text that gets a fingerprint. A text with fewer distinct terms
has the fingerprint 0 and is never a near-duplicate.

Measured on the 16,344 different texts of LoCoMo, HotpotQA and a collection of notes: among the 578 texts with
fewer distinct terms, 7 pairs would be near-duplicates by their fingerprints, but the texts of these pairs are
not duplicates (`doing daily`, `doing work`). Among the 5,198 texts with 4 to 19 distinct terms, no pair is
near. Among the longer texts 17 pairs are near, of which 14 are duplicates.
"""

NEAR_BITS: Final = 3
"""Two texts are near-duplicates if fewer than this number of bits of their fingerprints differ
(SPEC, section 12)."""

CACHED_TERMS_MAX: Final = 1 << 15

_BITS: Final = 64
_MASK: Final = (1 << _BITS) - 1
_LANES: Final = 0x0101010101010101
_BLOCK: Final = 127
"""The maximum number of terms in a block. The votes of a block and of its pairs then fit into 8 bits."""
_CHUNK: Final = 1 << 15
"""The number of terms that are processed at a time. The data of that many terms fits in the processor's
cache."""
_BANDS: Final = (0, 21, 42, 64)
_RUN_MAX: Final = 1024
"""The maximum size of a group of values in which every pair of values is compared. For a larger group,
`_around_midpoints` is faster."""


class _TermHashes(dict[str, int]):
    """A cache: term → hash of the term. It already has most terms of a text.

    The value depends on the key alone, so no lock is needed.
    """

    def __missing__(self, term: str) -> int:
        number = term_number(term.encode())
        if len(self) >= CACHED_TERMS_MAX:
            self.clear()
        self[term] = number
        return number


_CACHE: Final = _TermHashes()
term_hash: Final[Callable[[str], int]] = _CACHE.__getitem__
"""Return the 64-bit hash of a term. It is called for each term of long texts, and takes a third of the time
of a function in Python (measured)."""


def phrase_hash(terms: Iterable[str]) -> int:
    """Return the 64-bit hash of a sequence of terms. The result is 0 only if there are no terms."""
    hashes = [term_hash(term) for term in terms]
    return (reduce(_append_hash, hashes) or 1) if hashes else 0


def title_hash(title: str | None) -> int:
    """Return the 64-bit hash of the terms of a title. It is used to find the texts that mention the title.

    A qualifier in parentheses at the end, from the last ` (` to a final `)`, is ignored. The result is 0 if
    there is no title, or if the rest of the title has only stop words.
    """
    if title is None:
        return 0
    if title.endswith(")"):
        named, _, _ = title.rpartition(" (")
        title = named or title
    terms = index_terms(title)
    return 0 if STOP_WORDS.issuperset(terms) else phrase_hash(terms)


def phrase_hashes(terms: Sequence[str], most: int) -> dict[tuple[int, int], int]:
    """Map the span (start, end) of each sequence of at most `most` terms to its `phrase_hash`."""
    hashes = list(map(term_hash, terms))
    return {
        (start, end): number or 1
        for start in range(len(hashes))
        for end, number in enumerate(accumulate(hashes[start : start + most], _append_hash), start + 1)
    }


def _append_hash(prefix: int, last: int) -> int:
    return (prefix * MULTIPLIER + last) & _MASK


def fingerprint(terms: Sequence[str]) -> int:
    """Return the 64-bit fingerprint of a text, given all terms of the text in order.

    The result is 0 only if there are fewer than DISTINCT_MIN distinct terms: a computed 0 is replaced by 1.
    """
    if len(set(terms)) < DISTINCT_MIN:
        return 0
    hashes = [term_hash(term) for term in terms]
    votes = [*hashes, *(_append_hash(*pair) for pair in pairwise(hashes))]
    elected = (bit for bit in range(_BITS) if 2 * sum(vote >> bit & 1 for vote in votes) > len(votes))
    return sum(1 << bit for bit in elected) or 1


def combine(
    hashes: NDArray[np.uint64], sizes: NDArray[np.int64], distinct: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the fingerprints of texts, given the hashes of their terms.

    Args:
        hashes: The hashes of all terms, text after text, in the order of each text.
        sizes: The number of terms of each text; their sum is the length of `hashes`.
        distinct: The number of distinct terms of each text.
    """
    import numpy as np

    fingerprints = np.zeros(len(sizes), np.uint64)
    long_enough = distinct >= DISTINCT_MIN
    hashes, sizes = hashes[np.repeat(long_enough, sizes)], sizes[long_enough]
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _CHUNK)) + 1
    elected = [np.zeros(0, np.uint64)]
    start = 0
    for chunk_sizes in np.split(sizes, cuts) if len(sizes) else ():
        end = start + int(chunk_sizes.sum())
        elected.append(_majorities(hashes[start:end], chunk_sizes))
        start = end
    fingerprints[long_enough] = np.maximum(np.concatenate(elected), np.uint64(1))
    return fingerprints


def _majorities(hashes: NDArray[np.uint64], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return, for each text, the bits that have a majority of the votes. No text may be empty.

    One addition counts eight bits of a hash at once: the bits at the same position in each of its eight
    bytes. Each byte of the sum is the counter of one of the eight bits. A text of 40 words takes 1.2 µs
    (measured).
    """
    import numpy as np

    starts = np.cumsum(sizes) - sizes
    pairs = np.zeros_like(hashes)
    pairs[1:] = hashes[:-1] * np.uint64(MULTIPLIER) + hashes[1:]
    pairs[starts] = 0
    # Blocks are short enough that no 8-bit counter overflows; most texts are a single block.
    blocks = (sizes + (_BLOCK - 1)) // _BLOCK
    firsts = np.cumsum(blocks) - blocks
    inner = np.arange(int(blocks.sum())) - np.repeat(firsts, blocks)
    begins = np.repeat(starts, blocks) + _BLOCK * inner
    lanes = np.uint64(_LANES)
    bits = np.zeros((len(sizes), _BITS // 8), np.uint8)
    for bit in range(8):
        shift = np.uint64(bit)
        counts = np.add.reduceat((hashes >> shift & lanes) + (pairs >> shift & lanes), begins)
        ayes = np.add.reduceat(counts.astype("<u8").view(np.uint8).reshape(-1, 8), firsts, dtype=np.int64)
        # A majority of 2n − 1 votes is at least n votes.
        bits |= (ayes >= sizes[:, np.newaxis]).astype(np.uint8) << np.uint8(bit)
    return bits.view("<u8").astype(np.uint64).ravel()


def distance(a: int, b: int) -> int:
    """Return the number of bits in which two fingerprints differ."""
    return (a ^ b).bit_count()


def near(a: int, b: int) -> bool:
    """Return True if two fingerprints show that their texts are near-duplicates.

    If one of the fingerprints is 0, return False.
    """
    return bool(a and b) and distance(a, b) < NEAR_BITS


def are_near(some: NDArray[np.uint64], other: NDArray[np.uint64] | np.uint64) -> NDArray[np.bool_]:
    """Return, for each pair of fingerprints, True if their texts are near-duplicates.

    Each element of `some` is compared with the element of `other` at the same index, or with `other` itself
    if `other` is a single fingerprint. The result is that of `near`.
    """
    differing = some ^ other
    for _ in range(NEAR_BITS - 1):
        differing &= differing - 1  # clears the lowest bit that is set
    is_near: NDArray[np.bool_] = (differing == 0) & (some > 0) & (other > 0)
    return is_near


def near_earlier(fingerprints: NDArray[np.uint64], start: int) -> list[bool]:
    """Return True for each fingerprint from `start` on that is near a fingerprint with a lower index."""
    if NATIVE is not None:
        is_near: list[bool] = NATIVE.near_earlier(fingerprints.tobytes(), start)
        return is_near
    import numpy as np

    near_lower = np.tril(are_near(fingerprints[start:, np.newaxis], fingerprints[np.newaxis]), start - 1)
    return list(map(bool, near_lower.sum(axis=1)))


def near_pairs(fingerprints: NDArray[np.uint64]) -> list[tuple[int, int]]:
    """Return the positions of all pairs of near fingerprints, as (lower, higher), in ascending order.

    The bits are divided into three bands. Two fingerprints that differ in at most two bits are equal in at
    least one band. So two fingerprints are compared only if they have an equal band. This takes 0.1 s for
    100,000 random fingerprints, and 1 s if all of them are equal in one band (measured).
    """
    import numpy as np

    order = np.argsort(fingerprints, kind="stable")
    ordered = fingerprints[order]
    # The zeros of texts without a fingerprint come before the first position at which the number changes.
    firsts = np.flatnonzero(np.diff(ordered, prepend=np.uint64(0)))
    bounds = pairwise([*firsts.tolist(), len(order)])
    equals = [order[first:end].tolist() for first, end in bounds]
    pairs = [pair for group in equals for pair in combinations(group, 2)]
    for one, other in _near_values(ordered[firsts]):
        pairs += [(min(pair), max(pair)) for pair in product(equals[one], equals[other])]
    return sorted(pairs)


def _near_values(values: NDArray[np.uint64]) -> set[tuple[int, int]]:
    """Return the positions of all pairs of near values. No two values may be equal."""
    import numpy as np

    pairs: set[tuple[int, int]] = set()
    for first, end in pairwise(_BANDS):
        band = np.uint64((1 << end) - (1 << first))
        positions = np.argsort(values & band, kind="stable")
        keys = values[positions] & band
        _, begins, sizes = np.unique(keys, return_index=True, return_counts=True)
        crowded = sizes > _RUN_MAX
        small = np.repeat(~crowded, sizes)
        for one, other in _equals(keys[small], positions[small]):
            differing = values[one] ^ values[other]
            for _ in range(NEAR_BITS - 1):
                differing &= differing - np.uint64(1)
            near = differing == 0
            pairs.update(_pairs(one[near], other[near]))
        flips = [0, *(1 << bit for bit in range(_BITS) if not first <= bit < end)]
        for begin, size in zip(begins[crowded].tolist(), sizes[crowded].tolist(), strict=True):
            pairs |= _around_midpoints(values, positions[begin : begin + size], flips)
    return pairs


def _around_midpoints(
    values: NDArray[np.uint64], positions: NDArray[np.int64], flips: list[int]
) -> set[tuple[int, int]]:
    """Return the near pairs among the values at `positions`. These values differ only in the bits `flips`.

    Two values differ in at most two bits if and only if there is a number, called a midpoint, that differs
    from each of the two values in at most one bit. Values that share a midpoint are therefore near, and no
    other pairs are compared.
    """
    import numpy as np

    midpoints = (values[positions][:, np.newaxis] ^ np.array(flips, np.uint64)).ravel()
    order = np.argsort(midpoints, kind="stable")
    pairs: set[tuple[int, int]] = set()
    for one, other in _equals(midpoints[order], np.repeat(positions, len(flips))[order]):
        pairs.update(_pairs(one, other))
    return pairs


def _equals(
    keys: NDArray[np.uint64], positions: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the positions of all pairs of equal keys, as pairs of arrays. `keys` must be ascending."""
    import numpy as np

    at, gap = np.arange(len(keys)), 1
    while len(at := at[: int(np.searchsorted(at, len(keys) - gap))]):
        at = at[keys[at] == keys[at + gap]]
        yield positions[at], positions[at + gap]
        gap += 1


def _pairs(one: NDArray[np.int64], other: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    import numpy as np

    return zip(np.minimum(one, other).tolist(), np.maximum(one, other).tolist(), strict=True)
