"""What the dreamer knows of a store at one moment: who has which words, and what is common and what rare.

Counted are live atoms that are no entities and are internal. Whatever the dreamer adds changes none of these
figures, nor does anything that came from outside: names are learned from what is our own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, partial
from typing import Final, NamedTuple, TypeVar

from pyroaring import BitMap

from backends.base import Reader
from engine.followers.index_view import IndexView
from engine.followers.tags import LIVE, members
from engine.knowledge.dreaming.config import DreamConfig
from engine.knowledge.dreaming.pages import TokenizedText, Tokens, is_given_name
from engine.language.categories import Category, categories_of
from engine.ledger.entities import ENTITY
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.filters import mentioning
from engine.text.analyzer import index_terms
from engine.text.words import STOP_WORDS
from proofs.events import AtomBody
from proofs.sets import Group

KEPT_MAX: Final = 8192
"""So many sets, and so many pages, are kept in memory; then they are read anew."""
PAIR_EVIDENCE: Final = 8
"""So many atoms that have both words of a phrase are read to find a second one that has the phrase."""

Pair = tuple[str, str]
"""Two words side by side, in small letters."""

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class Text(NamedTuple):
    """An atom, read."""

    record: AtomRecord
    body: AtomBody
    page: TokenizedText


class Survey:
    """A snapshot in which records, tags and index are at the head, and what was read of it so far."""

    def __init__(self, rows: Reader, view: IndexView, config: DreamConfig) -> None:
        self.rows = rows
        self.view = view
        self.config = config
        live = members(rows, LIVE)
        self.entities: BitMap = live & members(rows, (Group.KIND, ENTITY))
        texts = live - self.entities
        self.internal: BitMap = texts & members(rows, (Group.PROVENANCE, "internal"))
        self.texts: BitMap = self.internal | (texts & members(rows, (Group.PROVENANCE, "external")))
        """What is in quarantine is not looked at."""
        self._terms: dict[str, BitMap] = {}
        self._having: dict[tuple[str, ...], BitMap] = {}
        self._read: dict[int, Text] = {}
        self._pairs: dict[Pair, bool] = {}
        self.phrases: dict[int, tuple[Pair, ...]] = {}
        """Ordinal → the phrases chosen for its text."""

    def fits(self, count: int, among: BitMap) -> bool:
        """Whether so many atoms are neither too few nor too many of `among` to share a tag."""
        most = max(self.config.hub_min, int(self.config.hub_share * len(among)))
        return self.config.atoms_min <= count <= most

    def having(self, words: tuple[str, ...]) -> BitMap:
        """The texts that have all of some words, wherever in them."""

        def made() -> BitMap:
            terms = [term for word in words for term in index_terms(word)]
            telling = [term for term in terms if term not in STOP_WORDS] or terms
            different = dict.fromkeys(telling)
            sets = [kept(self._terms, term, partial(mentioning, self.view, term)) for term in different]
            return BitMap.intersection(self.texts, *sets) if sets else BitMap()

        return kept(self._having, words, made)

    def read(self, ordinals: Sequence[int]) -> list[Text]:
        """The atoms of some ordinals."""
        new = [ordinal for ordinal in ordinals if ordinal not in self._read]
        if len(self._read) + len(new) > KEPT_MAX:
            self._read.clear()
            new = list(ordinals)
        if new:
            records = records_of(self.rows, ids_at(self.rows, new))
            for ordinal, record, body in zip(new, records, bodies_of(self.rows, records), strict=True):
                page = TokenizedText(body.title, body.content, self.config.chars)
                self._read[ordinal] = Text(record, body, page)
        return [self._read[ordinal] for ordinal in ordinals]

    def is_name(self, tokens: Tokens) -> bool:
        """Whether a run of capitalised words is a name, judged by how the store uses its words."""
        having = self.having(tokens.words) & self.internal
        if len(having) < self.name_atoms_min or not self.fits(len(having), self.internal):
            return False
        uses = [text.page.uses(tokens) for text in self.read(having[: self.config.evidence].to_array())]
        written = sum(1 for use in uses if use.inside or use.begins)
        inside = sum(1 for use in uses if use.inside)
        lower = sum(1 for use in uses if use.other)
        if written < self.name_atoms_min or lower > self.config.lower_share * len(uses):
            return False
        # Several words with capitals are one name; a single one may only have begun two sentences.
        enough = 1 if len(tokens.words) > 1 or is_given_name(tokens) else self.config.atoms_min
        return inside >= enough or (is_given_name(tokens) and written >= self.config.atoms_min)

    def sharing(self, pair: Pair) -> int:
        """How many texts have two words; 0 where they are too few or too many to have a phrase in common."""
        having = self.having(pair).intersection_cardinality(self.internal)
        most = max(self.config.phrase_min, int(self.config.phrase_share * len(self.internal)))
        return having if self.config.atoms_min <= having <= most else 0

    @cached_property
    def name_atoms_min(self) -> int:
        """In how many internal texts a name must be to be learned: more for each factor of ten."""
        return max(self.config.name_atoms_min, len(str(len(self.internal))) - 1)

    def is_phrase(self, pair: Pair) -> bool:
        """Whether two words that `sharing` counts stand side by side in several texts."""

        def made() -> bool:
            having = self.having(pair) & self.internal
            texts = self.read(having[:PAIR_EVIDENCE].to_array())
            return sum(1 for text in texts if text.page.has_pair(*pair)) >= self.config.atoms_min

        return kept(self._pairs, pair, made)

    @cached_property
    def categories(self) -> frozenset[Category]:
        """Those that not too many of the texts have, told by a sample evenly spread over them."""
        chosen = spread(self.internal, self.config.category_sample)
        counts = dict.fromkeys(Category, 0)
        for text in self.read(chosen):
            for category in categories_of(text.body.content, text.body.title):
                counts[category] += 1
        most = max(self.config.hub_min, self.config.hub_share * len(chosen))
        return frozenset(category for category, found in counts.items() if found <= most)


def spread(ordinals: BitMap, most: int) -> list[int]:
    """At most so many of them, evenly spread, ascending."""
    count = min(len(ordinals), most)
    return [ordinals[number * len(ordinals) // count] for number in range(count)]


def kept(where: dict[Key, Made], key: Key, made: Callable[[], Made]) -> Made:
    """What is kept under a key, made if it is not there; of too much all is forgotten."""
    if key not in where:
        if len(where) >= KEPT_MAX:
            where.clear()
        where[key] = made()
    return where[key]
