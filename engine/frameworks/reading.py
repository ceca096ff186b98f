"""Reading the atoms that an adapter wrote. One call reads all its atoms from one snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple, TypeVar

from backends.base import Snapshot
from engine.base.error_translation import translated
from engine.base.validation import atom_id, show_id
from engine.engine import Engine
from engine.followers.tags import LIVE, members, values
from engine.frameworks.values import is_packed
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord, read_atom
from engine.query.filters import Filters, allowed
from proofs.events import AtomBody
from proofs.leaves import State
from proofs.sets import Group

Item = TypeVar("Item")

_FIRST, _AT_ONCE = 16, 512
"""The number of atoms in the first read, and the maximum number in one read."""


class Held(NamedTuple):
    """A live atom that holds a value."""

    record: AtomRecord
    body: AtomBody

    @property
    def id(self) -> str:
        """The id of the atom."""
        return show_id(self.record.id)


@contextmanager
def snapshot(memory: Engine) -> Iterator[Snapshot]:
    """Yield a snapshot of the memory in which the follower `tags` is at the head of the journal."""
    with translated(), memory.store.view(memory.store.tags) as rows:
        yield rows


def records_passing(rows: Snapshot, filters: Filters) -> Iterator[AtomRecord]:
    """Yield the records of the live atoms that pass `filters`, the atom with the newest content first."""
    for some in _in_parts(sorted(allowed(rows, filters), reverse=True)):
        yield from records_of(rows, ids_at(rows, some))


def values_of(rows: Snapshot, records: Iterable[AtomRecord]) -> Iterator[Held]:
    """Yield the atoms of these records. Atoms that do not contain a value are left out."""
    for some in _in_parts(records):
        for record, body in zip(some, bodies_of(rows, some), strict=True):
            if is_packed(body.meta or {}):
                yield Held(record, body)


def _in_parts(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in longer and longer lists, because the caller often needs only the first items."""
    rest, most = iter(items), _FIRST
    while some := list(islice(rest, most)):
        yield some
        most = min(2 * most, _AT_ONCE)


def sources_in(rows: Snapshot, bucket: str, first: str) -> Iterator[str]:
    """Yield, in ascending order, the sources that begin with `first` and have a live atom in the bucket."""
    here = members(rows, LIVE) & members(rows, (Group.BUCKET, bucket))
    for source in values(rows, Group.SOURCE, first):
        if not source.startswith(first):
            return
        if here & members(rows, (Group.SOURCE, source)):
            yield source


def live_records(rows: Snapshot, ids: Sequence[str]) -> dict[str, AtomRecord]:
    """Return the records of the live atoms among `ids`, by id."""
    found = ((one, read_atom(rows, atom_id(one))) for one in ids)
    return {one: record for one, record in found if record is not None and record.state is State.LIVE}
