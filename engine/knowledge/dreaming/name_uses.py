"""How a text uses the words of a name: as a name, as other words, or as a part of a longer name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from engine.knowledge.dreaming.tokenized_text import (
    TokenizedText,
    Tokens,
    is_shouted,
    tokens_of_name,
)
from engine.ledger.entities import entity_identity
from engine.text.language.categories.marked_text import Mark
from engine.text.language.categories.people import is_addressed
from engine.text.language.parts_of_speech import is_past, is_third

_SINGULAR: Final = frozenset(
    {"is", "was", "has", "does", "isn't", "wasn't", "hasn't", "doesn't", "will", "won't", "would", "wouldn't"}
    | {"can", "can't", "could", "couldn't", "should", "shouldn't", "must", "might", "had", "hadn't", "didn't"}
)
"""Auxiliary verbs that can follow a name. A countable noun without an article can precede the plural forms
only."""
_BEFORE_PLACES: Final = frozenset({"in", "at", "near", "around", "outside", "across"})
"""Prepositions that stand before places rather than before people."""
_IN_HEADINGS: Final = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "for", "to", "and", "or", "with", "from", "by", "as", "vs"}
)
"""The words that may be in lower case in a heading whose words are capitalised."""
_SENTENCE_ENDS: Final = frozenset("\n.!?;:|")
_ITEM_BEGINS: Final = frozenset("\n*-#")
_ITEM_ENDS: Final = frozenset(["", "\n", "-", "\u2013", "\u2014"])
_SENTENCE_WORDS_MAX: Final = 12
"""Of a sentence, at most this many tokens on each side of a word are read."""


class Name(NamedTuple):
    """A known entity with its name and its aliases."""

    text: str
    """The name as the entity spells it."""
    id: bytes
    """The id of the entity."""
    forms: tuple[Tokens, ...]
    """The tokens of the name, followed by the tokens of its aliases."""

    @property
    def tokens(self) -> Tokens:
        """The tokens of the name itself."""
        return self.forms[0]


class Names:
    """The known names, indexed by their first words so that they can be found in a text.

    If two entities have the same alias, the alias is ambiguous and names neither of them. The name of an
    entity is never taken as the alias of another one.
    """

    def __init__(self) -> None:
        self._names: dict[bytes, Name] = {}
        self._by_words: dict[tuple[str, ...], bytes] = {}
        self._by_alias: dict[tuple[str, ...], bytes | None] = {}
        self._lengths: dict[str, list[int]] = {}
        self._identities: set[str] = set()

    def __contains__(self, text: str) -> bool:
        return entity_identity(text) in self._identities

    def __len__(self) -> int:
        return len(self._names)

    def get(self, entity: bytes) -> Name | None:
        """Return the name of an entity, or None if it is not known."""
        return self._names.get(entity)

    def add(self, text: str, entity: bytes, aliases: Iterable[str] = ()) -> Name | None:
        """Add a name with its aliases and return it.

        If the entity is known, add only the aliases. Return None if the name has no word that a text could
        contain; aliases without such words are left out.
        """
        name = self._names.get(entity)
        if name is None:
            tokens = tokens_of_name(text)
            if not _is_findable(tokens):
                return None
            name = Name(text, entity, (tokens,))
            self._identities.add(entity_identity(text))
            self._by_words.setdefault(tokens.words, entity)
            self._add_length(tokens)
        forms = list(name.forms)
        for alias in aliases:
            tokens = tokens_of_name(alias)
            if _is_findable(tokens) and tokens not in forms:
                forms.append(tokens)
                self._identities.add(entity_identity(alias))
                holder = self._by_alias.setdefault(tokens.words, entity)
                if holder != entity:
                    self._by_alias[tokens.words] = None
                self._add_length(tokens)
        self._names[entity] = name = name._replace(forms=tuple(forms))
        return name

    def _add_length(self, tokens: Tokens) -> None:
        lengths = self._lengths.setdefault(tokens.words[0], [])
        if len(tokens.words) not in lengths:
            lengths.append(len(tokens.words))
            lengths.sort(reverse=True)

    def found_in(self, text: TokenizedText, most: int) -> list[Name]:
        """Return the first `most` different known names in a text. Omit names inside longer names.

        A name that has several words, or only one word without capital letters, matches regardless of case.
        Any other name matches only the same spelling. In a text that is written in small letters, it also
        matches small letters, unless the word is in a word list and so has another meaning.
        """
        entities: dict[bytes, None] = {}
        words, lengths, after = text.words, self._lengths, 0
        # Few words begin a name, and a comprehension finds them fast: this loop runs over every text.
        for at in [at for at, word in enumerate(words) if word in lengths]:
            if at < after:
                continue
            for size in lengths[words[at]]:
                entity = self._find(tuple(words[at : at + size]), text, at)
                if entity is not None:
                    entities.setdefault(entity)
                    after = at + size
                    break
            if len(entities) == most:
                break
        return [self._names[entity] for entity in entities]

    def _find(self, words: tuple[str, ...], text: TokenizedText, at: int) -> bytes | None:
        entity = self._by_words.get(words) or self._by_alias.get(words)
        if entity is None or len(words) > 1:
            return entity
        form = next(form for form in self._names[entity].forms if form.words == words)
        written, surface = form.surfaces[0], text.surfaces[at]
        if surface == written or written == words[0] or is_shouted(form, surface):
            return entity
        return entity if surface == words[0] and text.is_casual_name(at, at + 1) else None


def _is_findable(tokens: Tokens) -> bool:
    return any(word[0].isalnum() for word in tokens.words)


class Uses(NamedTuple):
    """The uses of a name's words in a text.

    Where another capitalised word is next to the words, the use is only listed in `longer`.
    """

    inside: int
    """The number of uses with the name's spelling inside a sentence."""
    begins: int
    """The number of uses with the name's spelling in places where every word is capitalised, such as the
    beginning of a sentence or a heading."""
    other: int
    """The number of uses in a different spelling, such as lower case, as the words of a sentence."""
    acting: int
    """The number of uses before a singular verb, with a possessive ending, or as the beginning of an item in
    a list. Only names and uncountable nouns are used in this way without an article."""
    placed: int
    """The number of uses after a preposition of place."""
    titles: tuple[str, ...]
    """The titles before the words, such as `Ms`."""
    longer: tuple[Tokens, ...]
    """The longer names that begin or end with the words."""
    speaks: int
    """The number of uses as the label of what somebody says, at the beginning of a line."""
    addressed: int
    """The number of uses that address somebody."""


def uses_of(text: TokenizedText, tokens: Tokens) -> Uses:
    """Count the uses of a name's words in a text, for each spelling and surroundings."""
    size = len(tokens.words)
    inside = begins = other = acting = placed = addressed = 0
    titles: list[str] = []
    longer: list[Tokens] = []
    for at in text.places(tokens.words):
        end = at + size
        if tuple(text.surfaces[at:end]) != tokens.surfaces:
            other += not _is_other_name(text, tokens, at)
            continue
        whole = _whole_name(text, at, end)
        if whole is not None:
            longer.append(whole)
            continue
        if _is_part(text, at, end):
            continue
        acting += _acts(text, at, end)
        addressed += is_addressed(text.read, at, end)
        placed += text.words[at - 1] in _BEFORE_PLACES
        if text.read.marks[at - 1] & Mark.HONORIFIC:
            titles.append(text.surfaces[at - 1])
        if _says_nothing(text, tokens, at):
            begins += 1
        else:
            inside += 1
    speaks = text.speakers.count(tokens)
    return Uses(inside, begins, other, acting, placed, tuple(titles), tuple(longer), speaks, addressed)


def _is_other_name(text: TokenizedText, tokens: Tokens, at: int) -> bool:
    """Return True if words in a different spelling may still be the name.

    They may be if the whole text is written so, and in a link, a tag or an item of a list.
    """
    end = at + len(tokens.words)
    alone = not text.words[at - 1][:1].isalpha() and not text.words[end][:1].isalpha()
    return alone or text.is_casual_name(at, end) or is_shouted(tokens, text.surfaces[at])


def _whole_name(text: TokenizedText, start: int, end: int) -> Tokens | None:
    """Return the longer name of which these words are the beginning or the end, or None."""
    first, last = start, end
    while text.continues(first - 1) and not text.owns(first - 1):
        first -= 1
    while text.continues(last) and not text.owns(last - 1):
        last += 1
    if (first, last) == (start, end) or (first < start and last > end):
        return None
    if first < start and text.opens(first):
        return None
    return Tokens(tuple(text.surfaces[first:last]), tuple(text.words[first:last]))


def _is_part(text: TokenizedText, start: int, end: int) -> bool:
    """Return True if these words are next to a capitalised word, and so may be part of a longer name.

    A title before the words is not part of the name.
    """
    read, words = text.read, text.words
    if words[start - 1] == "of" and text.is_body(start - 2):
        return True
    if words[end] == "of" and read.is_capital(end + 1) and text.is_body(end - 1):
        return True
    titled = read.marks[start - 1] & Mark.HONORIFIC
    before = read.is_capital(start - 1) and not read.begins(start - 1) and not text.owns(start - 1)
    return (before and not titled) or (read.is_capital(end) and not text.owns(end - 1))


def _acts(text: TokenizedText, start: int, end: int) -> bool:
    """Return True if words own something, are the subject of a singular verb, or begin an item of a list."""
    after = text.words[end]
    if text.owns(end - 1) or after in _SINGULAR or is_third(after):
        return True
    if text.surfaces[start - 1] in _ITEM_BEGINS and after in _ITEM_ENDS:
        return True
    return is_past(after) and text.words[end - 1][-1] != "s"


def _says_nothing(text: TokenizedText, tokens: Tokens, at: int) -> bool:
    """Return True if any word would be capitalised in this place."""
    end = at + len(tokens.words)
    if any(surface[1:] != surface[1:].lower() for surface in tokens.surfaces):
        # Capital letters inside a word say something, except where all letters are capital.
        return not any(token[1:].islower() for token in _sentence(text, at, end))
    if text.read.begins(at):
        return True
    # In a heading, all words are capitalised.
    words = [token for token in _sentence(text, at, end) if token[0].isalpha()]
    capitals = [token for token in words if token not in _IN_HEADINGS]
    return bool(capitals) and all(token[0] != token[0].lower() for token in capitals)


def _sentence(text: TokenizedText, start: int, end: int) -> list[str]:
    """Return the tokens of the sentence around words, without these words."""
    words: list[str] = []
    for step, at in ((-1, start - 1), (1, end)):
        for _ in range(_SENTENCE_WORDS_MAX):
            token = text.surfaces[at]
            if not token or token in _SENTENCE_ENDS:
                break
            words.append(token)
            at += step
    return words
