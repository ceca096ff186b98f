"""Hashing many headers at once, and appending the hashes to a log's frontier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.base.native import NATIVE
from proofs.codec import kind_of
from proofs.events import ERASING_KINDS, EventKind
from proofs.log import Frontier, leaf_hash


def leaf_hashes(headers: Sequence[bytes]) -> list[bytes]:
    """Return the hash of each header as a leaf of the log."""
    if NATIVE is not None:
        return NATIVE.leaf_hashes(headers)  # type: ignore[no-any-return]
    return list(map(leaf_hash, headers))


def extended(frontier: Frontier, leaves: Sequence[bytes]) -> Frontier:
    """Return a frontier to which `leaves` are appended; `frontier` is not changed.

    Raises:
        ValueError: a leaf does not have 32 bytes, or the log is full.
    """
    if NATIVE is not None:
        raw = NATIVE.extended_frontier(frontier.to_bytes(), list(leaves))
        if raw is not None:
            return Frontier.from_bytes(raw)
    longer = frontier.copy()
    longer.extend(leaves)
    return longer


def of_kinds(headers: Sequence[bytes], kinds: Iterable[EventKind]) -> list[int]:
    """Return the positions of the headers with one of the kinds.

    Only the kind is read, so the result may include headers that cannot be decoded.
    """
    wanted = sorted(map(int, kinds))
    if NATIVE is not None:
        return NATIVE.headers_of_kinds(list(headers), wanted)  # type: ignore[no-any-return]
    return [at for at, header in enumerate(headers) if kind_of(header) in wanted]


def erasing(headers: Sequence[bytes]) -> list[int]:
    """Return the positions of the headers with a kind that destroys payloads, as `of_kinds` does."""
    return of_kinds(headers, ERASING_KINDS)
