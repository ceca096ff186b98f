"""What one answer is read from: a snapshot of the whole memory at one head."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.base.error_translation import translated
from engine.base.errors import NotFoundError
from engine.base.validation import show_id
from engine.followers.index_view import IndexView
from engine.followers.tags import LIVE, members
from engine.ledger.entities import ENTITY
from engine.ledger.journal import LogState, read_log
from engine.ledger.layout import ATOM
from engine.ledger.queries import body_of, get_record, resolve_id
from engine.ledger.records import AtomRecord
from engine.query.budget import ID_DIGITS
from engine.query.positions import Positions
from engine.query.recall.signals.bm25 import idf
from engine.query.snippets import beginning
from engine.query.view import View
from proofs.leaves import State
from proofs.sets import Group

NAMED_BY_TEXT = frozenset({ENTITY, "observation"})
"""Kinds whose title is what they are of (`engine.knowledge`), not what they are."""

NAME_CHARS = 32
"""How much of a title or text stands for an atom in a triple."""


@dataclass(eq=False)
class Scope:
    """A snapshot in which records and all followers are at the head, and what is read of it once."""

    memory: View
    rows: Reader
    log: LogState

    @cached_property
    def view(self) -> IndexView:
        """The index."""
        return self.memory.store.index.view(self.rows)

    @cached_property
    def positions(self) -> Positions:
        """Who stands where in which source, and which titles there are."""
        return self.memory.positions.positions(self.view)

    @cached_property
    def live(self) -> BitMap:
        """The ordinals of all live atoms."""
        return members(self.rows, LIVE)

    @cached_property
    def live_mask(self) -> NDArray[np.bool_]:
        """The same as an array."""
        mask = np.zeros(self.view.documents, np.bool_)
        mask[np.frombuffer(self.live.to_array(), np.uint32)] = True
        return mask

    @cached_property
    def entities(self) -> BitMap:
        """The ordinals of all live entities."""
        return members(self.rows, (Group.KIND, ENTITY)) & self.live

    def record(self, given: str) -> AtomRecord:
        """The record of the live atom whose id is `given`, or begins so.

        Raises:
            InvalidInputError: it is not the beginning of an id.
            NotFoundError: no atom's id begins so, or it is tombstoned.
            ConflictError: several do.
        """
        record = get_record(self.rows, resolve_id(self.rows, given))
        if record.state is not State.LIVE:
            state = f"atom {show_id(record.id)} is {record.state.name.lower()}"
            raise NotFoundError(state, hint="its history says when and why")
        return record

    def short_id(self, atom: bytes) -> str:
        """The first digits of an id: 8, or as many as no other atom's id begins with."""
        rows, key = self.rows, ATOM + atom
        before = next(rows.scan(ATOM, key, reverse=True), None)
        after = next(rows.scan(key + b"\x00", ATOM + b"\xff" * 17), None)
        digits = atom.hex()
        others = (found[0][len(ATOM) :].hex() for found in (before, after) if found is not None)
        alike = max((_alike(digits, other) for other in others), default=0)
        return digits[: max(ID_DIGITS, alike + 1)]

    def weights(self, terms: tuple[str, ...]) -> dict[str, float]:
        """How telling each term is: its idf."""
        return {term: idf(self.view.documents, self.view.df(term)) for term in terms}

    def name(self, record: AtomRecord) -> str:
        """What an atom is called: an entity's name, a title, or the beginning of the text."""
        if record.kind not in NAMED_BY_TEXT and record.title is not None:
            return beginning(record.title, NAME_CHARS)
        return beginning(body_of(self.rows, record).content, NAME_CHARS)


def _alike(one: str, other: str) -> int:
    """How many characters two different texts of one length begin with in common."""
    return next(at for at, (left, right) in enumerate(zip(one, other, strict=True)) if left != right)


@contextmanager
def scope_of(memory: View) -> Iterator[Scope]:
    """The memory at its head, everything brought up to it."""
    with translated(), memory.store.view(*memory.store.followers) as rows:
        yield Scope(memory, rows, read_log(rows))
