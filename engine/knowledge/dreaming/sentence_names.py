"""The names and titles in a sentence: what can be an end of a relation.

A name is a sequence of capitalised words, a name that the memory knows, or the title of the page. A title in
quotation marks is a name, too. A common noun is not a name, but it can be the last word of one: `Harry
Potter conference`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from engine.knowledge.dreaming.tokenized_text import DAYS, TokenizedText, is_unlisted, tokens_of_name
from engine.text.analyzer import STOP_WORDS
from engine.text.language.categories.marked_text import LISTS, MARGIN, MARKS, TOKENS, Mark
from engine.text.language.lexicon import ADVERBS, FUNCTION_WORDS, NUMBERS
from engine.text.language.parts_of_speech import is_verb

_PERSON_WORDS_MAX: Final = 5
"""The largest number of words in the name of a person."""
_NOUNS_MAX: Final = 2
"""The largest number of common nouns at the end of a name: `LGBTQ support group`."""
_QUOTE_TOKENS_MAX: Final = 12
_OPENING: Final = frozenset('"\u201c')
_CLOSING: Final = frozenset('"\u201d')
_SHORT_FORMS: Final = frozenset(LISTS["short_forms"])
_JOINTS: Final = frozenset(LISTS["particles"]) | {"of", "des"}
_NO_NAME: Final = Mark.TEMPORAL | Mark.MONTH_SHORT | Mark.GREETING | Mark.SUBJECT | Mark.POINTING
_KINDS: Final = Mark.ORGANIZATION | Mark.PLACE_TITLE | Mark.PLACE_NOUN | Mark.COMPANY | Mark.ROLE
"""A word with one of these marks is no name if it stands alone."""
_NO_PERSON: Final = Mark.PLACE | Mark.PLACE_TITLE | Mark.PLACE_NOUN | Mark.ORGANIZATION
TIMES: Final = Mark.TEMPORAL | Mark.MONTH_SHORT | Mark.SPAN | Mark.POINTING

Known = Callable[[tuple[str, ...]], bool]
"""Whether the memory knows a name with these words in lower case."""


class Phrase(NamedTuple):
    """A name or a title: the tokens from `start` up to but excluding `end`."""

    start: int
    end: int
    text: str
    quoted: bool = False
    noun: bool = False
    """True if a common noun ends it."""


class SentenceNames:
    """The words of a sentence, and the names and titles in it."""

    def __init__(self, sentence: str, page: str | None, known: Known) -> None:
        self.text = TokenizedText(None, sentence, len(sentence))
        self.words = self.text.words
        self.end = len(self.words) - MARGIN
        self._known = known
        self._spans = [found.span() for found in TOKENS.finditer(self.text.read.text)]
        self.starts = {phrase.start: phrase for phrase in self._phrases(page)}
        """The names and titles by their first tokens."""
        self.ends = {phrase.end: phrase for phrase in self.starts.values()}

    def fits(self, phrase: Phrase, kind: str) -> bool:
        """Return True if a phrase can be of the kind that an end of a relation needs."""
        marks = [MARKS.get(word, 0) for word in self.words[phrase.start : phrase.end]]
        given = bool(marks[0] & Mark.NAME and not marks[0] & Mark.PLACE)
        body = bool(marks[-1] & Mark.ORGANIZATION)
        if phrase.noun:
            return kind in ("any", "event", "group")
        match kind:
            case "person":
                return not phrase.quoted and self._is_person(phrase, marks)
            case "place" | "event":
                long = len(marks) > 2 or not given
                return long and not phrase.quoted and not (body and kind == "place")
            case "group":
                return len(marks) > 1 or not given
            case "title":
                return phrase.quoted or not (given or self.is_noun(phrase.end, verbs=True))
            case "maker":
                return not phrase.quoted
        return True

    def _is_person(self, phrase: Phrase, marks: list[int]) -> bool:
        if len(marks) > _PERSON_WORDS_MAX or any(
            mark & _NO_PERSON and not mark & Mark.NAME for mark in marks
        ):
            return False
        surfaces = self.text.surfaces[phrase.start : phrase.end]
        return not any(surface.isdigit() or surface[1:].isupper() for surface in surfaces)

    def owns(self, phrase: Phrase) -> bool:
        """Return True if a name has a possessive ending."""
        return not phrase.quoted and self.text.owns(phrase.end - 1)

    def is_capital(self, at: int) -> bool:
        """Return True if the word at index `at` begins with a capital letter."""
        return self.text.read.is_capital(at)

    def _phrases(self, page: str | None) -> Iterator[Phrase]:
        at = MARGIN
        words = () if page is None else tokens_of_name(page).words
        if page is not None and words and tuple(self.words[at : at + len(words)]) == words:
            at += len(words)
            yield Phrase(MARGIN, at, page)
        while at < self.end:
            quoted = self.words[at] in _OPENING
            end = self._quotation_end(at) if quoted else self._name_end(at)
            last = self._nouns_end(at, end) if end > at else end
            if end > at:
                first, final = (at + 1, end - 1) if quoted else (at, last)
                text = self._between(first, final)
                yield Phrase(at, last, text, quoted, last > end)
            at = max(last, at + 1)

    def _between(self, first: int, last: int) -> str:
        text = self.text.read.text[self._spans[first - MARGIN][0] : self._spans[last - 1 - MARGIN][1]]
        return text.strip(" ,").removesuffix("'s")

    def _quotation_end(self, at: int) -> int:
        """Return the index after the title in quotation marks that begins at `at`, or `at`."""
        tokens = self.text.read.tokens
        closing = range(at + 2, min(at + _QUOTE_TOKENS_MAX, self.end))
        end = next((one for one in closing if tokens[one] in _CLOSING), at)
        inside = range(at + 1, end)
        small = [self.words[one] for one in inside if tokens[one].isalpha() and not self.is_capital(one)]
        if end == at or not self.is_capital(at + 1) or not FUNCTION_WORDS.keys() >= set(small):
            return at
        says = tokens[end - 1] in ("!", "?") or all(self.words[one] in FUNCTION_WORDS for one in inside)
        return at if says else end + 1

    def _name_end(self, at: int) -> int:
        """Return the index after the name that begins at `at`, or `at` if none begins there."""
        words, end = self.words, at
        known = self._known((words[at],))
        if known and not self.is_capital(at):
            return at + 1
        while end < self.end and (more := self._next(at, end)):
            end += more
            if self.text.owns(end - 1) or words[end - 1].isdigit():
                break
        if end == at or all(len(word) == 1 for word in words[at:end]):
            return at
        mark = self.text.read.marks[at]
        alone = end - at == 1 and not known and not mark & (Mark.NAME | Mark.PLACE)
        if alone and (mark & _KINDS or (self.text.read.begins(at) and not is_unlisted(words[at]))):
            return at
        return end

    def _next(self, at: int, end: int) -> int:
        """Return how many tokens from `end` on continue the name that begins at `at`."""
        words = self.words
        if self._is_name_word(end):
            return 1
        if end == at:
            return 0
        if words[end].isdigit() or self._is_inside(end):
            return 1
        joint = 2 if words[end : end + 2] == ["of", "the"] else int(words[end] in _JOINTS)
        return joint + 1 if joint and self._is_name_word(end + joint) else 0

    def _is_inside(self, at: int) -> bool:
        """Return True if a mark is part of a name: `J. K. Rowling`, `CS:GO`, `LGBTQ+`."""
        mark, before = self.words[at], self.words[at - 1]
        if mark == "+":
            return True
        if not self.is_capital(at + 1):
            return False
        if mark == ".":
            return len(before) == 1 or before in _SHORT_FORMS
        if mark == "&":
            return not MARKS.get(before, 0) & Mark.NAME  # `Cog & Anchor`, but not `Anna & Rob`
        first, middle, last = self._spans[at - 1 - MARGIN : at + 2 - MARGIN]
        return mark in (":", "/") and (first[1], middle[1]) == (middle[0], last[0])

    def _is_name_word(self, at: int) -> bool:
        word, mark = self.words[at], self.text.read.marks[at]
        other = word in STOP_WORDS or word in DAYS or word.split("'")[0] == "i"
        return self.is_capital(at) and not other and (not mark & _NO_NAME or bool(mark & Mark.NAME))

    def _nouns_end(self, at: int, end: int) -> int:
        """Return the index after the common nouns that the name at `at:end` describes."""
        before, last = self.words[at - 1], end
        one = FUNCTION_WORDS.get(before) == "DET" and before not in ("the", "my")
        while last < end + _NOUNS_MAX and not self.text.owns(end - 1) and self.is_noun(last, verbs=one):
            last += 1
        return last

    def is_noun(self, at: int, *, verbs: bool = False) -> bool:
        """Return True if a word can be a common noun; with `verbs`, even if it can be a verb, too."""
        word = self.words[at]
        if not word.isalpha() or self.is_capital(at) or word.endswith("ly"):
            return False
        other = word in FUNCTION_WORDS or word in ADVERBS or word in NUMBERS or MARKS.get(word, 0) & TIMES
        return not other and (verbs or not is_verb(word))
