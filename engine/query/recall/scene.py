"""What every signal of one recall reads: the store at one head, the question, and what it may answer with."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.followers.index_view import IndexView
from engine.followers.tags import members
from engine.language.model import Question
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.positions import Places
from engine.query.recall.config import RecallConfig, Signals
from engine.query.recall.signals.bm25 import idf
from engine.text.analyzer import index_terms
from proofs.events import AtomBody
from proofs.sets import Group


@dataclass(eq=False)
class Text:
    """An atom with its content, read once."""

    record: AtomRecord
    body: AtomBody

    @cached_property
    def terms(self) -> list[str]:
        """All terms of its content in order, stop words included."""
        return index_terms(self.body.content)


@dataclass(eq=False)
class Scene:
    """One recall's surroundings. `allowed` are the live ordinals that the filters let through."""

    rows: Reader
    view: IndexView
    places: Places
    question: Question
    allowed: BitMap
    config: RecallConfig
    marked: BitMap
    """The ordinals of atoms that may be superseded; empty where these are asked for."""
    _texts: dict[int, Text] = field(default_factory=dict, init=False)
    _dfs: dict[str, int] = field(default_factory=dict, init=False)

    @property
    def signals(self) -> Signals:
        """The weights of the signals."""
        return self.config.signals

    def members(self, group: Group, value: str) -> BitMap:
        """The allowed ordinals in one of the sets of the `tags` follower."""
        return members(self.rows, (group, value), self.view.documents) & self.allowed

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Whether each ordinal is allowed."""
        return self.mask_of(self.allowed)

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """How much of its score an ordinal keeps: none if not allowed, less if it came from outside."""
        share = self.mask.astype(np.float64)
        return share if self.outside is None else share * self.outside

    def mask_of(self, members: BitMap) -> NDArray[np.bool_]:
        """Whether each ordinal is in a set."""
        mask = np.zeros(self.view.documents, np.bool_)
        listed = np.frombuffer(members.to_array(), np.uint32)
        mask[listed[: int(listed.searchsorted(self.view.documents))]] = True
        return mask

    @cached_property
    def outside(self) -> NDArray[np.float64] | None:
        """The factor of each ordinal for where it came from; None where everything is internal.

        What is external counts so much less than what is internal (Standard 065), what is in
        quarantine less by as much again.
        """
        factors = None
        for name, power in (("external", 1), ("quarantine", 2)):
            there = self.members(Group.PROVENANCE, name)
            if there and self.signals.internal != 1.0:
                factors = np.ones(self.view.documents) if factors is None else factors
                factors[self.mask_of(there)] = self.signals.internal**-power
        return factors

    def df(self, term: str) -> int:
        """How many documents mention a term."""
        found = self._dfs.get(term)
        if found is None:
            found = self._dfs[term] = self.view.df(term)
        return found

    def idf(self, term: str) -> float:
        """How much a term tells; as much as the rarest for one that is nowhere."""
        return idf(self.view.counted, self.df(term))

    def texts(self, ordinals: list[int]) -> list[Text]:
        """The records and contents of atoms; each is read once."""
        new = [ordinal for ordinal in dict.fromkeys(ordinals) if ordinal not in self._texts]
        if new:
            records = records_of(self.rows, ids_at(self.rows, new))
            for ordinal, record, body in zip(new, records, bodies_of(self.rows, records), strict=True):
                self._texts[ordinal] = Text(record, body)
        return [self._texts[ordinal] for ordinal in ordinals]
