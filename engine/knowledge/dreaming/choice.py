"""The choice of the tags, mentions and relations for each text.

A tag is a name, a category, or a topic: a phrase that connects texts without names. A relation is added if a
text states it, or if two names often occur together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, islice
from math import log
from typing import Final

from engine.base import validation
from engine.base.errors import EngineError
from engine.commands.transaction import Command
from engine.followers.names import page_title
from engine.knowledge.dreaming.dream_commands import (
    CATEGORIES,
    RELATED,
    AddRelation,
    End,
    Enrich,
    MentionLookup,
    tag_owners,
)
from engine.knowledge.dreaming.name_evidence import Judge
from engine.knowledge.dreaming.name_uses import Name, Names
from engine.knowledge.dreaming.relations import may_state, statements_of
from engine.knowledge.dreaming.survey import ReadAtom, Survey, cached
from engine.ledger.entities import entity_identity, entity_key, entity_name
from engine.text.language.lexicon import ADJECTIVES

EVIDENCE: Final = 16
"""To find two texts for which a topic is chosen, at most this many texts are read."""


_DIGITS: Final = 3
"""The cohesion is rounded to this many decimal digits, so that it is the same on every machine."""


class Choice:
    """Chooses what is added to each text, after all names of the round are known."""

    def __init__(self, survey: Survey, names: Names, judge: Judge) -> None:
        self._survey = survey
        self._names = names
        self._judge = judge
        self._people: dict[bytes, bool] = {}
        self._topics = Topics(survey)
        self._relater = Relater(survey, names)
        self._chosen: dict[int, list[Name]] = {}
        """The ordinal of an atom → the names chosen for the text of the atom."""
        self._counts: dict[bytes, tuple[int, int]] = {}
        """Entity → the numbers of internal texts and of all texts with its name."""
        self._connected: set[tuple[bytes, bytes]] = set()
        """The pairs of entities for which a command was returned. They need no further work."""

    def commands_for(self, texts: Sequence[ReadAtom]) -> list[Command]:
        """Return the commands for some atoms.

        For each atom, the first command adds tags and mentions. The others relate the names in the atom to
        each other.
        """
        lookup = MentionLookup([])
        commands: list[Command] = []
        for text in texts:
            addition = self._additions(text, lookup)
            if addition is not None:
                commands.append(addition)
            if text.record.ordinal in self._survey.internal:
                commands += self._related(text)
                commands += self._relater.commands(text)
        return commands

    def _additions(self, text: ReadAtom, lookup: MentionLookup) -> Enrich | None:
        """Return the command that adds tags and mentions to an atom, or None if there is nothing to add."""
        internal = text.record.ordinal in self._survey.internal
        names = self._names_in(text)
        tags = list(self._tags(text, internal=internal))
        mentions = tuple(name.id for name in names)
        # All categories, however common: the tags of some would change what a filter by category selects.
        categories = tuple(one.value.capitalize() for one in text.categories)
        if not (tags or categories or mentions):
            return None
        payload_seq, most = text.record.payload_seq, self._survey.config.tags_per_atom
        lookup.pairs += [(text.record.id, entity) for entity in mentions]
        return Enrich(text.record.id, payload_seq, tuple(tags), categories, mentions, most, lookup)

    def _names_in(self, text: ReadAtom) -> list[Name]:
        """Return a text's names that are neither too rare nor too common, the rarest first.

        A person is never too common.
        """
        return cached(self._chosen, text.record.ordinal, lambda: self._choose_names(text))

    def _choose_names(self, text: ReadAtom) -> list[Name]:
        internal = text.record.ordinal in self._survey.internal
        found = self._names.found_in(text.tokenized, self._survey.config.known_per_atom)
        chosen = [name for name in found if self._fits(name, internal=internal) or self._is_person(name)]
        chosen.sort(key=lambda name: (self._counted(name)[0], name.tokens.words))
        return chosen[: self._survey.config.mentions_per_atom]

    def _tag_names(self, text: ReadAtom) -> list[Name]:
        """Return the names that become tags of a text. A person whom too many texts name is no tag."""
        internal = text.record.ordinal in self._survey.internal
        names = [name for name in self._names_in(text) if self._fits(name, internal=internal)]
        return names[: self._survey.config.names_per_atom]

    def _fits(self, name: Name, *, internal: bool) -> bool:
        survey = self._survey
        count, every = self._counted(name)
        # For an internal text only internal texts count, so external texts cannot make a name too common.
        return survey.fits(count, survey.internal) and (internal or survey.fits(every, survey.texts))

    def _is_person(self, name: Name) -> bool:
        count, _ = self._counted(name)
        people = (self._judge.is_person(form) for form in name.forms)
        return count >= self._survey.config.atoms_min and cached(self._people, name.id, lambda: any(people))

    def _counted(self, name: Name) -> tuple[int, int]:
        return cached(self._counts, name.id, partial(self._count, name))

    def _count(self, name: Name) -> tuple[int, int]:
        ordinals = self._survey.named(name)
        return ordinals.intersection_cardinality(self._survey.internal), len(ordinals)

    def _tags(self, text: ReadAtom, *, internal: bool) -> Iterator[str]:
        """Yield the tags of a text: its names, the rarest first, then its topics."""
        for name in self._tag_names(text):
            yield from _tag(name.text)
        if internal:
            for topic in self._topics.shared(text, self._room):
                yield from _tag("-".join(topic))

    def _room(self, text: ReadAtom) -> int:
        """Return the number of topics that an internal text may have."""
        config = self._survey.config
        had = tag_owners(self._survey.rows, text.record)
        # Removed tags are also counted, so that no topic is added in place of a removed tag.
        tags = len((had.others | had.removed) - CATEGORIES)
        if tags < config.tags_min:
            tags += len(self._tag_names(text))
        return config.phrases_per_atom if tags < config.tags_min else 0

    def _related(self, text: ReadAtom) -> Iterator[AddRelation]:
        """Yield the commands that relate names in a text, if the names often occur together."""
        survey = self._survey
        for pair in combinations(self._names_in(text), 2):
            one, other = sorted(pair, key=lambda name: name.tokens.words)
            if (one.id, other.id) in self._connected:
                continue
            first, second = (survey.named(name) & survey.internal for name in (one, other))
            shared, larger = len(first & second), max(len(first), len(second))
            if shared >= survey.config.together_min and shared >= survey.config.together_share * larger:
                self._connected.add((one.id, other.id))
                ends = End(one.text, one.id), RELATED, End(other.text, other.id)
                weight = round(shared / larger, 2)
                yield AddRelation(text.record.id, text.record.payload_seq, *ends, weight=weight)


def _tag(text: str) -> Iterator[str]:
    """Yield a text as a tag; yield nothing if it is not a valid tag."""
    try:
        yield validation.tag(text)
    except EngineError:
        return


Topic = tuple[str, str]
"""Two words in lower case that are adjacent in a text."""


class Topics:
    """Chooses topics for the internal texts of a survey."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._chosen: dict[int, tuple[Topic, ...]] = {}
        self._shared: dict[Topic, bool] = {}
        self._ranks: dict[Topic, tuple[float, int] | None] = {}

    def shared(self, text: ReadAtom, most: Callable[[ReadAtom], int]) -> Iterator[Topic]:
        """Yield the topics that are chosen for an internal text and for at least one other text.

        `most` returns how many topics a text may have. Without the check, many topics would become the tag
        of only one text, because other topics are chosen for the other texts with its words.
        """
        for topic in self._of(text.record.ordinal, text, most):
            if cached(self._shared, topic, partial(self._is_shared, topic, most)):
                yield topic

    def _is_shared(self, topic: Topic, most: Callable[[ReadAtom], int]) -> bool:
        """Return True if a topic is chosen for two of the first texts with its words.

        The same texts are read for every text with the topic, so that these two texts get it as well.
        """
        one, other = map(self._survey.among, topic)
        texts = (at for at in islice(one & other, EVIDENCE) if topic in self._of(at, None, most))
        return sum(1 for _ in islice(texts, 2)) == 2

    def _of(self, ordinal: int, text: ReadAtom | None, most: Callable[[ReadAtom], int]) -> tuple[Topic, ...]:
        """Return the topics of a text, the best first. The text is read only if they are not known."""

        def made() -> tuple[Topic, ...]:
            read = self._survey.read([ordinal])[0] if text is None else text
            count = most(read)
            found = read.tokenized.phrases() if count > 0 else ()
            ranked = [(cached(self._ranks, topic, partial(self._rank, topic)), topic) for topic in found]
            return tuple(topic for _, topic in sorted(one for one in ranked if one[0] is not None)[:count])

        return cached(self._chosen, ordinal, made)

    def _rank(self, topic: Topic) -> tuple[float, int] | None:
        """Return the rank of a topic, the lowest for the best, or None if the topic is not suitable."""
        config, texts = self._survey.config, len(self._survey.internal)
        one, other = map(self._survey.among, topic)
        shared = one.intersection_cardinality(other)
        if not config.atoms_min <= shared <= max(config.phrase_min, int(config.phrase_share * texts)):
            return None
        cohesion = round(_cohesion(shared, len(one), len(other), texts), _DIGITS)
        least = config.described_min if topic[0] in ADJECTIVES else config.cohesion_min
        return (-cohesion, -shared) if cohesion >= least else None


def _cohesion(both: int, one: int, other: int, texts: int) -> float:
    """Return the normalised pointwise mutual information of two words: 0 by chance, 1 if never apart.

    The arguments are the numbers of texts with both words, with each word, and of all texts. Source: Bouma,
    Normalized (Pointwise) Mutual Information in Collocation Extraction, 2009.
    """
    return 1.0 if both == texts else log(both * texts / (one * other)) / log(texts / both)


class Relater:
    """Finds the relations that texts state."""

    def __init__(self, survey: Survey, names: Names) -> None:
        self._survey = survey
        self._names = names

    def commands(self, text: ReadAtom) -> Iterator[AddRelation]:
        """Yield the commands that add the relations that an internal text states."""
        record, config = text.record, self._survey.config
        if not may_state(text.body.content[: config.chars]):
            return
        known = _by_words(self._names.found_in(text.tokenized, config.known_per_atom))
        page = page_title(text.body) or text.body.title
        found = statements_of(text.body.content[: config.chars], page, known.__contains__)
        for one in found[: config.relations_per_atom]:
            subject, object_ = self._end(one.subject, known), self._end(one.object, known)
            if subject is not None and object_ is not None:
                at = one.start, one.end
                yield AddRelation(record.id, record.payload_seq, subject, one.predicate, object_, at)

    def _end(self, text: str, known: dict[tuple[str, ...], Name]) -> End | None:
        """Return the entity that these words name, or None if they cannot be a name."""
        if len(text) > self._survey.config.name_chars_max:
            return None
        name = known.get(tuple(text.lower().split()))
        if name is not None:
            return End(name.text, name.id)
        try:
            entity_key(entity_name(text))
        except EngineError:
            return None
        return End(text, None) if any(map(str.isalnum, entity_identity(text))) else None


def _by_words(names: Iterable[Name]) -> dict[tuple[str, ...], Name]:
    """Return the names by the words of their forms. An alias of two names is left out."""
    by_word: dict[tuple[str, ...], Name] = {}
    ambiguous: set[tuple[str, ...]] = set()
    for name in names:
        for form in name.forms:
            if by_word.setdefault(form.words, name) is not name and form != name.tokens:
                ambiguous.add(form.words)
    return {words: name for words, name in by_word.items() if words not in ambiguous}
