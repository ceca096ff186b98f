"""Keep superseded atoms, their near-duplicates and their copies out of the hits.

A copy of a superseded atom could still show the old text. So the near-duplicates of a superseded atom are
left out, too, and so are atoms with an equal text: fingerprints do not show these if the titles differ or if
the text has very few words. The superseding atom is not left out, even if it is a near-duplicate: a
correction often differs from the old text in a single word.

An atom is superseded if a live edge of type `supersedes` leads to it, and if this edge starts at a live atom
whose provenance ranks at least as high. So an external atom cannot supersede an internal atom. The tag
`superseded` is only used to find such atoms fast. The tag alone has no effect, because users may put it on
any atom.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.base.basic_values import Direction
from engine.base.validation import PROVENANCES, show_id
from engine.index.copies.held_text import equal_texts
from engine.index.index_follower import IndexFollower
from engine.index.index_view import IndexView
from engine.ledger.queries import bodies_of, edges_at, get_record, record_at
from engine.ledger.records import AtomRecord, read_atom
from engine.query.filters import NO_FILTERS, maybe_superseded
from engine.text.simhash import are_near
from proofs.leaves import EdgeType, State


class SupersededAtoms:
    """Keeps the superseded atoms of one snapshot, and their near-duplicates, out of the hits."""

    def __init__(self, rows: Reader, index: IndexView, marked: BitMap) -> None:
        """Prepare the checks for one snapshot.

        `marked` holds the ordinals of the atoms that may be superseded. It is empty if the query includes
        superseded atoms.
        """
        self._rows = rows
        self._index = index
        self._marked = marked
        self._cache: dict[int, tuple[AtomRecord, ...]] = {}
        listed = np.frombuffer(marked.to_array(), np.uint32).astype(np.int64)
        listed = listed[listed < index.documents]
        fingerprints = index.facts.fingerprints[listed] if len(listed) else np.zeros(0, np.uint64)
        self._titled = bool(len(listed)) and bool(index.facts.titles[listed].any())
        # 0 stands for a text too short to have a fingerprint.
        self._ordinals: NDArray[np.int64] = listed[fingerprints > 0]
        self._fingerprints: NDArray[np.uint64] = fingerprints[fingerprints > 0]

    def reason(self, ordinal: int) -> str | None:
        """Return the reason why the atom is kept out of the hits, or None if it is not kept out.

        The reason is `superseded by <id>`, or `like <id>, which is superseded` for a near-duplicate.
        """
        if not self._marked:
            return None
        if ordinal in self._marked and (newer := self._superseding(ordinal)):
            return f"superseded by {show_id(newer[0].id)}"
        return self._repeats(ordinal)

    def is_superseded(self, ordinal: int) -> bool:
        """Return True if the atom with this ordinal is superseded."""
        return ordinal in self._marked and bool(self._superseding(ordinal))

    def _repeats(self, ordinal: int) -> str | None:
        """Return `like <id>, which is superseded` for a near-duplicate of a superseded atom, else None."""
        record = None
        for old in [*self._near(ordinal), *self._equal(ordinal)]:
            record = record or record_at(self._rows, ordinal)
            superseding = self._superseding(old)
            if any(one.id == record.id for one in superseding):
                return None
            if any(_rank(one) <= _rank(record) for one in superseding) and old != ordinal:
                return f"like {show_id(record_at(self._rows, old).id)}, which is superseded"
        return None

    def _near(self, ordinal: int) -> list[int]:
        """Return the marked atoms that are near-duplicates of an atom."""
        fingerprint = self._index.facts.fingerprints[ordinal]
        if not len(self._fingerprints) or not fingerprint:
            return []
        near: list[int] = self._ordinals[are_near(self._fingerprints, fingerprint)].tolist()
        return near

    def _equal(self, ordinal: int) -> list[int]:
        """Return the marked atoms with the same text as an atom, if `_near` may not find all of them."""
        facts = self._index.facts
        if facts.fingerprints[ordinal] and not facts.titles[ordinal] and not self._titled:
            return []
        record = record_at(self._rows, ordinal)
        (body,) = bodies_of(self._rows, [record])
        equal = equal_texts(self._rows, self._index, body.content, self._marked)
        return [old.ordinal for old, _ in equal]

    def _superseding(self, ordinal: int) -> tuple[AtomRecord, ...]:
        """If the atom with this ordinal is live, return the live atoms that supersede it.

        The provenance of each returned atom ranks at least as high as the provenance of the superseded atom.
        """
        cached = self._cache.get(ordinal)
        if cached is None:
            old = record_at(self._rows, ordinal)
            edges = edges_at(self._rows, old.id, Direction.IN, [bytes([EdgeType.SUPERSEDES])])
            records = (read_atom(self._rows, edge.src) for edge in edges)
            cached = self._cache[ordinal] = tuple(
                one
                for one in records
                if one is not None
                and one.state is State.LIVE
                and old.state is State.LIVE
                and old.ordinal == ordinal
                and _rank(one) <= _rank(old)
            )
        return cached


def _rank(record: AtomRecord) -> int:
    """Return the rank of an atom's provenance: 0 for internal, 1 for external, 2 for quarantine."""
    return PROVENANCES.index(record.provenance) if record.provenance in PROVENANCES else len(PROVENANCES)


def held_back(rows: Reader, index: IndexFollower, atom: bytes) -> str | None:
    """Return the reason why a live atom is kept out of the hits, or None if it is not kept out.

    Raises:
        NotFoundError: the atom was never recorded.
    """
    record = get_record(rows, atom)
    ordinals = maybe_superseded(rows, NO_FILTERS)
    return SupersededAtoms(rows, index.view(rows), ordinals).reason(record.ordinal) if ordinals else None
