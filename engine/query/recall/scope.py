"""The data that all signals read during one recall: a snapshot, the question and the allowed atoms."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.followers.index_view import IndexView
from engine.followers.tags import members
from engine.language.model import Question
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.positions import Positions
from engine.query.recall.config import RecallConfig, Signals
from engine.query.recall.reading import Reading, TextReader
from engine.query.recall.signals.bm25 import idf
from proofs.events import AtomBody
from proofs.sets import Group


class LoadedAtom(NamedTuple):
    """An atom with its content."""

    record: AtomRecord
    body: AtomBody
    reading: Reading
    """What the question reads in the content."""

    @property
    def terms(self) -> list[str]:
        """All terms of the atom's content in order, including stop words (see `Reading`)."""
        return self.reading.terms


@dataclass(eq=False)
class RecallScope:
    """The input of one recall.

    `allowed` holds the ordinals of the live atoms that pass the filters; these atoms are the allowed atoms.
    """

    rows: Reader
    index: IndexView
    positions: Positions
    question: Question
    allowed: BitMap
    config: RecallConfig
    marked: BitMap
    """The ordinals of atoms that may be superseded; empty if the query includes superseded atoms."""
    _loaded: dict[int, LoadedAtom] = field(default_factory=dict, init=False)
    _dfs: dict[str, int] = field(default_factory=dict, init=False)

    @property
    def signals(self) -> Signals:
        """The weights of the signals."""
        return self.config.signals

    def members(self, group: Group, value: str) -> BitMap:
        """Return the ordinals of the allowed atoms that have this value, for example a tag.

        The ordinals are read from a set of the follower `tags`.
        """
        return members(self.rows, (group, value), self.index.documents) & self.allowed

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """An array that holds True for each ordinal of an allowed atom, and False for every other ordinal."""
        return self.mask_of(self.allowed)

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """For each ordinal, the factor by which the score of the atom is multiplied.

        The factor is 0 for an atom that is not allowed, and below 1 for an allowed atom that is not internal.
        """
        share = self.mask.astype(np.float64)
        return share if self.provenance_factors is None else share * self.provenance_factors

    def mask_of(self, members: BitMap) -> NDArray[np.bool_]:
        """Return an array that holds True for each ordinal in `members` and False for every other ordinal."""
        mask = np.zeros(self.index.documents, np.bool_)
        listed = np.frombuffer(members.to_array(), np.uint32)
        mask[listed[: int(listed.searchsorted(self.index.documents))]] = True
        return mask

    @cached_property
    def provenance_factors(self) -> NDArray[np.float64] | None:
        """For each ordinal, the factor for the atom's provenance; None if every allowed atom is internal.

        The factor is 1 / w for an external atom (Standard 065) and 1 / w² for an atom in quarantine, where w
        is the weight of the signal `internal`. If w is 1, the result is None.
        """
        factors = None
        for name, power in (("external", 1), ("quarantine", 2)):
            there = self.members(Group.PROVENANCE, name)
            if there and self.signals.internal != 1.0:
                factors = np.ones(self.index.documents) if factors is None else factors
                factors[self.mask_of(there)] = self.signals.internal**-power
        return factors

    def df(self, term: str) -> int:
        """Return the number of documents that contain a term."""
        found = self._dfs.get(term)
        if found is None:
            found = self._dfs[term] = self.index.df(term)
        return found

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term. It is highest if no document contains the term."""
        return idf(self.index.counted, self.df(term))

    @cached_property
    def reader(self) -> TextReader:
        """The reader of texts for this question."""
        weights = {term: self.idf(term) for term in self.question.terms}
        return TextReader(weights, self.config.snippet_chars)

    def load(self, ordinals: list[int]) -> list[LoadedAtom]:
        """Return the records and contents of atoms. Each atom is read once and then cached."""
        new = [ordinal for ordinal in dict.fromkeys(ordinals) if ordinal not in self._loaded]
        if new:
            records = records_of(self.rows, ids_at(self.rows, new))
            for ordinal, record, body in zip(new, records, bodies_of(self.rows, records), strict=True):
                self._loaded[ordinal] = LoadedAtom(record, body, Reading(self.reader, body.content))
        return [self._loaded[ordinal] for ordinal in ordinals]
