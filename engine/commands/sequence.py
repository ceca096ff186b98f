"""Sort keys for the atoms of a source, with gaps between the keys for later insertions.

A paragraph that is inserted between two other paragraphs gets a key between their keys, so that no existing
key has to change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

STEP = 1 << 16
"""The difference between two successive new keys. At least sixteen insertions fit between them before an
existing key must change."""


def place(known: Sequence[int | None]) -> list[int]:
    """Return ascending keys for a sequence of items; `known` has the present keys, and None for new items.

    As many known keys as possible are kept: the keys of a longest ascending subsequence. All other items get
    new keys between the kept keys.
    """
    staying = longest_ascending(known)
    keys: list[int] = []
    before = 0
    for at, key in enumerate(known):
        waiting = at - len(keys)
        # A key that could be kept is replaced if the gap before it has no room for the new items.
        if key is None or at not in staying or key - before <= waiting:
            continue
        keys.extend(before + (key - before) * (step + 1) // (waiting + 1) for step in range(waiting))
        keys.append(key)
        before = key
    keys.extend(before + STEP * (step + 1) for step in range(len(known) - len(keys)))
    return keys


def longest_ascending(known: Sequence[int | None]) -> set[int]:
    """Return the positions of a longest strictly ascending subsequence of known keys (patience sorting)."""
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
    positions: set[int] = set()
    following: int | None = last_at[-1] if last_at else None
    while following is not None:
        positions.add(following)
        following = previous.get(following)
    return positions
