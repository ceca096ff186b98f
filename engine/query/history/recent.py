"""List the atoms that were added last, each with its actor and the time at which it was added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING

from backends.base import Reader
from engine.base import limits
from engine.base.model import Atom
from engine.base.validation import instance, integer, positive
from engine.ledger.journal import read_header
from engine.ledger.queries import atom_of, record_at
from engine.ledger.records import AtomRecord
from engine.query.filters import NO_FILTERS, Filters, answering, meets_categories

if TYPE_CHECKING:
    from pyroaring import BitMap


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
    """Return at most `limit` live atoms that pass `filters`; the atom that was added last is the first.

    The first `offset` atoms are skipped. Entities are left out unless `filters` names kinds. `rows` is a
    snapshot with the follower `tags` at the head.

    Raises:
        InvalidInputError: a number is out of range, or a filter is not valid for its field.
    """
    instance(filters, Filters, "filters")
    positive(limit, "limit", limits.RESULTS_MAX)
    first, wanted = integer(offset, "offset"), filters.categories
    passing = (
        record
        for record in _by_addition(rows, answering(rows, filters))
        if meets_categories(rows, record, wanted)
    )
    return [_added(rows, record) for record in islice(passing, first, first + limit)]


def _added(rows: Reader, record: AtomRecord) -> Added:
    header, _ = read_header(rows, record.created_seq)
    return Added(atom_of(rows, record), header.seq, header.time, header.actor)


def _by_addition(rows: Reader, ordinals: BitMap) -> Iterator[AtomRecord]:
    """Yield the records with these ordinals. The atom that was added last is the first.

    A revision gives an atom a new ordinal, so a high ordinal may belong to an old atom. Atoms are read in
    descending order of ordinals. The events that assigned the ordinals of unread atoms are earlier than the
    payloads of all atoms read so far. So every unread atom was added before the earliest of these payloads.
    Every atom that was added after this payload has been read, and can be yielded.
    """
    waiting: list[tuple[int, int, AtomRecord]] = []
    earliest = limits.INTEGER_MAX
    for at in range(len(ordinals) - 1, -1, -1):
        record = record_at(rows, ordinals[at])
        heappush(waiting, (-record.created_seq, record.ordinal, record))
        earliest = min(earliest, record.payload_seq)
        while waiting and -waiting[0][0] >= earliest:
            yield heappop(waiting)[2]
    while waiting:
        yield heappop(waiting)[2]
