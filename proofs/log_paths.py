"""Verification of paths in a log (SPEC, section 20.6).

An inclusion path shows that an event is in a log. A consistency path shows that a log begins with an older
log. The algorithms are defined in RFC 9162, sections 2.1.3.2 and 2.1.4.2. Whether a hash is a left or a right
sibling is derived from the index and the sizes that the caller passes. A path with a missing or unused hash
is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofs.errors import ProofError
from proofs.log import DIGEST_BYTES, SIZE_MAX, node_hash


def check_inclusion(index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> None:
    """Raise ProofError unless `leaf` is the leaf hash at position `index` of the log with `root`.

    The algorithm is defined in RFC 9162, section 2.1.3.2 (docs/spec/proofs.md, section 20.6).

    Args:
        index: The position of the leaf, from 0; below `size`.
        size: The number of leaves of the log, 1 to 2^63 − 1.
        leaf: The leaf hash, 32 bytes: `leaf_hash` of the entry, which for a journal is the header.
        path: The sibling hashes from the leaf up, 32 bytes each; empty for a log of one leaf.
        root: The root of the log at this size, 32 bytes, from a source that the caller trusts.

    Raises:
        ProofError: The path does not lead from the leaf to the root, or a hash does not have 32 bytes
            (`inclusion`); a number is out of bounds (`input`).
    """
    _check_numbers(index, size)
    if not index < size:
        raise ProofError("input", f"index {index} is not below the size {size}")
    _check_hashes("inclusion", leaf, root, *path)
    at, last, computed = index, size - 1, leaf
    for sibling in path:
        if not last:
            raise ProofError("inclusion", f"the path has too many hashes for index {index} of {size}")
        if at & 1 or at == last:
            computed = node_hash(sibling, computed)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            computed = node_hash(computed, sibling)
        at, last = at >> 1, last >> 1
    if last:
        raise ProofError("inclusion", f"the path has too few hashes for index {index} of {size}")
    if computed != root:
        raise ProofError("inclusion", f"the path from index {index} of {size} leads to a different root")


def check_consistency(old: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]) -> None:
    """Raise ProofError unless the log with `root` begins with the log with `old_root`.

    The algorithm is defined in RFC 9162, section 2.1.4.2 (docs/spec/proofs.md, section 20.6).

    Args:
        old: The number of leaves of the older log, 1 to `size`. 0 is refused: every log begins with the
            empty log, so there is nothing to show.
        old_root: The root of the older log, 32 bytes.
        size: The number of leaves of the newer log, at most 2^63 − 1.
        root: The root of the newer log, 32 bytes.
        path: The hashes of the consistency path, 32 bytes each; empty if both sizes are equal.

    Raises:
        ProofError: The path does not lead to both roots, or a hash does not have 32 bytes
            (`consistency`); a number is out of bounds (`input`).
    """
    _check_numbers(old, size)
    if not 0 < old <= size:
        raise ProofError("input", f"the older size must be 1 to {size}, not {old}")
    _check_hashes("consistency", old_root, root, *path)
    if old == size:
        if path or old_root != root:
            raise ProofError("consistency", f"the two logs of {size} events have different roots")
        return
    # If the older log is one complete subtree, its root is the first hash, and the path does not repeat it.
    hashes = [old_root, *path] if not old & (old - 1) else list(path)
    if _both_roots(old, size, hashes) != (old_root, root):
        raise ProofError("consistency", f"the log of {size} events does not begin with the log of {old}")


def _both_roots(old: int, size: int, hashes: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return the roots of both logs, computed from a path.

    `hashes` begins with the last complete subtree of the older log.
    """
    at, last = old - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    if not hashes:
        raise ProofError("consistency", "the path is too short")
    first = second = hashes[0]
    for sibling in hashes[1:]:
        if not last:
            raise ProofError("consistency", "the path is too long")
        if at & 1 or at == last:
            first, second = node_hash(sibling, first), node_hash(sibling, second)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            second = node_hash(second, sibling)
        at, last = at >> 1, last >> 1
    if last:
        raise ProofError("consistency", "the path is too short")
    return first, second


def _check_numbers(*numbers: int) -> None:
    for number in numbers:
        if type(number) is not int or not 0 <= number <= SIZE_MAX:
            raise ProofError("input", f"a size or index is a whole number from 0 to {SIZE_MAX}")


def _check_hashes(reason: str, *hashes: bytes) -> None:
    if any(type(found) is not bytes or len(found) != DIGEST_BYTES for found in hashes):
        raise ProofError(reason, f"every hash must have {DIGEST_BYTES} bytes")
