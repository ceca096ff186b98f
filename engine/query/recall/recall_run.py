"""One recall: what all signals read, and the candidates whose scores they change.

A `RecallRun` has the snapshot, the question and the allowed atoms, and what was read so far. A `Pool` has the
candidates with their scores. A `Ranking` is the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from backends.base import Reader
from engine.base.native import NATIVE
from engine.index.index_view import IndexView, TermRows
from engine.index.positions import Positions
from engine.ledger.journal import LogState
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.recall.atom_set import AtomSet
from engine.query.recall.recall_answer import Bridge
from engine.query.recall.recall_config import RecallConfig, Signals
from engine.query.recall.signals.scoring import MICRO, TIES_MAX, Lists, WeightedTerm, idf
from engine.text.language.question_model import Question
from engine.text.language.snippets import LazyReading, Reading, TextReader
from proofs.events import AtomBody
from proofs.leaves import Group

CHARS_MAX: Final = 1 << 20
"""The largest number of characters of the contents in the cache."""


ATOM_CHARS: Final = 1 << 10
"""The number of characters counted for an atom besides its content: about the bytes of its objects."""

B_MAX: Final = 0.95
"""The largest b that the lengths of the texts can lead to."""

ALIAS: Final = "alias"
"""The signal of an alias in the question. Its amounts are always kept, because they decide what a hit is."""


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

    @property
    def b(self) -> float:
        """BM25's b: the configured one, or more if the lengths of texts differ much (`Signals.length`)."""
        return max(self.config.bm25.b, min(B_MAX, self.signals.length * self.index.spread))

    def lists(
        self,
        terms: Sequence[WeightedTerm],
        head: float = 0.0,
        tags: Sequence[tuple[float, BitMap]] = (),
    ) -> Lists:
        """Prepare the scores of documents for weighted terms and tags (see `Lists`)."""
        norms = self.index.norms(self.config.bm25.k1, self.b)
        return Lists(self.index, norms, terms, head, tags)

    def find(self, terms: Sequence[str], *, heads: bool = False) -> dict[str, TermRows]:
        """Return the stored postings of terms; with `heads`, also the postings of the heads.

        All rows that this question has not read yet are read together.
        """
        cached = self._found
        new = [term for term in terms if term not in cached or (heads and not cached[term].heads)]
        if new:
            cached.update(zip(new, self.index.find(new, heads=heads), strict=True))
        return {term: cached[term] for term in terms}

    def df(self, term: str) -> int:
        """Return the number of documents that contain a term."""
        rows = self._found.get(term)
        return self.index.df(term) if rows is None else rows.df

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term. It is highest if no document contains the term."""
        cached = self._idfs.get(term)
        if cached is None:
            cached = self._idfs[term] = idf(self.index.counted, self.df(term))
        return cached

    def read_idfs(self, terms: Iterable[str]) -> None:
        """Read what `idf` needs for these terms in one step: one by one, each term would take a read."""
        new = [term for term in dict.fromkeys(terms) if term not in self._idfs and term not in self._found]
        for term, df in zip(new, self.index.dfs(new), strict=True):
            self._idfs[term] = idf(self.index.counted, df)

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
            whole = self.positions.has_titles or self.question.asks_when
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


class Pool:
    """Candidates in ascending order of their ordinals, with the score of each.

    A pool for an explained answer also keeps the amounts that each signal added to the scores.
    A row is the index of a candidate in the arrays of the pool.
    """

    def __init__(
        self, ordinals: NDArray[np.int64], words: NDArray[np.float64], *, explained: bool = True
    ) -> None:
        """Create a pool of the candidates `ordinals`, which must be distinct.

        `words` holds the score that each candidate has for the query's words. Unless `explained` is set, the
        amounts of all other signals are added to the scores but not kept.
        """
        self.ordinals = ordinals
        self.score = words
        self.factor = np.ones(len(words))
        """For each candidate, the product of all factors that its score was multiplied by."""
        self._ranked: tuple[NDArray[np.float64], int, NDArray[np.int64]] | None = None
        self.parts: dict[str, NDArray[np.float64]] = {"words": words}
        self._is_explained = explained

    def __len__(self) -> int:
        return len(self.ordinals)

    def add(self, signal: str, amounts: NDArray[np.float64]) -> None:
        """Add to each score the amount at the same index, and record it as a contribution of `signal`."""
        self.score = self.score + amounts
        if not (self._is_explained or signal == ALIAS):
            return
        before = self.parts.get(signal)
        self.parts[signal] = amounts if before is None else before + amounts

    def multiply(self, signal: str, factors: NDArray[np.floating]) -> None:
        """Multiply each score by the factor at the same index, as a contribution of `signal`."""
        self.add(signal, self.score * (factors - 1.0))
        self.factor = self.factor * factors

    def rows_of(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for each ordinal, its row in the pool, or −1 if it is not in the pool."""
        if not len(self.ordinals):
            return np.full(len(ordinals), -1, np.int64)
        rows = np.minimum(self.ordinals.searchsorted(ordinals), len(self.ordinals) - 1)
        return np.where(self.ordinals[rows] == ordinals, rows, -1)

    def extended(self, ordinals: NDArray[np.int64], words: NDArray[np.float64]) -> Pool:
        """Return a pool that also contains the candidates `ordinals`, with the scores `words`.

        None of the `ordinals` may be in this pool already.
        """
        if not len(ordinals):
            return self
        every = np.concatenate([self.ordinals, ordinals])
        order = every.argsort(kind="stable")
        nothing = np.zeros(len(ordinals))
        scores = np.concatenate([self.parts["words"], words])[order]
        pool = Pool(every[order], scores, explained=self._is_explained)
        pool.score = np.concatenate([self.score, words])[order]
        pool.factor = np.concatenate([self.factor, nothing + 1.0])[order]
        for signal, amounts in self.parts.items():
            if signal != "words":
                pool.parts[signal] = np.concatenate([amounts, nothing])[order]
        return pool

    def ranked(self, most: int | None = None) -> NDArray[np.int64]:
        """Return the rows of the candidates with a score above 0, the best first.

        Candidates with equal scores are ordered by ordinal. With `most`, candidates after the best `most` may
        be left out, but not candidates whose score equals the score of the last of these.
        """
        most = len(self) if most is None else min(most, len(self))
        if self._ranked is None or self._ranked[0] is not self.score or self._ranked[1] < most:
            raw = None if NATIVE is None else NATIVE.ranked(self.score.tobytes(), most)
            rows = ranked(self.micros, most) if raw is None else np.frombuffer(raw, np.int64)
            self._ranked = self.score, most, rows
        return self._ranked[2]

    @property
    def micros(self) -> NDArray[np.int64]:
        """The score of each candidate in millionths, rounded."""
        return np.rint(self.score * MICRO).astype(np.int64)

    def micros_at(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The score of each of these candidates in millionths, rounded."""
        return np.rint(self.score[rows] * MICRO).astype(np.int64)

    def explained(self, row: int) -> dict[str, float]:
        """Return the amount that each signal added to one candidate, rounded to six decimals.

        Signals that added nothing are left out.
        """
        parts = ((signal, round(float(amounts[row]), 6)) for signal, amounts in self.parts.items())
        return {signal: amount for signal, amount in parts if amount}


def ranked(micros: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the rows of the `most` highest scores above 0, and of all scores equal to the lowest of these.

    The highest score comes first.
    """
    order = np.argsort(-micros, kind="stable")
    lowest = max(1, int(micros[order[most - 1]])) if most else 1
    return order[: np.count_nonzero(micros >= lowest)]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The result of the protocol: the ranked pool, and how its candidates were found."""

    pool: Pool
    entities: tuple[str, ...]
    walked: dict[int, dict[str, float]]
    """The atoms found through shared tags. Each ordinal is mapped to tags, and each tag to the amount that it
    adds to the score."""
    bridges: tuple[Bridge, ...]
    hop_anchors: dict[int, int]
    """The atoms found through the text or the edges of an anchor, which is one of the best candidates. The
    ordinal of each atom is mapped to the ordinal of the best anchor that led to the atom."""
    words: Lists
    """The scores of documents for the words of the question."""
    first: int | None
    """At least this many of the best candidates are final. The walk was left out, because it cannot change
    them (see `complete_if_needed`). None if the whole ranking is final."""


def best_atoms(run: RecallRun, pool: Pool, most: int) -> tuple[NDArray[np.int64], list[LoadedAtom]]:
    """Return the rows of the best candidates (`most` or fewer), and these candidates with their texts."""
    best = best_rows(run.rows, pool, pool.ranked(most), most)
    return best, run.load(pool.ordinals[best].tolist())


def best_rows(snapshot: Reader, pool: Pool, ranked: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the first `most` of some ranked candidates. Those with equal scores are ordered by id.

    Ordinals depend on the order in which a device heard of the atoms, so they must not decide.
    """
    micros = pool.micros_at(ranked[: most + TIES_MAX])
    end = after_equal(micros, most)
    return by_id(snapshot, ranked[:end], pool.ordinals[ranked[:end]], micros[:end])[:most]


def best_ordinals(run: RecallRun, lists: Lists, most: int) -> NDArray[np.int64]:
    """Return the result of `Lists.found`; if many scores are equal, the ids decide which are left out."""
    ordinals, micros = lists.best(run.atoms, most)
    if len(ordinals) > 2 * most:
        ordinals = by_id(run.rows, ordinals, ordinals, micros)
    return ordinals[: 2 * most]


def after_equal(micros: NDArray[np.int64], end: int) -> int:
    """Return the first index from `end` on at which the score differs from the score before it."""
    end = min(end, len(micros))
    while 0 < end < len(micros) and micros[end] == micros[end - 1]:
        end += 1
    return end


def by_id(
    snapshot: Reader, rows: NDArray[np.int64], ordinals: NDArray[np.int64], micros: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows of candidates by descending score. Candidates with equal scores are sorted by id."""
    equal = micros[1:] == micros[:-1]
    if not equal.any():
        return rows
    tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal)).tolist()
    ids = ids_at(snapshot, ordinals[tied].tolist())
    # The places of equal scores are adjacent, so sorting by score and id permutes them among themselves.
    order = sorted(zip((-micros[tied]).tolist(), ids, tied, strict=True))
    sorted_rows = rows.copy()
    sorted_rows[tied] = rows[[at for _, _, at in order]]
    return sorted_rows


def top_score(pool: Pool) -> float:
    """Return the best score of a candidate in the pool, rounded to millionths, or 0 for an empty pool."""
    return int(pool.micros.max()) / MICRO if len(pool) else 0.0
