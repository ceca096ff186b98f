"""Near-duplicates: live atoms that say almost the same (Standard 065, "Active Cleansing Protocol").

Two texts are near-duplicates if their fingerprints differ in fewer than 3 bits
(`engine.text.simhash`); texts too short to have one are never compared. Nothing here changes
anything: `engine.commands.Merge` does, when it is told to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backends.base import Reader
from engine.base import limits
from engine.base.model import Direction
from engine.base.validation import PROVENANCES, atom_id, positive, show_id
from engine.commands.merge import SUPERSEDES
from engine.followers.index import IndexFollower
from engine.followers.tags import LIVE, members
from engine.ledger.queries import bodies_of, edges_at, get_record, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.snippets import beginning
from engine.text.simhash import NEAR_BITS, distance, near_pairs


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An atom of a group of near-duplicates."""

    id: str
    distance: int
    """In how many of 64 bits its fingerprint differs from that of the atom to keep."""
    title: str | None
    snippet: str
    """How its text begins, on one line."""
    tags: tuple[str, ...]
    source: str | None


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Two or more live atoms, joined by being near: a is near b, and b near c, but perhaps not a near c."""

    keep: Duplicate
    """The one that the others would be merged into."""
    others: tuple[Duplicate, ...]
    """The nearest to it first, of equals the one whose content was recorded first."""


def duplicates(
    rows: Reader, index: IndexFollower, *, limit: int = 100, of: str | None = None
) -> list[DuplicateGroup]:
    """At most `limit` groups in the order of the ordinals of the atoms to keep.

    The atom to keep is one that no other of its group supersedes, for the corrected text must not
    come back; then one that is more of our own, internal before external before quarantine; then
    the one recorded first, because most links lead to it and it stays the same however often it is
    revised or merged into. `rows` is a snapshot in which records, tags and index are at the head. With
    `of` only the group of that atom is worked out; one that is not live has none.

    Raises:
        InvalidInputError: the limit is out of range, or `of` is no id.
        NotFoundError: `of` was never recorded.
    """
    positive(limit, "limit", limits.RESULTS_MAX)
    wanted = None if of is None else get_record(rows, atom_id(of)).ordinal
    column = index.view(rows).facts.fingerprints
    live = np.frombuffer(members(rows, LIVE).to_array(), np.uint32)
    some = column[live]
    if wanted is None:
        places = groups_of(some)
    else:
        at = int(np.searchsorted(live, wanted))
        there = at < len(live) and live[at] == wanted
        places = [group_of(some, at)] if there else []
    groups = [_best_first(rows, live[group].tolist()) for group in places if len(group) > 1]
    groups.sort(key=lambda group: group[0].ordinal)
    return [_shown(rows, group, column) for group in groups[:limit]]


def groups_of(fingerprints: NDArray[np.uint64]) -> list[NDArray[np.int64]]:
    """The places of fingerprints that near pairs connect, two at least to a group, ascending in each."""
    # Equal ones are made one first: a thousand copies of a text would be half a million pairs.
    values, which = np.unique(fingerprints, return_inverse=True)
    joined = _Joined()
    for one, other in near_pairs(values):
        joined.join(one, other)
    group = np.arange(len(values))
    for value in joined:
        group[value] = joined.first(value)
    of_place = group[which.ravel()]
    sizes = np.bincount(of_place, fingerprints > 0, len(values))
    places = np.flatnonzero((sizes > 1)[of_place] & (fingerprints > 0))
    places = places[np.argsort(of_place[places], kind="stable")]
    parts = np.split(places, np.flatnonzero(np.diff(of_place[places])) + 1)
    return [part for part in parts if len(part)]


class _Joined(dict[int, int]):
    """Numbers that are joined to others, each with one that leads to the lowest of its group."""

    def first(self, number: int) -> int:
        """The lowest of the group that a number is in."""
        while (before := self.setdefault(number, number)) != number:
            self[number] = self[before]  # half of the way is cut off for the next
            number = self[before]
        return number

    def join(self, one: int, other: int) -> None:
        """Make the groups of two numbers one."""
        low, high = sorted((self.first(one), self.first(other)))
        self[high] = low


def group_of(fingerprints: NDArray[np.uint64], place: int) -> NDArray[np.int64]:
    """The places of the fingerprints that near pairs connect to the one at `place`, ascending.

    Looks at the column once for each different fingerprint of the group; pairs are never listed.
    """
    found = np.zeros(len(fingerprints), np.bool_)
    found[place] = True
    seen: set[int] = {0}
    waiting = {int(fingerprints[place])} - seen
    while waiting:
        value = waiting.pop()
        seen.add(value)
        new = are_near(fingerprints, np.uint64(value)) & ~found
        found |= new
        waiting |= set(np.unique(fingerprints[new]).tolist()) - seen
    return np.flatnonzero(found)


def are_near(some: NDArray[np.uint64], other: NDArray[np.uint64] | np.uint64) -> NDArray[np.bool_]:
    """Element by element what `engine.text.simhash.near` says."""
    differing = some ^ other
    for _ in range(NEAR_BITS - 1):
        differing &= differing - 1  # clears the lowest bit that is set
    found: NDArray[np.bool_] = (differing == 0) & (some > 0) & (other > 0)
    return found


def _best_first(rows: Reader, ordinals: Sequence[int]) -> list[AtomRecord]:
    """The records of a group, the one to keep first."""
    records = records_of(rows, ids_at(rows, ordinals))
    ids = {record.id for record in records}

    def badness(record: AtomRecord) -> tuple[bool, int, int]:
        later = edges_at(rows, record.id, Direction.IN, (SUPERSEDES,))
        superseded = any(edge.src in ids for edge in later)
        return superseded, PROVENANCES.index(record.provenance), record.created_seq

    return sorted(records, key=badness)


def _shown(rows: Reader, group: Iterable[AtomRecord], column: NDArray[np.uint64]) -> DuplicateGroup:
    records = list(group)
    kept = int(column[records[0].ordinal])
    found = [
        Duplicate(
            show_id(record.id),
            distance(kept, int(column[record.ordinal])),
            record.title,
            beginning(body.content),
            record.tags,
            record.source,
        )
        for record, body in zip(records, bodies_of(rows, records), strict=True)
    ]
    pairs = zip(found[1:], records[1:], strict=True)
    others = sorted(pairs, key=lambda pair: (pair[0].distance, pair[1].ordinal))
    return DuplicateGroup(found[0], tuple(other for other, _ in others))
