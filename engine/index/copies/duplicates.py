"""Near-duplicates: live atoms with almost the same text.

Two texts are near-duplicates if their fingerprints differ in fewer than 3 bits (`engine.text.simhash`). Texts
that are too short to have a fingerprint are never near-duplicates. This module only finds near-duplicates;
`engine.commands.Merge` merges them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from backends.base import Reader
from engine.base import limits
from engine.base.basic_values import Direction
from engine.base.validation import PROVENANCES, atom_id, positive, show_id
from engine.followers.tags import LIVE, members
from engine.index.index_follower import IndexFollower
from engine.index.positions import distinct
from engine.ledger.queries import bodies_of, edges_at, get_record, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.text.analyzer import index_terms
from engine.text.language.snippets import beginning
from engine.text.simhash import are_near, distance, near_pairs
from proofs.events import AtomBody
from proofs.leaves import EdgeType

SHARED_MIN: Final = 0.5
"""The smallest share of their distinct words that two near-duplicates have in common.

If one word makes up a third of a text, as in `row 1, row 2, …`, the text has the same fingerprint as this
word alone. So two texts can have equal fingerprints even if this word is the only common word.
"""

COMPARED_CHARS: Final = 1 << 15
"""Only the words in this many characters at the beginning of a text are compared."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An atom in a group of near-duplicates, with the fields that callers see."""

    id: str
    distance: int
    """The number of bits, 0 to 64, in which the fingerprint differs from the fingerprint of the atom to
    keep."""
    title: str | None
    snippet: str
    """The beginning of the atom's text, on one line."""
    tags: tuple[str, ...]
    source: str | None


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Two or more live atoms that pairs of near-duplicates connect.

    Two atoms of the group need not be similar to each other: both may be similar to a third atom. Each atom
    has at least half of its distinct words in common with the atom to keep.
    """

    keep: Duplicate
    """The atom into which the other atoms of the group would be merged."""
    others: tuple[Duplicate, ...]
    """The atoms of the group except `keep`, ordered by their distance to `keep`. At the same distance they
    are in the order in which their contents were recorded."""


def duplicates(
    rows: Reader, index: IndexFollower, *, limit: int = 100, of: str | None = None
) -> list[DuplicateGroup]:
    """Return at most `limit` groups of similar atoms, ordered by the ordinals of the atoms to keep.

    The atom to keep is chosen by three criteria in this order:

    1. An atom that no other atom of the group supersedes is preferred. Otherwise a text that was corrected
       could replace its correction.
    2. Internal atoms are preferred to external atoms, and external atoms to atoms in quarantine.
    3. The atom that was recorded first is preferred. Most links lead to it, and the choice does not change
       when atoms are revised or merged into it.

    `rows` is a snapshot in which records, tags and index are at the head. With `of`, only the group of
    the atom with this id is computed; an atom that is not live has no group.

    Raises:
        InvalidInputError: the limit is out of range, or `of` is not an id.
        NotFoundError: `of` was never recorded.
    """
    positive(limit, "limit", limits.RESULTS_MAX)
    wanted = None if of is None else get_record(rows, atom_id(of)).ordinal
    view = index.view(rows)
    fingerprints = view.facts.fingerprints
    live = np.frombuffer(members(rows, LIVE).to_array(), np.uint32)
    if wanted is None:
        listed = groups_of(fingerprints[live])
    else:
        at = int(np.searchsorted(live, wanted))
        listed = [group_of(fingerprints[live], at)] if at < len(live) and live[at] == wanted else []
    groups = [_best_first(rows, live[group].tolist()) for group in listed if len(group) > 1]
    groups.sort(key=lambda group: group[0].ordinal)
    made = (_duplicate_group(rows, group, fingerprints) for group in groups)
    return list(islice((group for group in made if group is not None), limit))


def groups_of(fingerprints: NDArray[np.uint64]) -> list[NDArray[np.int64]]:
    """Return the groups of fingerprints that are connected by pairs of near-duplicates.

    Each group has at least two fingerprints. Each group is an array with the indexes of its fingerprints, in
    ascending order.
    """
    # Equal fingerprints are merged first, because a thousand copies of a text have half a million pairs.
    values, which = np.unique(fingerprints, return_inverse=True)
    sets = _DisjointSets()
    for one, other in near_pairs(values):
        sets.union(one, other)
    group = np.arange(len(values))
    for value in sets:
        group[value] = sets.lowest(value)
    of_index = group[which.ravel()]
    sizes = np.bincount(of_index, fingerprints > 0, len(values))
    indexes = np.flatnonzero((sizes > 1)[of_index] & (fingerprints > 0))
    indexes = indexes[np.argsort(of_index[indexes], kind="stable")]
    parts = np.split(indexes, np.flatnonzero(np.diff(of_index[indexes])) + 1)
    return [part for part in parts if len(part)]


class _DisjointSets(dict[int, int]):
    """Disjoint sets of numbers (union-find).

    Each number is mapped to its parent, which is a lower number of its set. The lowest number of a set is
    mapped to itself.
    """

    def lowest(self, number: int) -> int:
        """Return the lowest number of the set that contains `number`."""
        while (parent := self.setdefault(number, number)) != number:
            self[number] = self[parent]  # path halving
            number = self[parent]
        return number

    def union(self, one: int, other: int) -> None:
        """Merge the set that contains `one` and the set that contains `other`."""
        low, high = sorted((self.lowest(one), self.lowest(other)))
        self[high] = low


def group_of(fingerprints: NDArray[np.uint64], index: int) -> NDArray[np.int64]:
    """Return the indexes of the group that contains the fingerprint at `index`, in ascending order.

    The group contains all fingerprints that pairs of near-duplicates connect to this fingerprint. Each
    distinct fingerprint of the group is compared once with all fingerprints. No list of pairs is built.
    """
    in_group = np.zeros(len(fingerprints), np.bool_)
    in_group[index] = True
    seen: set[int] = {0}
    frontier = {int(fingerprints[index])} - seen
    while frontier:
        value = frontier.pop()
        seen.add(value)
        new = are_near(fingerprints, np.uint64(value)) & ~in_group
        in_group |= new
        frontier |= set(distinct(fingerprints[new]).tolist()) - seen
    return np.flatnonzero(in_group)


def _best_first(rows: Reader, ordinals: Sequence[int]) -> list[AtomRecord]:
    """Return the records of a group. The record of the atom to keep is the first."""
    records = records_of(rows, ids_at(rows, ordinals))
    ids = {record.id for record in records}

    def sort_key(record: AtomRecord) -> tuple[bool, int, int]:
        incoming = edges_at(rows, record.id, Direction.IN, (bytes([EdgeType.SUPERSEDES]),))
        superseded = any(edge.src in ids for edge in incoming)
        return superseded, PROVENANCES.index(record.provenance), record.created_seq

    return sorted(records, key=sort_key)


def _duplicate_group(
    rows: Reader, group: Iterable[AtomRecord], fingerprints: NDArray[np.uint64]
) -> DuplicateGroup | None:
    """Return the group without atoms that share too few words with `keep`; None if no other atom is left."""
    records = list(group)
    keep = int(fingerprints[records[0].ordinal])
    bodies = bodies_of(rows, records)
    terms = _terms_of(bodies[0])
    alike = [share_words(terms, _terms_of(body)) for body in bodies]
    records, bodies = list(compress(records, alike)), list(compress(bodies, alike))
    if len(records) == 1:
        return None
    found = [
        Duplicate(
            show_id(record.id),
            distance(keep, int(fingerprints[record.ordinal])),
            record.title,
            beginning(body.content),
            record.tags,
            record.source,
        )
        for record, body in zip(records, bodies, strict=True)
    ]
    pairs = zip(found[1:], records[1:], strict=True)
    others = sorted(pairs, key=lambda pair: (pair[0].distance, pair[1].ordinal))
    return DuplicateGroup(found[0], tuple(other for other, _ in others))


def _terms_of(body: AtomBody) -> frozenset[str]:
    return frozenset(index_terms(body.content[:COMPARED_CHARS]))


def share_words(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return True if two texts with these terms have enough words in common for near-duplicates."""
    return len(one & other) >= SHARED_MIN * len(one | other)
