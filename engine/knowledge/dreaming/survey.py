"""The statistics of a store at one moment: the texts that contain a word, and the frequency of each word.

Only live internal atoms that are not entities are counted. So neither the additions of the dreamer nor
external texts change the statistics, and names are learned only from internal texts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, partial
from typing import Final, NamedTuple, TypeVar

from pyroaring import BitMap

from backends.base import Reader
from engine.followers.tags import LIVE, members
from engine.index.index_view import IndexView
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.dreaming.name_uses import Name
from engine.knowledge.dreaming.tokenized_text import TokenizedText
from engine.ledger.entities import ENTITY
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.ledger.records import AtomRecord
from engine.text.analyzer import STOP_WORDS, index_terms
from engine.text.language.categories import TEXT_CHARS_MAX, Category, categories_of
from engine.text.language.categories.category_rules import categories_in
from proofs.events import AtomBody
from proofs.leaves import Group

CACHED_MAX: Final = 1 << 16
"""The largest number of entries in each cache. A full cache is cleared, except the cache of texts."""
TOKENS_MAX: Final = 1 << 21
"""The largest number of tokens in the cache of texts; these tokens take about 100 MB. The least recently used
texts are dropped."""
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
        self._internal: dict[str, BitMap] = {}
        self._read: dict[int, ReadAtom] = {}
        self._tokens = 0
        """The number of tokens of the texts in `_read`."""

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
            sets = [cached(self._terms, term, partial(self.view.ordinals_with, term)) for term in different]
            return BitMap.intersection(self.texts, *sets) if sets else BitMap()

        return cached(self._containing, words, made)

    def named(self, name: Name) -> BitMap:
        """Return the ordinals of the texts that contain the words of the name or of one of its aliases."""
        if len(name.forms) == 1:
            return self.containing(name.tokens.words)
        return BitMap.union(*(self.containing(form.words) for form in name.forms))

    def expect(self, words: Iterable[str]) -> None:
        """Read the rows of these words from the index together, before they are read one by one."""
        self.view.dfs(list(dict.fromkeys(term for word in words for term in index_terms(word))))

    def at_most(self, words: tuple[str, ...]) -> int:
        """Return a number that is not below the number of texts with all of the words."""
        terms = [term for word in words for term in index_terms(word)]
        return min(self.view.dfs(terms), default=0)

    def among(self, word: str) -> BitMap:
        """Return the ordinals of the internal texts that contain a word."""
        return cached(self._internal, word, lambda: self.containing((word,)) & self.internal)

    def read(self, ordinals: Sequence[int]) -> list[ReadAtom]:
        """Return the atoms with these ordinals."""
        cached = self._read
        texts = {ordinal: cached.pop(ordinal) for ordinal in ordinals if ordinal in cached}
        new = [ordinal for ordinal in ordinals if ordinal not in texts]
        if new:
            records = records_of(self.rows, ids_at(self.rows, new))
            for ordinal, record, body in zip(new, records, bodies_of(self.rows, records), strict=True):
                tokenized = TokenizedText(body.title, body.content, self.config.chars)
                texts[ordinal] = ReadAtom(record, body, tokenized)
                self._tokens += len(tokenized.words)
        cached.update(texts)  # the texts used last are the last in the dictionary
        while self._tokens > TOKENS_MAX or len(cached) > CACHED_MAX:
            self._tokens -= len(cached.pop(next(iter(cached))).tokenized.words)
        return [texts[ordinal] for ordinal in ordinals]

    @cached_property
    def name_atoms_min(self) -> int:
        """The smallest number of internal texts that must contain a name for the name to be learned.

        The number grows with the size of the store.
        """
        return max(self.config.name_atoms_min, (len(self.internal).bit_length() - 1) // 3)


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
