"""What a pipeline says about capitalised words whose uses alone do not show whether they are a name.

One sentence of each text is parsed. A heading, which has neither a verb nor a full stop, does not count: a
pipeline takes most capitalised words in headings for names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.knowledge.dreaming.relations.pipeline import Parser
from engine.knowledge.dreaming.relations.sentences import sentences_of
from engine.knowledge.dreaming.survey import ReadAtom
from engine.knowledge.dreaming.tokenized_text import Tokens

if TYPE_CHECKING:
    from spacy.tokens import Doc

_NAMES: Final = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "WORK_OF_ART", "EVENT", "LAW"})
"""The labels of entities that have a name of their own. Nationalities, languages and dates are left out."""
_VERBS: Final = frozenset({"VERB", "AUX"})
_ENDS: Final = frozenset(".!?")
_NOT_COUNTED: Final = frozenset({"DET", "ADP", "PART", "PUNCT"})
"""Parts of speech of the words beside a name that an entity may contain, such as `the` and `'s`."""
_FIRST: Final = 3
"""The number of sentences that are parsed first. They are also the fewest that can show that words are no
name, because a pipeline often misses an unusual name in a sentence."""


class _Place(NamedTuple):
    """A sentence with the words, which stand between the characters `start` and `end`."""

    sentence: str
    start: int
    end: int


class Parses(NamedTuple):
    """What the parses of some sentences say about words. All numbers are numbers of sentences."""

    read: int
    """The parsed sentences, without headings."""
    entity: int
    """The sentences in which the words are a named entity, and not only a part of one."""
    proper: int
    """The sentences in which one of the words is a proper noun or part of a named entity."""


class ParsedNames:
    """Parses sentences with possible names."""

    def __init__(self, parser: Parser, most: int) -> None:
        self._parser = parser
        self._most = most
        """The largest number of sentences that are parsed for one possible name."""

    def is_entity(self, tokens: Tokens, texts: Sequence[ReadAtom], least: int) -> bool:
        """Return True if most of the sentences, and at least `least`, have the words as a named entity."""
        places = _places(tokens, texts, self._most)
        if len(places) < least:
            return False
        parses = self._parses(places)
        return parses.entity >= least and 2 * parses.entity > parses.read

    def is_no_name(self, tokens: Tokens, texts: Sequence[ReadAtom]) -> bool:
        """Return True if no sentence has the words as a proper noun or as a named entity."""
        places = _places(tokens, texts, self._most)
        if len(places) < _FIRST:
            return False
        first = self._parses(places[:_FIRST])
        if first.proper:
            return False
        rest = self._parses(places[_FIRST:])
        return not rest.proper and first.read + rest.read >= _FIRST

    def _parses(self, places: Sequence[_Place]) -> Parses:
        docs = self._parser.parsed(place.sentence for place in places)
        read = entity = proper = 0
        for place, doc in zip(places, docs, strict=True):
            if place.sentence[-1] in _ENDS or any(token.pos_ in _VERBS for token in doc):
                is_entity, is_proper = _seen(doc, place.start, place.end)
                read, entity, proper = read + 1, entity + is_entity, proper + is_proper
        return Parses(read, entity, proper)


def _seen(doc: Doc, start: int, end: int) -> tuple[bool, bool]:
    """Return whether the words between two characters are an entity, and whether they are in a name."""
    words = doc.char_span(start, end, alignment_mode="expand")
    if words is None:
        return False, False
    around = [one for one in doc.ents if one.start < words.end and words.start < one.end]
    named = [one for one in around if one.label_ in _NAMES]
    whole = any(
        one.start <= words.start
        and words.end <= one.end
        and all(words.start <= token.i < words.end or token.pos_ in _NOT_COUNTED for token in one)
        for one in named
    )
    return whole, bool(named) or any(token.pos_ == "PROPN" for token in words)


def _places(tokens: Tokens, texts: Sequence[ReadAtom], most: int) -> list[_Place]:
    """Return the first place of the words in each of the texts, at most `most` places."""
    found: list[_Place] = []
    for text in texts:
        place = next(_places_in(tokens, text), None)
        if place is not None:
            found.append(place)
            if len(found) == most:
                break
    return found


def _places_in(tokens: Tokens, text: ReadAtom) -> Iterator[_Place]:
    """Yield the places of the words in the sentences of a text, where no capitalised word is beside them."""
    name, content = tokens.text, text.body.content[: text.tokenized.chars].replace("\u2019", "'")
    if name not in content:
        return
    for one in sentences_of(content):
        sentence = " ".join(content[one.start : one.end].split("\n"))
        at = sentence.find(name)
        while at >= 0:
            end = at + len(name)
            if _is_alone(sentence, at, end):
                yield _Place(sentence, at, end)
            at = sentence.find(name, end)


def _is_alone(sentence: str, start: int, end: int) -> bool:
    """Return True if words are whole words, and not next to a capitalised word inside the sentence."""
    if sentence[start - 1 : start].isalnum() or sentence[end : end + 1].isalnum():
        return False
    if sentence[end : end + 1] == " " and sentence[end + 1 : end + 2].isupper():
        return False
    before = sentence[:start].split()
    if len(before) < 2 or not sentence[:start].endswith(" "):
        return True
    return not (before[-1][0].isupper() and before[-1][-1].isalnum())
