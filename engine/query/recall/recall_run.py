"""One recall: the snapshot, the question and the atoms that all signals read, and what was read so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.index.index_view import IndexView, TermRows
from engine.index.positions import Positions
from engine.ledger.journal import LogState
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.recall.atom_set import AtomSet
from engine.query.recall.recall_config import RecallConfig, Signals
from engine.query.recall.signals.scoring import Lists, WeightedTerm, idf
from engine.text.language.question_model import Ask, Question
from engine.text.language.snippets import LazyReading, Reading, TextReader
from proofs.events import AtomBody
from proofs.leaves import Group

CHARS_MAX: Final = 1 << 20
"""The largest number of characters of the contents in the cache."""


ATOM_CHARS: Final = 1 << 10
"""The number of characters counted for an atom besides its content: about the bytes of its objects."""


class AtomCache:
    """Records and bodies of atoms by ordinal, in one state of the journal. Safe to use from several threads.

    Successive questions are often about the same things, and reading an atom takes four rows.
    """

    def __init__(self) -> None:
        self._atoms: dict[int, tuple[AtomRecord, AtomBody]] = {}
        self._chars = 0
        self.get = self._atoms.get
        """Return the atom with an ordinal, or None if it is not in the cache."""

    def add(self, atoms: Iterable[tuple[AtomRecord, AtomBody]]) -> None:
        """Add atoms; forget all others if there would be too many characters."""
        for record, body in atoms:
            size = ATOM_CHARS + len(body.content)
            if self._chars + size > CHARS_MAX:
                self._atoms.clear()
                self._chars = 0
            if size <= CHARS_MAX:
                self._chars += size
                self._atoms[record.ordinal] = record, body


class LatestAtomCache:
    """The known atoms for one state of the journal: the state at the time of the last question."""

    def __init__(self) -> None:
        self._latest: tuple[LogState, AtomCache] | None = None

    def atoms(self, log: LogState) -> AtomCache:
        """Return the atoms that are known in the state `log`."""
        latest = self._latest
        if latest is None or latest[0] != log:
            latest = self._latest = log, AtomCache()
        return latest[1]


class LoadedAtom(NamedTuple):
    """An atom with its content."""

    record: AtomRecord
    body: AtomBody
    reading: Reading | LazyReading
    """The values that are read from the content for the question."""

    @property
    def terms(self) -> list[str]:
        """All terms of the atom's content in order, including stop words (see `Reading`)."""
        return self.reading.terms


@dataclass(eq=False)
class RecallRun:
    """The input of one recall. `atoms` are the live atoms that pass the filters: the allowed atoms."""

    rows: Reader
    index: IndexView
    positions: Positions
    question: Question
    atoms: AtomSet
    config: RecallConfig
    marked: BitMap
    """The ordinals of atoms that may be superseded; empty if the query includes superseded atoms."""
    explain: bool = False
    """True if the answer lists the amounts that signals added to scores, and the candidates left out."""
    known: AtomCache = field(default_factory=AtomCache)
    """Atoms that were read for earlier questions in the same state of the journal."""
    _loaded: dict[int, LoadedAtom] = field(default_factory=dict, init=False)
    _found: dict[str, TermRows] = field(default_factory=dict, init=False)
    _idfs: dict[str, float] = field(default_factory=dict, init=False)

    @property
    def allowed(self) -> BitMap:
        """The ordinals of the allowed atoms."""
        return self.atoms.ordinals

    @property
    def signals(self) -> Signals:
        """The weights of the signals."""
        return self.config.signals

    def members(self, group: Group, value: str) -> BitMap:
        """Return the ordinals of the allowed atoms that have this value, for example a tag."""
        return self.atoms.members(self.rows, group, value)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """An array that holds True for each ordinal of an allowed atom, and False for every other ordinal."""
        return self.atoms.mask

    def lists(
        self,
        terms: Sequence[WeightedTerm],
        head: float = 0.0,
        tags: Sequence[tuple[float, BitMap]] = (),
    ) -> Lists:
        """Prepare the scores of documents for weighted terms and tags (see `Lists`)."""
        norms = self.index.norms(self.config.bm25.k1, self.config.bm25.b)
        return Lists(self.index, norms, [(one.weight, one.rows) for one in terms], head, tags)

    def find(self, terms: Sequence[str], *, heads: bool = False) -> dict[str, TermRows]:
        """Return the stored postings of terms; with `heads`, also the postings of the heads.

        All rows that this question has not read yet are read together.
        """
        found = self._found
        new = [term for term in terms if term not in found or (heads and not found[term].heads)]
        if new:
            found.update(zip(new, self.index.find(new, heads=heads), strict=True))
        return {term: found[term] for term in terms}

    def df(self, term: str) -> int:
        """Return the number of documents that contain a term."""
        rows = self._found.get(term)
        return (self.find([term])[term] if rows is None else rows).df

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term. It is highest if no document contains the term."""
        known = self._idfs.get(term)
        if known is None:
            known = self._idfs[term] = idf(self.index.counted, self.df(term))
        return known

    @cached_property
    def reader(self) -> TextReader:
        """The reader of texts for this question."""
        weights = {term: self.idf(term) for term in self.question.terms}
        return TextReader(weights, self.config.snippet_chars)

    def load(self, ordinals: list[int]) -> list[LoadedAtom]:
        """Return the records and contents of atoms. Each atom is read only once and then cached."""
        loaded = self._loaded
        new = [ordinal for ordinal in dict.fromkeys(ordinals) if ordinal not in loaded]
        if new:
            records, bodies = self._read(new)
            whole = self.positions.has_titles or self.question.ask is Ask.WHEN
            readings = self.reader.read([body.content for body in bodies], whole=whole)
            loaded.update(zip(new, map(LoadedAtom, records, bodies, readings), strict=True))
        return [loaded[ordinal] for ordinal in ordinals]

    def _read(self, ordinals: Sequence[int]) -> tuple[list[AtomRecord], list[AtomBody]]:
        """Return the records and the bodies of atoms."""
        found = list(map(self.known.get, ordinals))
        unknown = [ordinal for ordinal, atom in zip(ordinals, found, strict=True) if atom is None]
        records = records_of(self.rows, ids_at(self.rows, unknown))
        bodies = bodies_of(self.rows, records)
        if len(unknown) == len(ordinals):
            self.known.add(zip(records, bodies, strict=True))
            return records, bodies
        new = list(zip(records, bodies, strict=True))
        read = iter(new)
        every = [next(read) if atom is None else atom for atom in found]
        self.known.add(new)
        return [record for record, _ in every], [body for _, body in every]

    def atom(self, ordinal: int) -> LoadedAtom:
        """Return the record and content of one atom, as `load` does."""
        return self._loaded.get(ordinal) or self.load([ordinal])[0]
