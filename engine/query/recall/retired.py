"""What was superseded stays away from answers, and so does what says almost the same.

A correction that is not told apart from copies of what it corrects is undone by the next of them. So a
near-duplicate of a superseded atom is left out, too, but for the atom that superseded it: a correction
often differs in a single word.

Superseded is what a live edge `supersedes` leads to, from a live atom that is as much of our own: what
comes from outside cannot silence what does not. The tag `superseded` is only how such atoms are found
fast; by itself it says nothing, for notes have tags of all kinds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.base.model import Direction
from engine.base.validation import PROVENANCES, show_id
from engine.commands.merge import SUPERSEDES
from engine.followers.index import IndexFollower
from engine.followers.index_view import IndexView
from engine.ledger.queries import edges_at, get_record, record_at
from engine.ledger.records import AtomRecord, read_atom
from engine.query.duplicates import are_near
from engine.query.filters import NO_FILTERS, marked
from proofs.leaves import State


class Retired:
    """The superseded atoms of one snapshot, which no answer is to be or to resemble."""

    def __init__(self, rows: Reader, view: IndexView, marked: BitMap) -> None:
        """`marked`: the ordinals of what may be superseded; empty where that is asked for."""
        self._rows = rows
        self._view = view
        self._marked = marked
        self._by: dict[int, tuple[AtomRecord, ...]] = {}
        listed = np.frombuffer(marked.to_array(), np.uint32).astype(np.int64)
        listed = listed[listed < view.documents]
        prints = view.facts.fingerprints[listed] if len(listed) else np.zeros(0, np.uint64)
        # 0 stands for a text too short to have a fingerprint.
        self._ordinals: NDArray[np.int64] = listed[prints > 0]
        self._prints: NDArray[np.uint64] = prints[prints > 0]

    def why(self, ordinal: int) -> str | None:
        """Why the atom of this ordinal must not answer: it was superseded, or repeats what was; or None."""
        if not self._marked:
            return None
        if ordinal in self._marked and (by := self._superseding(ordinal)):
            return f"superseded by {show_id(by[0].id)}"
        return self._like(ordinal)

    def is_superseded(self, ordinal: int) -> bool:
        """Whether the atom with this ordinal was."""
        return ordinal in self._marked and bool(self._superseding(ordinal))

    def _like(self, ordinal: int) -> str | None:
        own = self._view.facts.fingerprints[ordinal]
        if not len(self._prints) or not own:
            return None
        record = None
        for old in self._ordinals[are_near(self._prints, own)].tolist():
            record = record or record_at(self._rows, ordinal)
            by = self._superseding(old)
            if any(one.id == record.id for one in by):
                return None
            if any(_rank(one) <= _rank(record) for one in by) and old != ordinal:
                return f"like {show_id(record_at(self._rows, old).id)}, which is superseded"
        return None

    def _superseding(self, ordinal: int) -> tuple[AtomRecord, ...]:
        """The live atoms that supersede a live one, and are as much of our own."""
        found = self._by.get(ordinal)
        if found is None:
            old = record_at(self._rows, ordinal)
            edges = edges_at(self._rows, old.id, Direction.IN, [SUPERSEDES])
            records = (read_atom(self._rows, edge.src) for edge in edges)
            found = self._by[ordinal] = tuple(
                one
                for one in records
                if one is not None
                and one.state is State.LIVE
                and old.state is State.LIVE
                and old.ordinal == ordinal
                and _rank(one) <= _rank(old)
            )
        return found


def _rank(record: AtomRecord) -> int:
    """0 for what is our own, 2 for what is in quarantine."""
    return PROVENANCES.index(record.provenance) if record.provenance in PROVENANCES else len(PROVENANCES)


def held_back(rows: Reader, index: IndexFollower, atom: bytes) -> str | None:
    """Why a live atom answers no question: it was superseded, or repeats what was; None if it may.

    Raises:
        NotFoundError: it was never recorded.
    """
    record = get_record(rows, atom)
    found = marked(rows, NO_FILTERS)
    return Retired(rows, index.view(rows), found).why(record.ordinal) if found else None
