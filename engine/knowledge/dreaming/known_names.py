"""The known names: the names and the aliases of the entities, and where they occur in a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.knowledge.dreaming.tokenized_text import (
    TokenizedText,
    Tokens,
    is_shouted,
    tokens_of_name,
)
from engine.ledger.entities import entity_identity


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
                known = self._by_alias.setdefault(tokens.words, entity)
                if known != entity:
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
        found: dict[bytes, None] = {}
        words, lengths, after = text.words, self._lengths, 0
        # Few words begin a name, and a comprehension finds them fast: this loop runs over every text.
        for at in [at for at, word in enumerate(words) if word in lengths]:
            if at < after:
                continue
            for size in lengths[words[at]]:
                entity = self._find(tuple(words[at : at + size]), text, at)
                if entity is not None:
                    found.setdefault(entity)
                    after = at + size
                    break
            if len(found) == most:
                break
        return [self._names[entity] for entity in found]

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
