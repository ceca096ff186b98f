"""The words of a text, the names and phrases that it may contain, and the known names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from engine.knowledge.dreaming.config import DreamConfig
from engine.language.categories.marked_text import MARKS, Mark, MarkedText, tokens_of
from engine.language.categories.people import NamedPeople, named_in
from engine.language.lexicon import ADVERBS, FUNCTION_WORDS, is_verb
from engine.ledger.entities import entity_identity
from engine.text.words import STOP_WORDS

_NO_BEGINNING: Final = (
    Mark.TEMPORAL
    | Mark.GREETING
    | Mark.NO_SPEAKER
    | Mark.SUBJECT
    | Mark.HONORIFIC
    | Mark.EMOTIONAL
    | Mark.EMOTIONAL_HINT
    | Mark.MONTH_SHORT
    | Mark.SPAN
    | Mark.POINTING
    | Mark.CAUSAL
    | Mark.SEQUEL
    | Mark.SO
)
"""A word with one of these marks cannot begin a name: it is capitalised for a different reason."""
_NO_NAME: Final = _NO_BEGINNING | Mark.ORGANIZATION | Mark.PLACE_TITLE | Mark.PLACE_NOUN | Mark.ROLE
"""A word with one of these marks is not a name if it stands alone; examples are `University` and `Beach`."""
_ROMAN: Final = frozenset("ivxlcdm")
_NO_PHRASE: Final = Mark.TEMPORAL | Mark.GREETING | Mark.SPAN | Mark.POINTING | Mark.PAST | Mark.ELIDED
_WORD_CHARS_MIN: Final = 3
_PHRASE_ENDINGS: Final = ("ly", "ed")


class Tokens(NamedTuple):
    """The tokens of a name, as written (`surfaces`) and in lower case (`words`)."""

    surfaces: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The name as text on one line, without a space before a dot."""
        joined = " ".join(self.surfaces)
        return joined.replace(" . ", ". ").removesuffix(" .")


def tokens_of_name(name: str) -> Tokens:
    """Split a name into tokens in the same way as a text, so that the name can be found in texts."""
    surfaces = tuple(map(_bare, tokens_of(name.replace("\u2019", "'"))))
    return Tokens(surfaces, tuple(map(str.lower, surfaces)))


class TokenizedText:
    """The tokens of an atom's title and content."""

    def __init__(self, title: str | None, content: str, chars: int) -> None:
        self.chars = chars
        text = content[:chars] if title is None else f"{title}\n{content[:chars]}"
        self.read = MarkedText(text)
        self.surfaces = list(map(_bare, self.read.tokens))
        self.words = list(map(str.lower, self.surfaces))

    @cached_property
    def named(self) -> NamedPeople:
        """The sequences of capitalised words in the text."""
        return named_in(self.read)

    def names(self, config: DreamConfig) -> list[Tokens]:
        """Return the first `candidates_per_atom` runs of capitalised words that can be names, each once."""
        found: dict[tuple[str, ...], Tokens] = {}
        for start, end in self._runs():
            tokens = Tokens(tuple(self.surfaces[start:end]), tuple(self.words[start:end]))
            if tokens.words not in found and is_possible(tokens, config):
                found[tokens.words] = tokens
                if len(found) == config.candidates_per_atom:
                    break
        return list(found.values())

    def _runs(self) -> Iterator[tuple[int, int]]:
        for run in self.named.runs:
            start, end = run.start, run.end
            while start < end and self._begins_no_name(start):
                start += 1
            if start == end:
                continue
            yield start, end
            if self.read.begins(start) and end - start > 1 and self.words[start + 1] != ".":
                yield start + 1, end

    def _begins_no_name(self, at: int) -> bool:
        word, mark = self.words[at], self.read.marks[at]
        known = mark & _NO_BEGINNING and not mark & Mark.NAME
        return bool(known) or word in STOP_WORDS or not word[0].isalpha()

    def phrases(self) -> list[tuple[str, str]]:
        """Return the pairs of adjacent words in lower case that may be phrases, in the order of the text."""
        found: dict[tuple[str, str], None] = {}
        before = None
        for surface, word, mark in zip(self.surfaces, self.words, self.read.marks, strict=True):
            fits = surface == word and not mark & _NO_PHRASE and _is_content(word)
            if fits and before is not None and before != word:
                found[before, word] = None
            before = word if fits else None
        return list(found)

    def has_pair(self, first: str, second: str) -> bool:
        """Return True if two words, given in lower case, are adjacent anywhere in the text."""
        words, at = self.words, -1
        try:
            while True:
                at = words.index(first, at + 1)
                if words[at + 1] == second:
                    return True
        except ValueError:
            return False

    def uses(self, tokens: Tokens) -> Uses:
        """Count the uses of a name's words in this text, for each spelling."""
        size, first = len(tokens.words), tokens.words[0]
        inside = begins = lower = 0
        for at in [at for at, word in enumerate(self.words) if word == first]:
            if tuple(self.words[at : at + size]) != tokens.words:
                continue
            if tuple(self.surfaces[at : at + size]) != tokens.surfaces:
                lower += 1
            elif self._is_part(at, at + size):
                continue
            elif self.read.begins(at):
                begins += 1
            else:
                inside += 1
        return Uses(inside, begins, lower)

    def _is_part(self, start: int, end: int) -> bool:
        """Return True if these words are next to a capitalised word, and so may be part of a longer name."""
        before = self.read.is_capital(start - 1) and not self.read.begins(start - 1)
        return before or self.read.is_capital(end)


class Uses(NamedTuple):
    """The numbers of uses of a name's words in a text.

    A use with the name's spelling is not counted if another capitalised word is next to the words.
    """

    inside: int
    """The number of uses with the name's spelling inside a sentence."""
    begins: int
    """The number of uses with the name's spelling in places where every word is capitalised, such as the
    beginning of a sentence."""
    other: int
    """The number of uses in a different spelling, such as lower case."""


def is_possible(tokens: Tokens, config: DreamConfig) -> bool:
    """Return True if a sequence of capitalised words has the form of a name."""
    words = [word for word in tokens.words if word[0].isalnum()]
    text = tokens.text
    if not 0 < len(words) <= config.name_words_max or len(text) > config.name_chars_max:
        return False
    if not any(_is_distinctive(surface, word, config) for surface, word in zip(*tokens, strict=True)):
        return False
    if len(words) > 1:
        return max(map(len, words)) > 1
    word, known, upper = words[0], MARKS.get(words[0], 0), tokens.surfaces[0].isupper()
    if known & (Mark.TEMPORAL | Mark.MONTH_SHORT) or (known & _NO_NAME and not known & Mark.NAME):
        return False
    if word in FUNCTION_WORDS or len(word) < config.name_chars_min - upper:
        return False
    return upper or bool(known & Mark.NAME) or not is_verb(word)


def _is_distinctive(surface: str, word: str, config: DreamConfig) -> bool:
    """Return True if a word is distinctive. At least one word of every name must be distinctive.

    Numbers, Roman numerals and stop words are not distinctive.
    """
    numeral = word.isdigit() or (surface.isupper() and _ROMAN.issuperset(word))
    return word[0].isalnum() and not numeral and word not in config.stop and word not in STOP_WORDS


def is_given_name(tokens: Tokens) -> bool:
    """Return True if the first word is a given name and has no other meaning."""
    known = MARKS.get(tokens.words[0], 0)
    return bool(known & Mark.NAME) and not known & Mark.NAME_HINT


def _is_content(word: str) -> bool:
    return (
        len(word) >= _WORD_CHARS_MIN
        and word[0].isalpha()
        and word not in STOP_WORDS
        and word not in FUNCTION_WORDS
        and word not in ADVERBS
        and not word.endswith(_PHRASE_ENDINGS)
        and not is_verb(word)
    )


def _bare(token: str) -> str:
    return token[:-2] if token.endswith(("'s", "'S")) and len(token) > 2 else token


class Name(NamedTuple):
    """A known name with its entity."""

    text: str
    """The name as the entity spells it."""
    id: bytes
    """The id of the entity."""
    tokens: Tokens


class Names:
    """The known names, indexed by their first words so that they can be found in a text."""

    def __init__(self) -> None:
        self._by_words: dict[tuple[str, ...], Name] = {}
        self._lengths: dict[str, list[int]] = {}
        self._identities: set[str] = set()

    def __contains__(self, text: str) -> bool:
        return entity_identity(text) in self._identities

    def __len__(self) -> int:
        return len(self._by_words)

    def add(self, text: str, entity: bytes) -> Name | None:
        """Add a name and return it. Return None if the name has no word that a text could contain."""
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

    def found_in(self, text: TokenizedText, most: int) -> list[Name]:
        """Return the first `most` different known names in a text. Omit names inside longer names.

        A name that has several words, or only one word without capital letters, matches regardless of case.
        Any other name matches only text with exactly the same spelling.
        """
        found: dict[bytes, Name] = {}
        words, lengths, after = text.words, self._lengths, 0
        # Few words begin a name, and a comprehension finds them fast: this loop runs over every text.
        for at in [at for at, word in enumerate(words) if word in lengths]:
            if at < after:
                continue
            for size in lengths[words[at]]:
                name = self._by_words.get(tuple(words[at : at + size]))
                if name is not None and _is_spelled(name, text.surfaces[at]):
                    found.setdefault(name.id, name)
                    after = at + size
                    break
            if len(found) == most:
                break
        return list(found.values())


def _is_spelled(name: Name, surface: str) -> bool:
    if len(name.tokens.words) > 1:
        return True
    written = name.tokens.surfaces[0]
    return surface == written or written == name.tokens.words[0]
