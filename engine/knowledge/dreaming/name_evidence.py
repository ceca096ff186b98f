"""The evidence for names: how the texts of the memory use capitalised words.

    uses of the words in a sample of the texts ──▶ is it a name ──▶ is it the short form of one longer name

Where the uses leave it open, a pipeline decides, if there is one: it reads one sentence of each text. Every
decision depends only on the texts and on the pipeline, so it is the same whichever text is read first.

The strongest evidence for a person is a line that begins with the name of its speaker, `Rob: …`. A text that
addresses somebody, as `Hey Rob!`, names a person, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from pyroaring import BitMap

from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.dreaming.name_uses import Uses, uses_of
from engine.knowledge.dreaming.pipeline import Recognizer, Seen
from engine.knowledge.dreaming.relations import SENTENCE_CHARS_MAX
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
from engine.text.language.tokenizer import sentences_of

UNCOUNTABLE: Final = frozenset(read_lists(__package__, "uncountable.txt")["uncountable"])
"""Nouns that can stand before a singular verb without an article, as names do: `Rain is coming.`"""
_NOUN_ENDINGS: Final = tuple(ending for ending in LISTS["noun_endings"] if len(ending) > 2)
_NAME: Final = Mark.NAME | Mark.NAME_HINT
_TITLE_SHARE: Final = 0.5
"""The least share of the uses that must have a title for the title to become a part of an alias."""


_ENDS: Final = frozenset(".!?")
_FIRST: Final = 3
"""The fewest sentences that show that a word is a nationality or language and no name."""
_PERSON: Final = 2
"""The fewest texts that must address somebody by a name, or label what somebody says with it."""
_BESIDE: Final = 2
"""A short form of a name is looked up among the speakers of this many texts before and after it."""
_SHORT_MIN: Final = 2
_NAMED_MIN: Final = 3
"""A listed given name is learned from this many texts in a memory of any size."""


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
    speaks: int
    """The texts in which the words are the label of what somebody says."""
    addressed: int
    """The texts that address somebody with the words."""

    @property
    def is_person(self) -> bool:
        """True if the texts label or address somebody with the words."""
        return max(self.speaks, self.addressed) >= _PERSON

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
            speaks=sum(bool(use.speaks) for use in uses),
            addressed=sum(bool(use.addressed) for use in uses),
        )


class Verdict(Enum):
    """The verdict of the uses of some words on whether the words are a name."""

    NAME = "name"
    LIKELY = "likely"
    """The words are a name, unless a pipeline mostly takes them for a nationality or language."""
    UNLIKELY = "unlikely"
    """The words are not a name, unless a pipeline mostly takes them for one."""
    NO_NAME = "no name"


class Found(NamedTuple):
    """A name that is to be learned, with its aliases."""

    name: Tokens
    aliases: tuple[str, ...]
    by_pipeline: bool = False
    """True if only the pipeline takes this for a name."""


class Place(NamedTuple):
    """A sentence, and where words begin and end in it."""

    sentence: str
    start: int
    end: int


class Opinion(NamedTuple):
    """What the uses of some words tell."""

    verdict: Verdict
    found: Found
    """The name that is learned, unless the verdict or the pipeline is against it."""

    def settled(self, read: Sequence[tuple[Place, list[Seen]]], atoms_min: int) -> Found | None:
        """Return the name if it is learned; `read` is what a pipeline saw in the sentences it read."""
        entity = other = 0
        for place, seen in read:
            near = [one for one in seen if one.start < place.end and place.start < one.end]
            texts = [_bare(place.sentence[one.start : one.end]) for one in near if one.is_name]
            entity += self.found.name.text in texts
            other += any(not one.is_name for one in near)
        if self.verdict is Verdict.UNLIKELY:
            is_entity = entity >= atoms_min and 2 * entity > len(read)
            return self.found._replace(by_pipeline=True) if is_entity else None
        foreign = self.verdict is Verdict.LIKELY and other >= _FIRST and 2 * other > len(read)
        return None if foreign or self.verdict is Verdict.NO_NAME else self.found


class Judge:
    """Decides which capitalised words are names, and which names are aliases of longer ones."""

    def __init__(self, survey: Survey, recognizer: Recognizer | None = None) -> None:
        self._survey = survey
        self._recognizer = recognizer
        self._config: DreamConfig = survey.config
        self._evidence: dict[tuple[str, ...], Evidence] = {}

    def judged(self, candidates: Sequence[Tokens]) -> list[Found | None]:
        """Return the name that each of some words stands for, or None for words that are not a name.

        The first or last word of a person's name stands for the whole name, unless it also belongs to the
        names of others. If there is a pipeline, it reads sentences with the words of which the uses leave it
        open, all sentences together.
        """
        opinions = [self._opinion(tokens) for tokens in candidates]
        decided = (Verdict.NAME, Verdict.NO_NAME) if self._recognizer is not None else tuple(Verdict)
        places = [
            () if opinion.verdict in decided else self._places(opinion.found.name) for opinion in opinions
        ]
        sentences = [place.sentence for found in places for place in found]
        seen = iter([] if self._recognizer is None else self._recognizer.names_in(sentences))
        return [
            opinion.settled([(place, next(seen)) for place in found], self._config.atoms_min)
            for opinion, found in zip(opinions, places, strict=True)
        ]

    def _opinion(self, tokens: Tokens) -> Opinion:
        if len(tokens.words) > 1:
            if is_person(tokens) and (aliases := self._short_forms(tokens)):
                return Opinion(Verdict.NAME, Found(tokens, aliases))
            verdict = self._verdict(tokens, self._of(tokens)) if self._fits(tokens) else Verdict.NO_NAME
            return Opinion(verdict, Found(tokens, ()))
        if not self._fits(tokens):
            return Opinion(Verdict.NO_NAME, Found(tokens, ()))
        evidence = self._of(tokens)
        named = self._named_by(tokens, evidence)
        if named is not None:
            return Opinion(Verdict.NAME, Found(named, (tokens.text,)))
        whole = self._whole(tokens, evidence)
        if whole is not None and (aliases := self._short_forms(whole)):
            return Opinion(Verdict.NAME, Found(whole, aliases))
        return Opinion(self._verdict(tokens, evidence), Found(tokens, self._titled(tokens, evidence)))

    def is_person(self, tokens: Tokens) -> bool:
        """Return True if texts label or address somebody with these words."""
        return self._of(tokens).is_person

    def _fits(self, tokens: Tokens) -> bool:
        """Return True if neither too few nor too many texts have the words. A person can be in any number."""
        survey = self._survey
        least = self._least(tokens)
        # The index knows at once how many texts have a rare word.
        if survey.at_most(tokens.words) < least:
            return False
        count = survey.containing(tokens.words).intersection_cardinality(survey.internal)
        return count >= least and (survey.fits(count, survey.internal) or self.is_person(tokens))

    def _least(self, tokens: Tokens) -> int:
        least = self._survey.name_atoms_min
        return min(least, _NAMED_MIN) if is_given_name(tokens) else least

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
        if evidence.is_person:
            return Verdict.NAME
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
        if found < self._config.atoms_min:
            return False
        count = survey.containing(tokens.words).intersection_cardinality(survey.internal)
        return found * count >= self._least(tokens) * evidence.read

    def _named_by(self, tokens: Tokens, evidence: Evidence) -> Tokens | None:
        """Return the only speaker around the texts whose name begins with the one they call, or None.

        `Hey Mel!` is said to Melanie if she speaks before or after it, and no other speaker's name begins so.
        """
        word = tokens.words[0]
        if not evidence.addressed or evidence.speaks or len(word) < _SHORT_MIN:
            return None
        survey, found = self._survey, set[Tokens]()
        for text in self._sample(tokens):
            at = text.record.ordinal
            beside = BitMap(range(max(0, at - _BESIDE), at + _BESIDE + 1)) & survey.internal
            for one in survey.read(list(beside)):
                same = one.record.source == text.record.source
                found.update(name for name in one.tokenized.speakers if same and _begins(name, word))
        name = next(iter(found)) if len(found) == 1 else None
        return name if name is not None and self._of(name).is_person else None

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

    def _places(self, tokens: Tokens) -> list[Place]:
        """Return where the words stand in sentences that the pipeline may read, one of each text."""
        found = (_place_of(tokens.text, text) for text in self._sample(tokens))
        return [place for place in found if place is not None][: self._config.parsed]

    def _titled(self, tokens: Tokens, evidence: Evidence) -> tuple[str, ...]:
        """Return the word with the title that most of the texts put before it, or nothing."""
        if not evidence.titles:
            return ()
        title, count = min(evidence.titles.items(), key=lambda one: (-one[1], one[0]))
        return (f"{title} {tokens.text}",) if count >= _TITLE_SHARE * evidence.written else ()


def _is_place(tokens: Tokens) -> bool:
    return len(tokens.words) == 1 and bool(MARKS.get(tokens.words[0], 0) & Mark.PLACE)


def _begins(name: Tokens, word: str) -> bool:
    return name.words[0] != word and name.words[0].startswith(word)


def _place_of(name: str, text: ReadAtom) -> Place | None:
    """Return the place of a name in the first sentence of a text that has it."""
    content = text.body.content[: text.tokenized.chars].replace("\u2019", "'")
    for sentence in sentences_of(content) if name in content else ():
        at = sentence.find(name)
        if at >= 0 and sentence[-1] in _ENDS and len(sentence) <= SENTENCE_CHARS_MAX:
            return Place(sentence, at, at + len(name))
    return None


def _bare(name: str) -> str:
    return name.removeprefix("the ").removeprefix("The ").removesuffix("'s")
