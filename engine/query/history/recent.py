"""List the atoms that were added last, with the time of the addition and the actor."""

from __future__ import annotations

from dataclasses import dataclass

from backends.base import Reader
from engine.base import limits
from engine.base.model import Atom
from engine.base.validation import instance, integer, positive
from engine.ledger.journal import read_header
from engine.ledger.queries import atom_of, body_of, record_at
from engine.query.filters import NO_FILTERS, Filters, answering, in_categories


@dataclass(frozen=True, slots=True)
class Added:
    """An atom and the event that added it."""

    atom: Atom
    """The atom as it is now."""
    seq: int
    """The seq of the event that added the atom."""
    time: int
    """The time of this event, in µs since 1970 (UTC). `atom.created` may be an earlier time."""
    actor: str
    """The actor of this event."""


def recent(rows: Reader, *, limit: int, offset: int = 0, filters: Filters = NO_FILTERS) -> list[Added]:
    """Return at most `limit` live atoms that pass `filters`, the one added last first.

    The first `offset` of these atoms are skipped. Entities are left out unless `filters` names kinds. `rows`
    is a snapshot with the follower `tags` at the head.

    Raises:
        InvalidInputError: a number is out of range, or a filter is not valid for its field.
    """
    instance(filters, Filters, "filters")
    positive(limit, "limit", limits.RESULTS_MAX)
    skipped = integer(offset, "offset")
    ordinals = answering(rows, filters)
    found: list[Added] = []
    for at in range(len(ordinals) - 1, -1, -1):
        if filters.categories:
            record = record_at(rows, ordinals[at])
            if not in_categories(body_of(rows, record), record.tags, filters.categories):
                continue
        if skipped:
            skipped -= 1
            continue
        record = record_at(rows, ordinals[at])
        header, _ = read_header(rows, record.created_seq)
        found.append(Added(atom_of(rows, record), header.seq, header.time, header.actor))
        if len(found) == limit:
            break
    return found
