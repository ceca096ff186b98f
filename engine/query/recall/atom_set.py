"""The atoms that may answer a question, as a set of ordinals and as masks, and the cache of this set."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.followers.tags import members, values
from engine.ledger.journal import LogState
from engine.ledger.layout import EDGE_FROM
from engine.query.filters import NO_FILTERS, Filters, answering, maybe_superseded
from proofs.leaves import Group

FLIPPED_SHARE: Final = 16
"""A mask is made from an earlier mask if the two differ in at most one of this many ordinals."""

TAGS_LISTED_MAX: Final = 512
"""If there are at most this many tags, all of them are cached."""
MANY_TAGS_LISTED_MAX: Final = 16_384
"""If there are at most this many tags, all of them are cached when they have been looked up often enough.

Measured: 4,821 tags are read in 3 ms."""
LOOK_UPS: Final = 128
"""The number of look-ups that take about as long as reading all tags."""

SETS_BYTES_MAX: Final = 4 << 20
"""The largest number of bytes of the cached sets of one object."""
SET_BYTES: Final = 500
"""The size in bytes of a set, without its members (measured)."""


class AtomSet:
    """The ordinals of the live atoms that pass the filters, and the factors for their provenance.

    Safe to use from several threads.
    """

    def __init__(
        self,
        ordinals: BitMap,
        documents: int,
        factors: tuple[tuple[float, BitMap], ...] = (),
        like: AtomSet | None = None,
        *,
        unfiltered: bool = False,
    ) -> None:
        """Store the sets.

        Args:
            ordinals: The ordinals of the allowed atoms.
            documents: The number of all ordinals; the masks have this length.
            factors: The factors by which scores are multiplied, each with the ordinals of the atoms that it
                applies to. No ordinal is in two of these sets.
            like: An earlier object, from whose masks the masks of the new object may be made.
            unfiltered: True if the object serves more than one question, so that more is cached.
        """
        self.ordinals = ordinals
        self.documents = documents
        self.lowered = factors
        self._unfiltered = unfiltered
        self._sets: dict[tuple[Group, str], BitMap] = {}
        self._newest: dict[tuple[Group, str, int], tuple[int, NDArray[np.int64]]] = {}
        self._set_bytes = 0
        self._has_edges: bool | None = None
        self._tags: list[str] | None = None
        self._look_ups = 0
        self._marked: BitMap | None = None
        self._like: AtomSet | None = like if like is None or "mask" in vars(like) else like._like

    def members(self, rows: Reader, group: Group, value: str) -> BitMap:
        """Return the ordinals of the allowed atoms that have this value, for example a tag.

        The ordinals are read from a set of the follower `tags`. The result is cached until the cache is full.
        `rows` is the snapshot for which this object was made.
        """
        ordinals = self._sets.get((group, value))
        if ordinals is None:
            ordinals = members(rows, (group, value), self.documents) & self.ordinals
            self._make_room(min(2 * len(ordinals), self.documents // 8))
            self._sets[group, value] = ordinals
        return ordinals

    def newest(self, rows: Reader, group: Group, value: str, most: int) -> tuple[int, NDArray[np.int64]]:
        """Return the number of ordinals in the result of `members`, and the last `most` of them, ascending.

        Only this result is cached, because the whole set is often larger.
        """
        ordinals = self._newest.get((group, value, most))
        if ordinals is None:
            every = self._sets.get((group, value))
            if every is None:
                every = members(rows, (group, value), self.documents) & self.ordinals
            last = every[max(0, len(every) - most) :].to_array()
            ordinals = len(every), np.frombuffer(last, np.uint32).astype(np.int64)
            self._make_room(ordinals[1].nbytes)
            self._newest[group, value, most] = ordinals
        return ordinals

    def _make_room(self, size: int) -> None:
        """Count a new entry of `size` bytes. If the cache would become too large, empty the cache first."""
        if self._set_bytes + size + SET_BYTES > SETS_BYTES_MAX:
            self._sets, self._newest, self._set_bytes = {}, {}, 0
        self._set_bytes += size + SET_BYTES

    def marked(self, rows: Reader) -> BitMap:
        """Return the result of `maybe_superseded` without filters, in the snapshot of this object."""
        if self._marked is None:
            self._marked = maybe_superseded(rows, NO_FILTERS)
        return self._marked

    def tags_from(self, rows: Reader, start: str) -> Iterable[str]:
        """Return the tags from `start` on, ascending, in the snapshot for which this object was made."""
        if self._tags is None and self._unfiltered:
            most = {0: TAGS_LISTED_MAX, LOOK_UPS: MANY_TAGS_LISTED_MAX}.get(self._look_ups)
            self._look_ups += 1
            if most is not None:
                every = list(islice(values(rows, Group.TAG), most + 1))
                self._tags = every if len(every) <= most else None
        if self._tags is None:
            return values(rows, Group.TAG, start)
        return islice(self._tags, bisect_left(self._tags, start), None)

    def has_edges(self, rows: Reader) -> bool:
        """Return True if there is an edge of any state in the snapshot for which this object was made."""
        if self._has_edges is None:
            self._has_edges = any(True for _ in rows.scan_prefix(EDGE_FROM))
        return self._has_edges

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """An array that holds True for each ordinal of an allowed atom, and False for every other ordinal."""
        like, self._like = self._like, None
        if like is not None and like.documents <= self.documents and "mask" in vars(like):
            differing = like.ordinals ^ self.ordinals
            if len(differing) * FLIPPED_SHARE <= self.documents:
                mask = np.zeros(self.documents, np.bool_)
                mask[: like.documents] = like.mask
                flipped = listed(differing, self.documents)
                mask[flipped] = ~mask[flipped]
                return mask
        return mask_of(self.ordinals, self.documents)

    @cached_property
    def bits(self) -> bytes:
        """The mask with one bit for each ordinal, the lowest ordinal in the least significant bit."""
        return np.packbits(self.mask, bitorder="little").tobytes()

    @cached_property
    def factors(self) -> list[tuple[float, bytes]]:
        """The factors of scores, each with a mask in the form of `bits`."""
        return [
            (factor, np.packbits(mask_of(some, self.documents), bitorder="little").tobytes())
            for factor, some in self.lowered
        ]

    @property
    def largest_factor(self) -> float:
        """The largest factor, at least 1."""
        return max([1.0, *(factor for factor, _ in self.lowered)])

    def factors_at(self, ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the factor of each of these atoms. The factor of an atom is 1 if none is set."""
        factors = np.ones(len(ordinals))
        for factor, bits in self.factors:
            bytes_of = np.frombuffer(bits, np.uint8)[ordinals >> 3]
            factors[(bytes_of >> (ordinals & 7).astype(np.uint8) & 1).astype(np.bool_)] = factor
        return factors


def mask_of(ordinals: BitMap, documents: int) -> NDArray[np.bool_]:
    """Return an array of `documents` truth values that holds True for each of `ordinals`."""
    mask = np.zeros(documents, np.bool_)
    mask[listed(ordinals, documents)] = True
    return mask


def listed(ordinals: BitMap, documents: int) -> NDArray[np.uint32]:
    """Return the ordinals below `documents`, ascending."""
    array = np.frombuffer(ordinals.to_array(), np.uint32)
    return array[: int(array.searchsorted(documents))] if len(array) and array[-1] >= documents else array


class AtomSetCache:
    """A cache of the atoms that may answer a question without filters, for one state of the journal.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._latest: tuple[tuple[object, ...], AtomSet] | None = None

    def atoms(
        self, rows: Reader, log: LogState, filters: Filters, documents: int, internal: float
    ) -> AtomSet:
        """Return the allowed atoms in a snapshot whose journal ends at `log`.

        `documents` is the number of ordinals. `internal` is the weight of the signal `internal`: the score of
        an external atom is divided by this weight once, and the score of an atom in quarantine
        twice.
        """
        latest, key = self._latest, (log, documents, internal)
        if filters == NO_FILTERS and latest is not None and latest[0] == key:
            return latest[1]
        ordinals = answering(rows, filters)
        factors = []
        for name, power in (("external", 1), ("quarantine", 2)) if internal != 1.0 else ():
            lowered = members(rows, (Group.PROVENANCE, name), documents) & ordinals
            if lowered:
                factors.append((internal**-power, lowered))
        like, unfiltered = None if latest is None else latest[1], filters == NO_FILTERS
        atoms = AtomSet(ordinals, documents, tuple(factors), like, unfiltered=unfiltered)
        if unfiltered:
            self._latest = key, atoms
        return atoms
