"""The words of a text, and the names and phrases that it may contain."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.text.analyzer import STOP_WORDS
from engine.text.language.categories.marked_text import MARKS, Mark, MarkedText, tokens_of
from engine.text.language.categories.people import NamedPeople, is_label, named_in
from engine.text.language.lexicon import ADJECTIVES, ADVERBS, FUNCTION_WORDS, GENERIC, NUMBERS
from engine.text.language.parts_of_speech import is_verb

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
DAYS: Final = frozenset({"mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"})
_ROMAN: Final = frozenset("ivxlcdm")
_NO_PHRASE: Final = Mark.TEMPORAL | Mark.GREETING | Mark.SPAN | Mark.POINTING | Mark.PAST | Mark.ELIDED
_WORD_CHARS_MIN: Final = 3
_SHORT_CHARS_MAX: Final = 3
"""A word of at most this many capital letters may be an abbreviation."""
_PHRASE_ENDINGS: Final = ("ly", "ed")
_ARTICLE: Final = "DET"
_IN_NAMES: Final = (
    Mark.NAME
    | Mark.PLACE_NOUN
    | Mark.COMPANY
    | Mark.EMOTIONAL_HINT
    | Mark.INDUSTRY_HINT
    | Mark.TECHNICAL_HINT
    | Mark.EVENT
    | Mark.PRODUCT
    | Mark.PLACE_TITLE
)
"""The marks of given names, and of words such as `Bakery`, which are names together with another word."""
_NO_PERSON: Final = Mark.ORGANIZATION | Mark.PLACE_TITLE | Mark.PLACE_NOUN | Mark.PLACE


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
        self.read = read = MarkedText(text)
        if "'" in read.text:
            self.surfaces = [_bare(token) if "'" in token else token for token in read.tokens]
            self.words = list(map(str.lower, self.surfaces))
        else:
            self.surfaces, self.words = read.tokens, read.words

    @cached_property
    def casual(self) -> bool:
        """True if the text is written in small letters: its first word is not capitalised."""
        first = next((surface for surface in self.surfaces if surface[:1].isalpha()), "")
        return first[:1].islower()

    @cached_property
    def named(self) -> NamedPeople:
        """The sequences of capitalised words in the text."""
        return named_in(self.read)

    @cached_property
    def speakers(self) -> list[Tokens]:
        """The names at the beginnings of lines that label what somebody says: `Rob: …`."""
        runs = (run for run in self.named.people if is_label(self.read, run.start, run.end))
        return [
            Tokens(tuple(self.surfaces[run.start : run.end]), tuple(self.words[run.start : run.end]))
            for run in runs
        ]

    def names(self, config: DreamConfig) -> list[Tokens]:
        """Return the first `candidates_per_atom` runs of capitalised words that can be names, each once."""
        names: dict[tuple[str, ...], Tokens] = {}
        for start, end in self._runs():
            tokens = Tokens(tuple(self.surfaces[start:end]), tuple(self.words[start:end]))
            if tokens.words not in names and is_possible(tokens, config):
                names[tokens.words] = tokens
                if len(names) == config.candidates_per_atom:
                    break
        return list(names.values())

    def _runs(self) -> Iterator[tuple[int, int]]:
        for run in self.named.runs:
            start, end = run.start, run.end
            owners = [at + 1 for at in range(start, end - 1) if self.owns(at)]
            for first, last in zip([start, *owners], [*owners, end], strict=True):
                yield from self._names_between(first, last)

    def _names_between(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        while start < end and self._begins_no_name(start):
            start += 1
        if start == end:
            return
        if self.words[end] == "of" and self.is_body(end - 1) and self.continues(end + 1):
            last = end + 2
            while self.continues(last):
                last += 1
            yield start, last
        if end - start == 1 or not self.opens(start):
            yield start, end
        if self.read.begins(start) and end - start > 1 and self.words[start + 1] != ".":
            yield start + 1, end

    def _begins_no_name(self, at: int) -> bool:
        word, mark = self.words[at], self.read.marks[at]
        cannot_begin = mark & _NO_BEGINNING and not mark & Mark.NAME
        return bool(cannot_begin) or word in STOP_WORDS or not word[0].isalpha()

    def phrases(self) -> list[tuple[str, str]]:
        """Return the pairs of adjacent words in lower case that may be phrases, in the order of the text."""
        phrases: dict[tuple[str, str], None] = {}
        before = None
        for word in self._content:
            if word and before and before != word:
                phrases[before, word] = None
            before = word
        return list(phrases)

    @property
    def _content(self) -> list[str]:
        """The words in lower case that may be in a phrase. An empty string stands for any other token."""
        return [
            word if surface == word and not mark & _NO_PHRASE and _is_content(word) else ""
            for surface, word, mark in zip(self.surfaces, self.words, self.read.marks, strict=True)
        ]

    def is_casual_name(self, start: int, end: int) -> bool:
        """Return True if these words, in small letters, may be a name because the whole text is so written.

        Words after an article, and words with another meaning, are not a name.
        """
        if not self.casual or FUNCTION_WORDS.get(self.words[start - 1]) == _ARTICLE:
            return False
        return all(map(is_unlisted, self.words[start:end]))

    def places(self, words: tuple[str, ...]) -> Iterator[int]:
        """Yield the indices at which a sequence of words begins."""
        at, size, text_words = -1, len(words), self.words
        try:
            while True:
                at = text_words.index(words[0], at + 1)
                if size == 1 or tuple(text_words[at : at + size]) == words:
                    yield at
        except ValueError:
            return

    def continues(self, at: int) -> bool:
        """Return True if the word at index `at` is capitalised and can be in a name."""
        return self.read.is_capital(at) and not self._begins_no_name(at)

    def is_body(self, at: int) -> bool:
        """Return True if a word is the kind of an organization or place, as `School` in `School of Music`."""
        return self.read.is_capital(at) and bool(self.read.marks[at] & (Mark.ORGANIZATION | Mark.PLACE_TITLE))

    def opens(self, at: int) -> bool:
        """Return True if a word begins a sentence and is no name there, but a verb or an adverb."""
        word = self.words[at]
        opening = is_verb(word) or word in ADVERBS or word in FUNCTION_WORDS or word.endswith("ly")
        return self.read.begins(at) and opening and not self.read.marks[at] & Mark.NAME

    def owns(self, at: int) -> bool:
        """Return True if the word at index `at` has a possessive ending."""
        return self.read.tokens[at].endswith(("'s", "'S"))


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
    word, marks, upper = words[0], MARKS.get(words[0], 0), tokens.surfaces[0].isupper()
    if marks & (Mark.TEMPORAL | Mark.MONTH_SHORT) or (marks & _NO_NAME and not marks & Mark.NAME):
        return False
    if (
        word in FUNCTION_WORDS
        or word in NUMBERS
        or word in DAYS
        or len(word) < config.name_chars_min - bool(upper or marks & Mark.NAME)
    ):
        return False
    return upper or bool(marks & Mark.NAME) or not is_verb(word)


def _is_distinctive(surface: str, word: str, config: DreamConfig) -> bool:
    """Return True if a word is distinctive. At least one word of every name must be distinctive.

    Numbers, Roman numerals and stop words are not distinctive.
    """
    numeral = word.isdigit() or (surface.isupper() and _ROMAN.issuperset(word))
    return word[0].isalnum() and not numeral and word not in config.stop and word not in STOP_WORDS


def is_given_name(tokens: Tokens) -> bool:
    """Return True if the first word is a given name and has no other meaning."""
    marks = MARKS.get(tokens.words[0], 0)
    return bool(marks & Mark.NAME) and not marks & Mark.NAME_HINT


def is_person(tokens: Tokens) -> bool:
    """Return True if several words have the form of a person's name, such as `Ada Lovelace`."""
    return 2 <= len(tokens.words) <= 3 and all(
        surface[1:].islower() and word.isalpha() and not MARKS.get(word, 0) & _NO_PERSON
        for surface, word in zip(*tokens, strict=True)
    )


def is_shouted(tokens: Tokens, surface: str) -> bool:
    """Return True if `surface` is a name of one long word in capital letters."""
    return (
        len(tokens.words) == 1 and len(surface) > _SHORT_CHARS_MAX and surface == tokens.surfaces[0].upper()
    )


def is_unlisted(word: str) -> bool:
    """Return True if a word is in no word list, or only in lists of names and of words that names contain."""
    return (
        not MARKS.get(word, 0) & ~_IN_NAMES
        and word not in STOP_WORDS
        and word not in FUNCTION_WORDS
        and word not in ADVERBS
        and word not in ADJECTIVES
        and not is_verb(word)
    )


@lru_cache(1 << 15)
def _is_content(word: str) -> bool:
    return (
        len(word) >= _WORD_CHARS_MIN
        and word[0].isalpha()
        and word not in STOP_WORDS
        and word not in FUNCTION_WORDS
        and word not in ADVERBS
        and word not in GENERIC
        and word not in NUMBERS
        and not word.endswith(_PHRASE_ENDINGS)
        and not is_verb(word)
    )


def _bare(token: str) -> str:
    return token[:-2] if token.endswith(("'s", "'S")) and len(token) > 2 else token
