"""The snapshot of the whole memory from which an answer is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.base.errors import NotFoundError, translated
from engine.base.validation import show_id
from engine.followers.tags import LIVE, members
from engine.index.index_view import IndexView
from engine.index.positions import Positions
from engine.ledger.entities import ENTITY
from engine.ledger.journal import LogState, read_log
from engine.ledger.queries import get_record, resolve_id, short_id
from engine.ledger.records import AtomRecord
from engine.query.atom_labels import name_of
from engine.query.recall.signals.scoring import idf
from engine.query.view import View
from proofs.leaves import Group, State

NAME_CHARS = 32
"""The largest length of an atom's name in a triple, in characters."""


@dataclass(eq=False)
class Scope:
    """A snapshot in which records and all followers are at the head. The data read from it is cached."""

    memory: View
    rows: Reader
    log: LogState

    @cached_property
    def index(self) -> IndexView:
        """The index in this snapshot."""
        return self.memory.store.index.view(self.rows)

    @cached_property
    def positions(self) -> Positions:
        """The positions of atoms in their sources, and all titles."""
        return self.memory.positions.positions(self.index)

    @cached_property
    def live(self) -> BitMap:
        """The ordinals of all live atoms."""
        return members(self.rows, LIVE)

    @cached_property
    def live_mask(self) -> NDArray[np.bool_]:
        """A mask with one value for each ordinal: True if the ordinal belongs to a live atom."""
        mask = np.zeros(self.index.documents, np.bool_)
        mask[np.frombuffer(self.live.to_array(), np.uint32)] = True
        return mask

    @cached_property
    def entities(self) -> BitMap:
        """The ordinals of all live entities."""
        return members(self.rows, (Group.KIND, ENTITY)) & self.live

    def record(self, id: str) -> AtomRecord:  # noqa: A002
        """Return the record of the live atom whose id is `id` or begins with `id`.

        Raises:
            InvalidInputError: `id` does not have the form of an id or of the beginning of an id.
            NotFoundError: no atom's id begins with `id`, or the atom is tombstoned.
            ConflictError: several ids begin with `id`.
        """
        record = get_record(self.rows, resolve_id(self.rows, id))
        if record.state is not State.LIVE:
            state = f"atom {show_id(record.id)} is {record.state.name.lower()}"
            raise NotFoundError(state, hint="the history of the atom shows when and why")
        return record

    def short_id(self, atom: bytes) -> str:
        """Return the first 8 digits of an id, or more if another atom's id begins with the same 8 digits."""
        return short_id(self.rows, atom)

    def weights(self, terms: tuple[str, ...]) -> dict[str, float]:
        """Return the inverse document frequency (idf) of each term."""
        return {term: idf(self.index.documents, self.index.df(term)) for term in terms}

    def name(self, record: AtomRecord) -> str:
        """Return the name to show for an atom: an entity's name, a title, or the beginning of the text."""
        return name_of(self.rows, record, NAME_CHARS)


@contextmanager
def scope_of(memory: View) -> Iterator[Scope]:
    """Yield a snapshot of the memory in which all followers have caught up with the head."""
    with translated(), memory.store.view(*memory.store.followers) as rows:
        yield Scope(memory, rows, read_log(rows))
