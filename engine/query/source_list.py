"""List the sources of live atoms, with the number of atoms of each, from the columns of the index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backends.base import Reader
from engine.base import limits
from engine.base.validation import positive
from engine.followers.tags import LIVE, members
from engine.index.columns import Facts
from engine.ledger.queries import atom_of, record_at


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """A source of live atoms."""

    source: str
    newest: str
    """The id of the atom that was added or revised last."""
    atoms: int
    """The number of live atoms."""


def sources(rows: Reader, facts: Facts, limit: int) -> list[SourceSummary]:
    """Return at most `limit` sources; the one with the atom that was added or revised last is the first.

    `rows` is a snapshot with the tags at the head, and `facts` are those of its index.

    Raises:
        InvalidInputError: the limit is out of range.
    """
    positive(limit, "limit", limits.RESULTS_MAX)
    live = np.array(members(rows, LIVE), dtype=np.int64)[::-1]
    numbers, first, counts = np.unique(facts.sources[live], return_index=True, return_counts=True)
    order = np.argsort(first)
    found = []
    for at in order[numbers[order] > 0][:limit]:
        atom = atom_of(rows, record_at(rows, int(live[first[at]])))
        if atom.source is not None:
            found.append(SourceSummary(atom.source, atom.id, int(counts[at])))
    return found
