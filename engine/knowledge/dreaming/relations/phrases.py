"""The noun phrases of a sentence, found by their edges: articles, function words, verbs and punctuation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Final, NamedTuple

from engine.knowledge.dreaming.relations.relation_sentences import Sentence
from engine.knowledge.dreaming.relations.relation_words import WORDS
from engine.text.language.categories.marked_text import LISTS, MARKS, Mark
from engine.text.language.lexicon import (
    ADJECTIVES,
    ADVERBS,
    BARE_VERBS,
    FUNCTION_WORDS,
    GIVEN_NAMES,
    NAME_PARTICLES,
    NOT_ADVERBS,
    NOUN_FIRST,
    NUMBERS,
)
from engine.text.language.parts_of_speech import is_gerund, is_past, is_third, is_verb

WORDS_MAX: Final = 6
"""The largest number of words in a phrase."""

_ARTICLES: Final = WORDS["articles"]
POSSESSIVES: Final = WORDS["possessives"]
_REFUSED: Final = WORDS["refused"]
_VAGUE: Final = WORDS["vague"]
"""Words that name nothing in particular."""
_POINTING: Final = frozenset({"this", "that", "these", "those"})
"""Articles that point at something outside the sentence."""
_UNNAMED: Final = Mark.TEMPORAL | Mark.MONTH_SHORT | Mark.SPAN | Mark.GREETING
_PLACE: Final = Mark.PLACE | Mark.PLACE_TITLE | Mark.PLACE_NOUN
_GROUP: Final = Mark.ORGANIZATION
_PARTICLES: Final = (NAME_PARTICLES | frozenset(LISTS["particles"])) - {"&", "bin"}
_ADDRESS: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?")
_SAYING: Final = WORDS["saying"]
_FILLERS: Final = WORDS["fillers"]
_LOOSE: Final = WORDS["loose"]
"""Adjectives that do not belong to the name of a thing."""


_BEFORE_PLACES: Final = WORDS["before_places"]


class Kind(IntEnum):
    """The role that a token can have in a phrase."""

    NOUN = 0
    CAPITAL = 1
    ADJECTIVE = 2
    NUMBER = 3
    VERB = 4
    ARTICLE = 5
    POSSESSIVE = 6
    OTHER = 7
    """Punctuation, or a word that is in no phrase."""


class Phrase(NamedTuple):
    """A noun phrase: the tokens from `start` up to but excluding `end`, without an article."""

    start: int
    end: int
    proper: bool
    """True if the phrase is a name: its words are capitalised, or it is known as a name."""
    article: str
    """The article or possessive before the phrase, or an empty string."""


Known = Callable[[tuple[str, ...]], bool]
"""Return True if these words in lower case are the name of an entity."""


class Phrases:
    """The noun phrases of one sentence."""

    def __init__(self, sentence: Sentence, known: Known) -> None:
        self.sentence = sentence
        self.words = sentence.words
        self._known = known
        self._kinds: dict[int, Kind] = {}

    def text(self, phrase: Phrase) -> str:
        """Return the words of a phrase with single spaces."""
        joined = " ".join(self.sentence.surfaces[phrase.start : phrase.end])
        return joined.replace(" 's", "'s").replace(" ,", ",")

    def kind(self, at: int) -> Kind:
        """Return the role that the token at index `at` can have."""
        if at not in self._kinds:
            self._kinds[at] = self._kind(at)
        return self._kinds[at]

    def _kind(self, at: int) -> Kind:
        word = self.words[at]
        if not word or not (word[0].isalnum() or word[0] == "_"):
            return Kind.OTHER
        if word in _ARTICLES:
            return Kind.ARTICLE
        if word in POSSESSIVES:
            return Kind.POSSESSIVE
        if word in FUNCTION_WORDS or word in ADVERBS:
            return Kind.OTHER
        if word[0].isdigit() or word in NUMBERS:
            return Kind.NUMBER
        return self._kind_of_word(at, word)

    def _kind_of_word(self, at: int, word: str) -> Kind:
        first = at == 1 or self.words[at - 1] in ("", ":", '"', "(", ",", "-")
        if self.sentence.is_capital(at) and not (at == 1 and self._is_common(at)):
            return Kind.CAPITAL
        if self._known((word,)) or (word in GIVEN_NAMES and not MARKS.get(word, 0) & Mark.NAME_HINT):
            return Kind.CAPITAL
        if MARKS.get(word, 0) & (Mark.TEMPORAL | Mark.GREETING) and not first:
            return Kind.OTHER
        if word.endswith("ly") and len(word) > 4 and word not in NOT_ADVERBS:
            return Kind.OTHER
        if word in ADJECTIVES:
            return Kind.ADJECTIVE
        return Kind.VERB if is_verb(word) else Kind.NOUN

    def _is_common(self, at: int) -> bool:
        """Return True if the capital letter of a word only shows that the word begins the sentence."""
        word, mark = self.words[at], MARKS.get(self.words[at], 0)
        if self._known((word,)) or mark & Mark.NAME or self.sentence.surfaces[at][1:] != word[1:]:
            return False
        if word.endswith("ly") and len(word) > 4 and word not in NOT_ADVERBS:
            return True
        if mark & (_UNNAMED | Mark.SUBJECT):
            return True
        if self.words[at + 1] == "'s" or self.sentence.is_capital(at + 1):
            return word in ADJECTIVES or is_verb(word)
        return word in ADJECTIVES or is_verb(word) or self._is_noun(at + 1)

    def _is_noun(self, at: int) -> bool:
        """Return True if a word in small letters is more likely a noun than the verb after a name."""
        word = self.words[at]
        return (
            bool(word)
            and word[0].isalpha()
            and word not in FUNCTION_WORDS
            and word not in ADVERBS
            and not is_verb(word)
            and not word.endswith("ly")
        )

    # -- to the right ------------------------------------------------------------------------------------

    def right(self, at: int) -> Phrase | None:
        """Return the phrase that begins at a token, which may be an article, or None."""
        article = ""
        while self.words[at] in ("both", "all"):
            at += 1
        kind = self.kind(at)
        if kind in (Kind.ARTICLE, Kind.POSSESSIVE):
            article, at = self.words[at], at + 1
        start, end = at, self._right_end(at)
        return self.made(start, end, article)

    def _right_end(self, start: int) -> int:
        at = start
        while at - start <= WORDS_MAX:
            kind = self.kind(at)
            if kind is Kind.OTHER:
                if not self._joins(start, at):
                    break
            elif kind in (Kind.ARTICLE, Kind.POSSESSIVE) or (at > start and self._ends_before(at)):
                break
            at += 1
        return at

    def _joins(self, start: int, at: int) -> bool:
        """Return True if a particle inside a name is at index `at`: `University of Leeds`."""
        before = at > start and self.kind(at - 1) is Kind.CAPITAL
        after = self.kind(at + 1) is Kind.CAPITAL or (
            self.words[at + 1] == "the" and self.words[at] == "of" and self.kind(at + 2) is Kind.CAPITAL
        )
        if before and self.words[at] == "the":
            return False
        return before and after and (self.words[at] in _PARTICLES or self.words[at] in ("&", "of"))

    def _ends_before(self, at: int) -> bool:
        """Return True if the phrase ends before the word at index `at`, which could belong to it."""
        kind, before, word = self.kind(at), self.kind(at - 1), self.words[at]
        if word in _SAYING:
            return True
        if MARKS.get(word, 0) & Mark.POINTING and not self.sentence.is_capital(at):
            return True
        if kind is Kind.VERB:
            if before in (Kind.ADJECTIVE, Kind.VERB) and not is_third(word):
                return False
            return self._is_verb_here(at)
        return before is Kind.CAPITAL and kind is Kind.ADJECTIVE

    def _is_verb_here(self, at: int) -> bool:
        """Return True if a word after a noun is a verb and not a part of the phrase."""
        word, after = self.words[at], self.words[at + 1]
        if (is_past(word) and word not in BARE_VERBS) or is_gerund(word):
            return True
        starts = self.kind(at + 1) in (Kind.ARTICLE, Kind.POSSESSIVE) or after in FUNCTION_WORDS
        before = self.words[at - 1]
        if (
            before.endswith("s")
            and not before.endswith(("ss", "us", "is"))
            and self.kind(at - 1) is Kind.NOUN
        ):
            return True
        if is_third(word):
            return starts or self.kind(at + 1) in (Kind.CAPITAL, Kind.ADJECTIVE, Kind.NOUN)
        return starts and after not in ("and", "or", "of", "in", "on", "at", "for", "is", "has", "was")

    def made(self, start: int, end: int, article: str) -> Phrase | None:
        """Return the phrase of some tokens, without words that do not belong to its name."""
        while end > start and self.kind(end - 1) in (Kind.ADJECTIVE, Kind.OTHER, Kind.ARTICLE):
            end -= 1
        if (
            start >= end
            or end - start > WORDS_MAX
            or self.words[start - 1] in _REFUSED
            or article in _POINTING
        ):
            return None
        capital = self.kind(end - 1) is Kind.CAPITAL
        if capital:
            first = end - 1
            while first > start and (
                self.kind(first - 1) in (Kind.CAPITAL, Kind.NUMBER) or self._in_name(first - 1)
            ):
                first -= 1
            start = self._named_from(first, end)
        else:
            while start < end - 1 and self.words[start] in _LOOSE:
                start += 1
        words = tuple(self.words[start:end])
        if len(words) == 1 and not article and self.kind(start) is Kind.VERB and words[0] not in NOUN_FIRST:
            return None
        if not _REFUSED.isdisjoint(words) and not capital:
            return None
        if not words or self._is_unusable(words, start, end):
            return None
        proper = capital or self.kind(start) is Kind.CAPITAL or self._known(words)
        return Phrase(start, end, proper, article)

    def _in_name(self, at: int) -> bool:
        return (self.kind(at - 1) is Kind.CAPITAL and self._joins(at - 1, at)) or (
            self.words[at] == "the" and self.words[at - 1] == "of" and self.kind(at - 2) is Kind.CAPITAL
        )

    def _named_from(self, first: int, end: int) -> int:
        while (
            first < end
            and MARKS.get(self.words[first], 0) & (_UNNAMED | Mark.SUBJECT)
            and not self._known((self.words[first],))
            and not MARKS.get(self.words[first], 0) & Mark.NAME
        ):
            first += 1
        return first

    def _is_unusable(self, words: tuple[str, ...], start: int, end: int) -> bool:
        mark = MARKS.get(words[-1], 0)
        if len(words) == 1 and (words[0] in _VAGUE or words[0] in _SAYING or words[0] in _FILLERS):
            return True
        if all(self.kind(at) is Kind.NUMBER for at in range(start, end)) and not _ADDRESS.fullmatch(
            words[-1]
        ):
            return True
        if len(words[-1]) < 2 and not words[-1].isdigit() and self.kind(end - 1) is not Kind.CAPITAL:
            return True
        time = mark & (Mark.TEMPORAL | Mark.SPAN | Mark.MONTH_SHORT) and not mark & Mark.NAME
        return bool(time)

    # -- to the left -------------------------------------------------------------------------------------

    def left(self, end: int) -> Phrase | None:
        """Return the phrase before the token at index `end`, or None."""
        start = end
        while start > 1 and end - start <= WORDS_MAX and self._continues_left(start - 1, end):
            start -= 1
        if start == end:
            return None
        article = self.words[start - 1] if self.kind(start - 1) in (Kind.ARTICLE, Kind.POSSESSIVE) else ""
        return self.made(start, end, article)

    def _continues_left(self, at: int, end: int) -> bool:
        kind = self.kind(at)
        if kind in (Kind.NOUN, Kind.CAPITAL, Kind.NUMBER):
            return True
        if kind is Kind.ADJECTIVE:
            return at + 1 < end
        if kind is Kind.VERB:
            if self.kind(end - 1) is Kind.CAPITAL and at + 1 < end:
                return False
            return self._has_article(at)
        return kind is Kind.OTHER and at + 1 < end and self._joins(at - 1, at)

    def _has_article(self, at: int) -> bool:
        """Return True if an article is before the words at index `at`, so that a verb form is a noun."""
        while at > 1 and self.kind(at) in (Kind.NOUN, Kind.VERB, Kind.ADJECTIVE, Kind.NUMBER):
            at -= 1
        return self.kind(at) in (Kind.ARTICLE, Kind.POSSESSIVE)

    def before(self, phrase: Phrase) -> int:
        """Return the index of the token before a phrase, its article and the words that describe it."""
        at = phrase.start - 1
        while at > 0 and self.kind(at) in (Kind.NOUN, Kind.ADJECTIVE, Kind.NUMBER):
            at -= 1
        if self.kind(at) in (Kind.ARTICLE, Kind.POSSESSIVE):
            at -= 1
        return at

    # -- what a phrase can be ------------------------------------------------------------------------------

    def is_person(self, phrase: Phrase) -> bool:
        """Return True if a phrase can be the name of a person."""
        if not phrase.proper:
            return False
        marks = [MARKS.get(word, 0) for word in self.words[phrase.start : phrase.end]]
        if any(mark & Mark.NAME for mark in marks[:2]) or marks[0] & Mark.HONORIFIC:
            given = marks[0] & Mark.NAME and not marks[0] & Mark.NAME_HINT and len(marks) == 2
            return not marks[-1] & (_GROUP | Mark.PLACE_TITLE) or bool(marks[-1] & Mark.NAME or given)
        words = self.words[phrase.start : phrase.end]
        if len(words) > 4 or phrase.article or "of" in words or any(word[0].isdigit() for word in words):
            return False
        return not any(mark & (_GROUP | _PLACE) for mark in marks)

    def is_surely_person(self, phrase: Phrase) -> bool:
        """Return True if a word of the phrase is a given name or a title of a person."""
        marks = [MARKS.get(word, 0) for word in self.words[phrase.start : phrase.end]]
        named = marks[0] & (Mark.NAME | Mark.HONORIFIC)
        return self.is_person(phrase) and bool(named)

    def _is_month(self, phrase: Phrase) -> bool:
        """Return True if a name that is also a month or season is used as one: `last August`."""
        if phrase.end - phrase.start > 1 or not MARKS.get(self.words[phrase.start], 0) & _UNNAMED:
            return False
        before = self.words[phrase.start - 1]
        return bool(MARKS.get(before, 0) & Mark.POINTING) or before.isdigit() or before in ("of", "since")

    def people(self) -> Iterator[Phrase]:
        """Yield the names in the sentence that can be names of people."""
        at = 1
        while at < len(self.sentence):
            if self.kind(at) is Kind.CAPITAL:
                end = at + 1
                while self.kind(end) in (Kind.CAPITAL, Kind.NUMBER) or self._joins(at, end):
                    end += 1
                phrase = self.made(at, end, "")
                before = self.words[at - 1]
                placed = before in _BEFORE_PLACES or before == '"'
                placed = placed or (at == 1 and end == 2 and self.kind(2) is Kind.OTHER)
                if phrase is not None and self._is_month(phrase):
                    phrase = None
                if phrase is not None and (
                    self.is_surely_person(phrase) if placed else self.is_person(phrase)
                ):
                    yield phrase
                at = end
            else:
                at += 1
