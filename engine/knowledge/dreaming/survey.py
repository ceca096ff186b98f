"""The statistics of a store at one moment: the texts that contain a word, and the frequency of each word.

Only live internal atoms that are not entities are counted. So neither the additions of the dreamer nor
external texts change the statistics, and names are learned only from internal texts.
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
from engine.knowledge.dreaming.tokenized_text import Name, TokenizedText, Tokens, is_given_name
from engine.language.categories import TEXT_CHARS_MAX, Category, categories_of
from engine.language.categories.rules import categories_in
from engine.ledger.entities import ENTITY
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.query.filters import mentioning
from engine.text.analyzer import index_terms
from engine.text.words import STOP_WORDS
from proofs.events import AtomBody
from proofs.sets import Group

CACHED_MAX: Final = 1 << 16
"""The largest number of entries in each cache. A full cache is cleared, except the cache of texts."""
TOKENS_MAX: Final = 1 << 21
"""The largest number of tokens in the cache of texts; these tokens take about 100 MB. The least recently used
texts are dropped."""
PAIR_EVIDENCE: Final = 8
"""To decide whether two words are a phrase in several texts, at most this many atoms with both words are
read."""

Pair = tuple[str, str]
"""Two words in lower case that are adjacent in a text."""

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class ReadAtom(NamedTuple):
    """An atom with its record, body and tokens."""

    record: AtomRecord
    body: AtomBody
    tokenized: TokenizedText

    @property
    def categories(self) -> tuple[Category, ...]:
        """The categories of the atom."""
        content, tokenized = self.body.content, self.tokenized
        if len(content) > min(TEXT_CHARS_MAX, tokenized.chars):
            return categories_of(content, self.body.title)
        return categories_in(tokenized.read, tokenized.named)


class Survey:
    """A snapshot in which records, tags and index are at the head. The data read from it is cached."""

    def __init__(self, rows: Reader, view: IndexView, config: DreamConfig) -> None:
        self.rows = rows
        self.view = view
        self.config = config
        live = members(rows, LIVE)
        self.entities: BitMap = live & members(rows, (Group.KIND, ENTITY))
        texts = live - self.entities
        self.internal: BitMap = texts & members(rows, (Group.PROVENANCE, "internal"))
        self.texts: BitMap = self.internal | (texts & members(rows, (Group.PROVENANCE, "external")))
        """The ordinals of all texts except texts in quarantine."""
        self._terms: dict[str, BitMap] = {}
        self._containing: dict[tuple[str, ...], BitMap] = {}
        self._read: dict[int, ReadAtom] = {}
        self._tokens = 0
        """The number of tokens of the texts in `_read`."""
        self._pairs: dict[Pair, bool] = {}
        self.names: dict[int, list[Name]] = {}
        """The ordinal of an atom → the names chosen for the text of the atom. Names are chosen only after all
        names of the round are known."""
        self.connected: set[tuple[bytes, bytes]] = set()
        """The pairs of entities that are known to be related. These pairs need no further work."""
        self.phrases: dict[int, tuple[Pair, ...]] = {}
        """The ordinal of an atom → the phrases chosen for the text of the atom."""

    def fits(self, count: int, among: BitMap) -> bool:
        """Return True if `count` atoms of the set `among` are neither too few nor too many for a tag."""
        most = max(self.config.hub_min, int(self.config.hub_share * len(among)))
        return self.config.atoms_min <= count <= most

    def containing(self, words: tuple[str, ...]) -> BitMap:
        """Return the ordinals of the texts that contain all of the words, in any order."""

        def made() -> BitMap:
            terms = [term for word in words for term in index_terms(word)]
            content = [term for term in terms if term not in STOP_WORDS] or terms
            different = dict.fromkeys(content)
            sets = [cached(self._terms, term, partial(mentioning, self.view, term)) for term in different]
            return BitMap.intersection(self.texts, *sets) if sets else BitMap()

        return cached(self._containing, words, made)

    def read(self, ordinals: Sequence[int]) -> list[ReadAtom]:
        """Return the atoms with these ordinals."""
        known = self._read
        found = {ordinal: known.pop(ordinal) for ordinal in ordinals if ordinal in known}
        new = [ordinal for ordinal in ordinals if ordinal not in found]
        if new:
            records = records_of(self.rows, ids_at(self.rows, new))
            for ordinal, record, body in zip(new, records, bodies_of(self.rows, records), strict=True):
                tokenized = TokenizedText(body.title, body.content, self.config.chars)
                found[ordinal] = ReadAtom(record, body, tokenized)
                self._tokens += len(tokenized.words)
        known.update(found)  # the texts used last are the last in the dictionary
        while self._tokens > TOKENS_MAX or len(known) > CACHED_MAX:
            self._tokens -= len(known.pop(next(iter(known))).tokenized.words)
        return [found[ordinal] for ordinal in ordinals]

    def is_name(self, tokens: Tokens) -> bool:
        """Return True if a sequence of capitalised words is a name.

        The decision depends on how the words are used in the texts that contain them.
        """
        ordinals = self.containing(tokens.words) & self.internal
        if len(ordinals) < self.name_atoms_min or not self.fits(len(ordinals), self.internal):
            return False
        uses = [
            text.tokenized.uses(tokens) for text in self.read(ordinals[: self.config.evidence].to_array())
        ]
        written = sum(1 for use in uses if use.inside or use.begins)
        inside = sum(1 for use in uses if use.inside)
        lower = sum(1 for use in uses if use.other)
        if written < self.name_atoms_min or lower > self.config.lower_share * len(uses):
            return False
        # For several capitalised words, one use within a sentence is enough; a single word needs more.
        enough = 1 if len(tokens.words) > 1 or is_given_name(tokens) else self.config.atoms_min
        return inside >= enough or (is_given_name(tokens) and written >= self.config.atoms_min)

    def sharing(self, pair: Pair) -> int:
        """Return the number of texts with both words, or 0 if it is too low or too high for a phrase."""
        count = self.containing(pair).intersection_cardinality(self.internal)
        most = max(self.config.phrase_min, int(self.config.phrase_share * len(self.internal)))
        return count if self.config.atoms_min <= count <= most else 0

    @cached_property
    def name_atoms_min(self) -> int:
        """The smallest number of internal texts that must contain a name for the name to be learned.

        The number grows with the size of the store.
        """
        return max(self.config.name_atoms_min, len(str(len(self.internal))) - 1)

    def is_phrase(self, pair: Pair) -> bool:
        """Return True if two words are adjacent in several texts. `sharing(pair)` must be above 0."""

        def made() -> bool:
            ordinals = self.containing(pair) & self.internal
            texts = self.read(ordinals[:PAIR_EVIDENCE].to_array())
            return sum(1 for text in texts if text.tokenized.has_pair(*pair)) >= self.config.atoms_min

        return cached(self._pairs, pair, made)

    @cached_property
    def categories(self) -> frozenset[Category]:
        """The categories that are not too common in an evenly spread sample of the texts."""
        chosen = spread(self.internal, self.config.category_sample)
        counts = dict.fromkeys(Category, 0)
        for text in self.read(chosen):
            for category in text.categories:
                counts[category] += 1
        most = max(self.config.hub_min, self.config.hub_share * len(chosen))
        return frozenset(category for category, found in counts.items() if found <= most)


def spread(ordinals: BitMap, most: int) -> list[int]:
    """Return at most `most` of the ordinals, evenly spread and in ascending order."""
    count = min(len(ordinals), most)
    return [ordinals[number * len(ordinals) // count] for number in range(count)]


def cached(where: dict[Key, Made], key: Key, made: Callable[[], Made]) -> Made:
    """Return the cached value of a key, computing it if it is missing. A full cache is cleared first."""
    if key not in where:
        if len(where) >= CACHED_MAX:
            where.clear()
        where[key] = made()
    return where[key]
