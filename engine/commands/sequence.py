"""Sort keys for the pieces of a source that leave room between them.

A paragraph put between two others gets a key between theirs, so it moves nothing else.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

STEP = 1 << 16
"""Room left after each piece: sixteen insertions in one place before a neighbour has to move."""


def place(known: Sequence[int | None]) -> list[int]:
    """Ascending keys for pieces in their order; `known` are the keys they have, None for new ones.

    As many known keys stay as can: those of a longest ascending run. The others get keys between.
    """
    staying = _longest_ascending(known)
    keys: list[int] = []
    before = 0
    for at, key in enumerate(known):
        waiting = at - len(keys)
        # Without room before it, one that could stay has to move, too.
        if key is None or at not in staying or key - before <= waiting:
            continue
        keys.extend(before + (key - before) * (step + 1) // (waiting + 1) for step in range(waiting))
        keys.append(key)
        before = key
    keys.extend(before + STEP * (step + 1) for step in range(len(known) - len(keys)))
    return keys


def _longest_ascending(known: Sequence[int | None]) -> set[int]:
    """The positions of a longest strictly ascending subsequence of the known keys (patience sorting)."""
    tails: list[int] = []
    last_at: list[int] = []
    previous: dict[int, int] = {}
    for at, key in enumerate(known):
        if key is None or key <= 0:
            continue
        length = bisect_left(tails, key)
        if length:
            previous[at] = last_at[length - 1]
        tails[length:] = [key, *tails[length + 1 :]]
        last_at[length:] = [at, *last_at[length + 1 :]]
    kept: set[int] = set()
    following: int | None = last_at[-1] if last_at else None
    while following is not None:
        kept.add(following)
        following = previous.get(following)
    return kept
