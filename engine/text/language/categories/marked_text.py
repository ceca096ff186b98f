"""The tokens of a text and their marks. The marks of a token say which word lists contain it."""

from __future__ import annotations

import re
from itertools import islice, repeat
from typing import Final

from engine.text.language.lexicon import read_lists
from engine.text.language.parts_of_speech import is_verb

LISTS: Final = {
    name: listed
    for file in ("words.txt", "people.txt", "places.txt")
    for name, listed in read_lists("engine.text.language.categories", file).items()
}
"""The word lists in `data/`. If a list has the name of a mark, all words and phrases in the list get this
mark."""


class Mark:
    """The marks of words, as bits.

    The marks are plain integers because some of them are tested for every word.
    """

    CAUSAL: Final = 1 << 0
    EMOTIONAL: Final = 1 << 1
    INDUSTRY: Final = 1 << 2
    LOCATION: Final = 1 << 3
    TECHNICAL: Final = 1 << 4
    TEMPORAL: Final = 1 << 5
    EMOTIONAL_HINT: Final = 1 << 6
    INDUSTRY_HINT: Final = 1 << 7
    TECHNICAL_HINT: Final = 1 << 8
    PHRASE: Final = 1 << 9
    """The mark of a word that is the first word of at least one phrase in the lists."""
    NAME: Final = 1 << 10
    NAME_HINT: Final = 1 << 11
    HONORIFIC: Final = 1 << 12
    ROLE: Final = 1 << 13
    ORGANIZATION: Final = 1 << 14
    PLACE: Final = 1 << 15
    PLACE_TITLE: Final = 1 << 16
    PLACE_NOUN: Final = 1 << 17
    POINTING: Final = 1 << 18
    SPAN: Final = 1 << 19
    SEASON: Final = 1 << 20
    MONTH_SHORT: Final = 1 << 21
    SUBJECT: Final = 1 << 22
    """The mark of a pronoun that can be the subject of an action."""
    PAST: Final = 1 << 23
    ELIDED: Final = 1 << 24
    SEQUEL: Final = 1 << 25
    SPEAKING: Final = 1 << 26
    SO: Final = 1 << 27
    NO_SPEAKER: Final = 1 << 28
    GREETING: Final = 1 << 29
    KINSHIP: Final = 1 << 30
    RELATED: Final = 1 << 31
    """The mark of phrases that name the relation between people."""
    FAMILY: Final = 1 << 32
    PRODUCT: Final = 1 << 33
    COMPANY: Final = 1 << 34
    EVENT: Final = 1 << 35
    HOUR: Final = 1 << 36
    EMPLOYED: Final = 1 << 37


STRONG: Final = (1 << 6) - 1
"""The marks of strong words. A text with at least one word with such a mark belongs to the category of the
mark."""
HINTS: Final = Mark.EMOTIONAL_HINT | Mark.INDUSTRY_HINT | Mark.TECHNICAL_HINT
SUGGESTING: Final = HINTS | Mark.INDUSTRY

# Latin letters up to U+024F, listed explicitly: the word lists have no others, and the letters that Python
# recognises depend on its version.
LETTER: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
TOKENS: Final = re.compile(
    rf"[{LETTER}]++(?:['-][{LETTER}]++)*+"
    r"|[0-9](?:[0-9A-Za-z_]|[.,:/-](?=[0-9A-Za-z]))*+"
    rf"|\n|[^\s{LETTER}0-9]"
)


tokens_of: Final = TOKENS.findall
"""Return the words, numbers, line ends and all other characters of a text except spaces, in order."""


def _mark_tables() -> tuple[dict[str, int], dict[tuple[str, str], list[tuple[list[str], int]]]]:
    words: dict[str, int] = {}
    phrases: dict[tuple[str, str], list[tuple[list[str], int]]] = {}
    for name, listed in LISTS.items():
        mark: int = getattr(Mark, name.upper(), 0)
        for entry in listed if mark else ():
            first, *rest = entry.split(" ")
            words[first] = words.get(first, 0) | (Mark.PHRASE if rest else mark)
            if rest:
                phrases.setdefault((first, rest[0]), []).append((rest[1:], mark))
    return words, phrases


MARKS, PHRASES = _mark_tables()
"""Two tables. The first table maps each lower-case word to its marks. The second table maps two words to the
phrases that begin with them. A phrase is stored as its remaining words and its mark."""

_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S++")
_CAMEL: Final = re.compile("[a-z]{2,}+[A-Z][a-z]{2}")
_CONTEXTUAL: Final = (
    Mark.PLACE_NOUN
    | Mark.POINTING
    | Mark.SEASON
    | Mark.SUBJECT
    | Mark.ELIDED
    | Mark.SO
    | Mark.KINSHIP
    | Mark.FAMILY
    | Mark.EVENT
    | Mark.HOUR
    | Mark.EMPLOYED
)
PLACES: Final = Mark.PLACE | Mark.PLACE_TITLE | Mark.PLACE_NOUN
_OPENING: Final = Mark.EMOTIONAL | Mark.EMOTIONAL_HINT | Mark.CAUSAL
"""The marks of words that are capitalised only where a sentence begins; elsewhere they are part of a name."""
_OWNERS: Final = frozenset(LISTS["owners"])
_SENTENCE_ENDS: Final = frozenset(["", *'.!?:;\n-*#>\u2026"\u201c('])
DETERMINERS: Final = frozenset(LISTS["determiners"])
_STOPS: Final = frozenset(".!?\n")
SENTENCE_MARKS: Final = frozenset(".!?")
"""The characters that end a sentence."""
_BEYOND_LATIN: Final = "\u0250"
MARGIN: Final = 6
"""The number of empty tokens before the first and after the last token of a text."""
_MARGIN: Final = [""] * MARGIN


def is_word(token: str) -> bool:
    """Return True if a token is a word of Latin letters, in lower or upper case."""
    first = token[:1]
    return "a" <= first < "{" or "A" <= first < "[" or "\u00c0" <= first < _BEYOND_LATIN


class MarkedText:
    """The tokens of a text with their marks.

    Empty tokens are added at both ends, so that rules can read the neighbours of every token.
    """

    def __init__(self, text: str) -> None:
        if "\u2019" in text:
            text = text.replace("\u2019", "'")
        if "[[" in text:
            text = text.replace("[[", "").replace("]]", "")
        if "://" in text or "www." in text:
            text = _ADDRESS.sub(" ", text)
        self.text = text
        self.tokens: list[str] = [*_MARGIN, *tokens_of(text), *_MARGIN]
        self.words = words = list(map(str.lower, self.tokens))
        """The tokens in lower case. A final `'s` of a capitalised word is removed."""
        self.capitals: list[int] = []
        """The indices of capitalised words."""
        self.camels = False
        """True if a word of the text has a capital letter inside but not at its beginning, such as
        `camelCase`."""
        self._find_capitals()
        self.marks = list(map(MARKS.get, words, repeat(0)))
        """The marks of each word in `words`: for each word, a combination of the bits of `Mark`."""
        self.seen = 0
        """The combined marks of all phrases found, and of all words whose marks do not depend on the
        context."""
        self.hints: dict[str, int] = {}
        """The words and phrases that suggest a category, or belong to one, with their marks."""
        self.numbers = [at for at, token in enumerate(self.tokens) if "0" <= token < ":"]
        self.contextual: list[int] = []
        """The indices of words whose meaning depends on the words around them."""
        self.contexts = 0
        """The combined marks of these words."""
        self._apply_marks()

    def _find_capitals(self) -> None:
        tokens, words = self.tokens, self.words
        for at in [at for at, token in enumerate(tokens) if token != words[at]]:
            token = tokens[at]
            if "a" <= token < "{":
                self.camels = self.camels or _CAMEL.match(token) is not None
            elif token < _BEYOND_LATIN and token[0] != words[at][0]:
                self.capitals.append(at)
                if token.endswith("'s"):
                    words[at] = words[at][:-2]

    def _apply_marks(self) -> None:
        words, marks = self.words, self.marks
        for at, mark in enumerate(marks):
            if not mark:
                continue
            if mark & _OPENING and self._is_other_word(at):
                mark &= ~_OPENING
            self.seen |= mark & (STRONG | Mark.SEQUEL)
            if mark & SUGGESTING and not (mark & HINTS and self.is_capital(at) and self._is_in_name(at)):
                self.hints[words[at]] = mark
            if mark & Mark.PHRASE:
                for rest, phrase_mark in PHRASES.get((words[at], words[at + 1]), ()):
                    end = at + 2 + len(rest)
                    if words[at + 2 : end] == rest:
                        self._add_phrase(at, end, phrase_mark)
            if mark & _CONTEXTUAL:
                self.contextual.append(at)
                self.contexts |= mark
            if mark & Mark.PRODUCT and self.is_capital(at) and not self.begins(at):
                self.seen |= Mark.TECHNICAL

    def _add_phrase(self, at: int, end: int, mark: int) -> None:
        if mark & SUGGESTING:
            self.hints[" ".join(self.words[at:end])] = mark
        if mark != Mark.PLACE:
            self.seen |= mark
        elif self.is_capital(at) and (not self.is_capital(end) or self.marks[end] & PLACES):
            self.seen |= Mark.LOCATION  # but not for `New York Times`

    def _is_other_word(self, at: int) -> bool:
        """Return True if a word for a feeling or a reason is a part of a name, or a feeling of nobody.

        Somebody feels it in `I really hate` and `my fear`, but not in `they spread hate`.
        """
        if self.is_capital(at) and not self._is_sentence_capital(at):
            return True
        word, before = self.words[at], [one.split("'")[0] for one in self.words[at - 2 : at]]
        if not self.marks[at] & Mark.EMOTIONAL or word.endswith("ed") or not is_verb(word):
            return False
        return not any(MARKS.get(one, 0) & Mark.SUBJECT or one in _OWNERS for one in before)

    def _is_sentence_capital(self, at: int) -> bool:
        """Return True if a word begins a sentence and is not in a heading."""
        return self.begins(at) and not self.is_capital(at + 1)

    def _is_in_name(self, at: int) -> bool:
        """Return True if a capitalised word is a part of a name in a sentence: `the Tidal Network`."""
        if self.begins(at):
            return False
        return self.is_capital(at + 1) or (self.is_capital(at - 1) and not self.begins(at - 1))

    def with_mark(self, mark: int) -> list[int]:
        """Return the indices of the words with a mark whose meaning depends on the words around them."""
        if not self.contexts & mark:
            return []
        return [at for at in self.contextual if self.marks[at] & mark]

    def is_capital(self, at: int) -> bool:
        """Return True if the token at index `at` begins with a capital letter."""
        first: str = self.tokens[at][:1]
        return first != self.words[at][:1]

    def asks(self, at: int) -> bool:
        """Return True if the sentence around the token at index `at` is a question."""
        after = islice(self.tokens, at, None)
        return next((token for token in after if token in _STOPS), "") == "?"

    def begins(self, at: int) -> bool:
        """Return True if the token at index `at` begins a sentence or a line."""
        return self.tokens[at - 1] in _SENTENCE_ENDS
