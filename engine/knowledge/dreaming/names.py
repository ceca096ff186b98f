"""The names that are known, and which of them stand in a text."""

from __future__ import annotations

from typing import NamedTuple

from engine.knowledge.dreaming.pages import Page, Tokens, tokens_of_name
from engine.ledger.entities import entity_identity


class Name(NamedTuple):
    """A known name."""

    text: str
    """As the entity has it."""
    id: bytes
    """The entity's."""
    tokens: Tokens


class Names:
    """The known names, found in a text by their first words."""

    def __init__(self) -> None:
        self._by_words: dict[tuple[str, ...], Name] = {}
        self._lengths: dict[str, list[int]] = {}
        self._identities: set[str] = set()

    def __contains__(self, text: str) -> bool:
        return entity_identity(text) in self._identities

    def __len__(self) -> int:
        return len(self._by_words)

    def add(self, text: str, entity: bytes) -> Name | None:
        """Know a name; None where nothing in it could be found in a text."""
        tokens = tokens_of_name(text)
        if not any(word[0].isalnum() for word in tokens.words):
            return None
        name = Name(text, entity, tokens)
        self._identities.add(entity_identity(text))
        self._by_words.setdefault(tokens.words, name)
        lengths = self._lengths.setdefault(tokens.words[0], [])
        if len(tokens.words) not in lengths:
            lengths.append(len(tokens.words))
            lengths.sort(reverse=True)
        return name

    def found_in(self, page: Page, most: int) -> list[Name]:
        """The different names that stand in a text, none within a longer one, in order; at most `most`.

        Several words match whatever their case. A single word matches as it is written in the name; one
        without a capital letter matches in any case.
        """
        found: dict[bytes, Name] = {}
        words, at = page.words, 0
        while at < len(words) and len(found) < most:
            step = 1
            for size in self._lengths.get(words[at], ()):
                name = self._by_words.get(tuple(words[at : at + size]))
                if name is not None and _is_so_written(name, page.surfaces[at]):
                    found.setdefault(name.id, name)
                    step = size
                    break
            at += step
        return list(found.values())


def _is_so_written(name: Name, surface: str) -> bool:
    if len(name.tokens.words) > 1:
        return True
    written = name.tokens.surfaces[0]
    return surface == written or written == name.tokens.words[0]
