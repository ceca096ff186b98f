"""The evidence for names: how the texts of the memory use capitalised words.

    uses of the words in a sample of the texts ──▶ is it a name ──▶ is it the short form of one longer name

Where the uses leave it open, the parses of some sentences decide, if there is a pipeline. Every decision
depends only on the texts and on the pipeline, so it is the same whichever text is read first.

One sentence of each text is parsed. A heading, which has neither a verb nor a full stop, does not count: a
pipeline takes most capitalised words in headings for names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.dreaming.name_uses import Uses, uses_of
from engine.knowledge.dreaming.relations.dependency_parse import Parser
from engine.knowledge.dreaming.relations.relation_sentences import sentences_of
from engine.knowledge.dreaming.survey import ReadAtom, Survey, cached, spread
from engine.knowledge.dreaming.tokenized_text import (
    Tokens,
    is_given_name,
    is_person,
    is_possible,
    is_unlisted,
)
from engine.text.language.categories.marked_text import LISTS, MARKS, Mark
from engine.text.language.lexicon import read_lists

if TYPE_CHECKING:
    from spacy.tokens import Doc


UNCOUNTABLE: Final = frozenset(read_lists(__package__, "uncountable.txt")["uncountable"])
"""Nouns that can stand before a singular verb without an article, as names do: `Rain is coming.`"""
_NOUN_ENDINGS: Final = tuple(ending for ending in LISTS["noun_endings"] if len(ending) > 2)
_NAME: Final = Mark.NAME | Mark.NAME_HINT
_TITLE_SHARE: Final = 0.5
"""The least share of the uses that must have a title for the title to become a part of an alias."""


_NAMES: Final = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "WORK_OF_ART", "EVENT", "LAW"})
"""The labels of entities that have a name of their own. Nationalities, languages and dates are left out."""


_VERBS: Final = frozenset({"VERB", "AUX"})


_ENDS: Final = frozenset(".!?")


_NOT_COUNTED: Final = frozenset({"DET", "ADP", "PART", "PUNCT"})
"""Parts of speech of the words beside a name that an entity may contain, such as `the` and `'s`."""


_FIRST: Final = 3
"""The number of sentences that are parsed first. They are also the fewest that can show that words are no
name, because a pipeline often misses an unusual name in a sentence."""


class Evidence(NamedTuple):
    """The uses of a name's words in a sample of the texts that contain them.

    All fields are numbers of texts.
    """

    read: int
    """The texts of the sample."""
    texts: int
    """The texts of the sample that contain the words in any spelling, alone or in a longer name."""
    written: int
    """The texts with the name's spelling, alone."""
    inside: int
    """The texts with the name's spelling, alone and inside a sentence."""
    acting: int
    """The texts in which the words are alone, own something or do something."""
    placed: int
    other: int
    """The texts with a different spelling, such as lower case."""
    titles: Counter[str]
    longer: Counter[Tokens]

    @staticmethod
    def of(uses: Sequence[Uses]) -> Evidence:
        """Sum up the uses in several texts."""
        return Evidence(
            read=len(uses),
            texts=sum(any(use) for use in uses),
            written=sum(bool(use.inside or use.begins) for use in uses),
            inside=sum(bool(use.inside) for use in uses),
            acting=sum(bool(use.acting) for use in uses),
            placed=sum(bool(use.placed) for use in uses),
            other=sum(bool(use.other) for use in uses),
            titles=Counter(title for use in uses for title in set(use.titles)),
            longer=Counter(name for use in uses for name in set(use.longer)),
        )


class Verdict(Enum):
    """The verdict of the uses of some words on whether the words are a name."""

    NAME = "name"
    LIKELY = "likely"
    """The words are a name, unless a pipeline never takes them for one."""
    UNLIKELY = "unlikely"
    """The words are not a name, unless a pipeline mostly takes them for one."""
    NO_NAME = "no name"


class Found(NamedTuple):
    """A name that is to be learned, with its aliases."""

    name: Tokens
    aliases: tuple[str, ...]
    by_parse: bool = False
    """True if only the parses of sentences show that this is a name."""


class Judge:
    """Decides which capitalised words are names, and which names are aliases of longer ones."""

    def __init__(self, survey: Survey, parsed: ParsedNames | None = None) -> None:
        self._survey = survey
        self._parsed = parsed
        self._config: DreamConfig = survey.config
        self._evidence: dict[tuple[str, ...], Evidence] = {}

    def judged(self, tokens: Tokens) -> Found | None:
        """Return the name that the words stand for, or None if they are not a name.

        The first or last word of a person's name stands for the whole name, unless it also belongs to the
        names of others.
        """
        if len(tokens.words) > 1:
            if is_person(tokens) and (aliases := self._short_forms(tokens)):
                return Found(tokens, aliases)
            return self._decided(tokens, self._of(tokens), ())
        if not self._fits(tokens):
            return None
        evidence = self._of(tokens)
        whole = self._whole(tokens, evidence)
        if whole is not None and (aliases := self._short_forms(whole)):
            return Found(whole, aliases)
        return self._decided(tokens, evidence, self._titled(tokens, evidence))

    def _decided(self, tokens: Tokens, evidence: Evidence, aliases: tuple[str, ...]) -> Found | None:
        """Return the words with these aliases as a name, or None.

        Sentences are parsed only if the uses leave it open.
        """
        verdict, parsed = self._verdict(tokens, evidence), self._parsed
        if verdict is Verdict.UNLIKELY and parsed is not None:
            is_entity = parsed.is_entity(tokens, self._sample(tokens), self._config.atoms_min)
            return Found(tokens, aliases, by_parse=True) if is_entity else None
        if verdict is Verdict.LIKELY and parsed is not None:
            return None if parsed.is_no_name(tokens, self._sample(tokens)) else Found(tokens, aliases)
        return Found(tokens, aliases) if verdict in (Verdict.NAME, Verdict.LIKELY) else None

    def _fits(self, tokens: Tokens) -> bool:
        survey = self._survey
        least = survey.name_atoms_min
        # The index knows at once how many texts have a rare word.
        if survey.at_most(tokens.words) < least:
            return False
        count = survey.containing(tokens.words).intersection_cardinality(survey.internal)
        return count >= least and survey.fits(count, survey.internal)

    def _of(self, tokens: Tokens) -> Evidence:
        """Return the evidence for words, from an evenly spread sample of the texts with these words."""

        def made() -> Evidence:
            return Evidence.of([uses_of(text.tokenized, tokens) for text in self._sample(tokens)])

        return cached(self._evidence, tokens.surfaces, made)

    def _sample(self, tokens: Tokens) -> list[ReadAtom]:
        survey = self._survey
        return survey.read(spread(survey.containing(tokens.words) & survey.internal, self._config.evidence))

    def _verdict(self, tokens: Tokens, evidence: Evidence) -> Verdict:
        if not self._is_frequent(tokens, evidence, evidence.written) or self._is_common(evidence, tokens):
            return Verdict.NO_NAME
        if len(tokens.words) > 1:
            # Words of which each is common are a name only if most sentences capitalise them.
            if any(not self._is_common_word(surface) for surface in tokens.surfaces):
                return Verdict.NAME
            return Verdict.LIKELY if 2 * evidence.inside > evidence.written else Verdict.UNLIKELY
        if is_given_name(tokens) or evidence.titles or (_is_place(tokens) and evidence.inside):
            return Verdict.NAME
        if evidence.inside >= self._config.atoms_min:
            # Capital letters inside a word, as in `GitHub`, are not those of a heading or a sentence.
            return Verdict.LIKELY if tokens.surfaces[0][1:].islower() else Verdict.NAME
        word = tokens.words[0]
        marks = MARKS.get(word, 0)
        common = word in UNCOUNTABLE or word.endswith(_NOUN_ENDINGS) or marks & ~_NAME
        signs = evidence.acting + evidence.inside
        named = not common and not evidence.other and signs >= self._config.atoms_min
        return Verdict.LIKELY if named else Verdict.UNLIKELY

    def _is_frequent(self, tokens: Tokens, evidence: Evidence, found: int) -> bool:
        """Return True if enough texts have the name, given that `found` texts of the sample have it."""
        survey = self._survey
        if found < self._config.atoms_min or not self._fits(tokens):
            return False
        count = survey.containing(tokens.words).intersection_cardinality(survey.internal)
        return found * count >= survey.name_atoms_min * evidence.read

    def _is_common(self, evidence: Evidence, tokens: Tokens) -> bool:
        """Return True if too many texts spell the words differently, such as in lower case."""
        listed = len(tokens.words) == 1 and (is_given_name(tokens) or _is_place(tokens))
        return not listed and evidence.other > self._config.lower_share * evidence.texts

    def _is_common_word(self, surface: str) -> bool:
        """Return True if a word of a name is a common word elsewhere."""
        word = Tokens((surface,), (surface.lower(),))
        if MARKS.get(word.words[0], 0) & (Mark.NAME | Mark.PLACE):
            return False
        if not is_unlisted(word.words[0]) or word.words[0] in UNCOUNTABLE or not surface[0].isalpha():
            return True
        return self._is_common(self._of(word), word)

    def _whole(self, tokens: Tokens, evidence: Evidence) -> Tokens | None:
        """Return the only name of a person that begins or ends with this word, or None."""
        people = [name for name in evidence.longer if is_person(name) and is_possible(name, self._config)]
        if len(people) != 1 or not self._is_short_form(tokens, people[0], evidence):
            return None
        rest = [word for word in people[0].surfaces if word != tokens.surfaces[0]]
        return None if any(map(self._is_common_word, rest)) else people[0]

    def _is_short_form(self, tokens: Tokens, whole: Tokens, evidence: Evidence) -> bool:
        """Return True if texts use this word of a person's name by itself as a person's name."""
        if self._is_common(evidence, tokens) or not evidence.written:
            return False
        if MARKS.get(tokens.words[0], 0) & ~_NAME or evidence.placed > evidence.acting:
            return False
        if is_given_name(whole) or evidence.titles:
            return True
        return evidence.acting > 0 and not any(word.endswith(_NOUN_ENDINGS) for word in whole.words)

    def _short_forms(self, whole: Tokens) -> tuple[str, ...]:
        """Return the aliases of a person's name: its first or last word, and the last word with a title.

        Return nothing if these words together are in too few texts for a name.
        """
        aliases: dict[str, None] = {}
        frequent = False
        for at in (0, -1):
            word = Tokens((whole.surfaces[at],), (whole.words[at],))
            if is_possible(word, self._config) and self._fits(word):
                evidence = self._of(word)
                if self._whole(word, evidence) == whole:
                    aliases[word.text] = None
                    aliases.update(dict.fromkeys(self._titled(word, evidence)))
                    longer = evidence.written + evidence.longer[whole]
                    frequent = frequent or self._is_frequent(word, evidence, longer)
        return tuple(aliases) if frequent else ()

    def _titled(self, tokens: Tokens, evidence: Evidence) -> tuple[str, ...]:
        """Return the word with the title that most of the texts put before it, or nothing."""
        if not evidence.titles:
            return ()
        title, count = min(evidence.titles.items(), key=lambda one: (-one[1], one[0]))
        return (f"{title} {tokens.text}",) if count >= _TITLE_SHARE * evidence.written else ()


def _is_place(tokens: Tokens) -> bool:
    return len(tokens.words) == 1 and bool(MARKS.get(tokens.words[0], 0) & Mark.PLACE)


class _Place(NamedTuple):
    """A sentence with the words, which stand between the characters `start` and `end`."""

    sentence: str
    start: int
    end: int


class Parses(NamedTuple):
    """The evidence about words in the parses of some sentences. All fields are numbers of sentences."""

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
    places: list[_Place] = []
    for text in texts:
        place = next(_places_in(tokens, text), None)
        if place is not None:
            places.append(place)
            if len(places) == most:
                break
    return places


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
