"""The choice of the tags, mentions and relations for each text.

A tag is a name, a category, or a topic: a key phrase or a key word that connects texts without names. A
relation is added if a text states it, or if two names often occur together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, islice
from math import log
from typing import TYPE_CHECKING, Final, NamedTuple

from pyroaring import BitMap

from engine.base import validation
from engine.base.errors import EngineError
from engine.base.validation import show_id
from engine.commands.transaction import Command
from engine.knowledge.dreaming.dream_commands import (
    CATEGORIES,
    AddRelation,
    Connect,
    End,
    Enrich,
    MentionLookup,
    tag_owners,
)
from engine.knowledge.dreaming.name_uses import Name, Names
from engine.knowledge.dreaming.relations.dependency_parse import Parser
from engine.knowledge.dreaming.relations.relation_words import WRITER
from engine.knowledge.dreaming.relations.sentence_patterns import TextReader, is_likely
from engine.knowledge.dreaming.survey import ReadAtom, Survey, cached
from engine.ledger.entities import entity_identity, entity_key, entity_name

if TYPE_CHECKING:
    from spacy.tokens import Doc


EVIDENCE: Final = 16
"""To find two texts for which a topic is chosen, at most this many texts are read."""


_DIGITS: Final = 3
"""The cohesion is rounded to this many decimal digits, so that it is the same on every machine."""


class Choice:
    """Chooses what is added to each text, after all names of the round are known."""

    def __init__(self, survey: Survey, names: Names) -> None:
        self._survey = survey
        self._names = names
        self._topics = Topics(survey)
        self._chosen: dict[int, list[Name]] = {}
        """The ordinal of an atom → the names chosen for the text of the atom."""
        self._counts: dict[bytes, tuple[int, int]] = {}
        """Entity → the numbers of internal texts and of all texts with its name."""
        self._connected: set[tuple[bytes, bytes]] = set()
        """The pairs of entities for which a command was returned. They need no further work."""

    def commands_for(
        self, texts: Sequence[ReadAtom], stated: Sequence[Sequence[AddRelation]]
    ) -> list[Command]:
        """Return the commands for some atoms. `stated` has the relations that each of the atoms states.

        For each atom, the first command adds tags and mentions. The others relate the names in the atom to
        each other.
        """
        lookup = MentionLookup([])
        commands: list[Command] = []
        for text, relations in zip(texts, stated, strict=True):
            addition = self._additions(text, lookup)
            if addition is not None:
                commands.append(addition)
            if text.record.ordinal in self._survey.internal:
                commands += self._related(self._names_in(text))
            commands += relations
        return commands

    def _additions(self, text: ReadAtom, lookup: MentionLookup) -> Enrich | None:
        """Return the command that adds tags and mentions to an atom, or None if there is nothing to add."""
        internal = text.record.ordinal in self._survey.internal
        names = self._names_in(text)
        tags = list(self._tags(text, names, internal=internal))
        mentions = tuple(name.id for name in names)
        # All categories, however common: the tags of some would change what a filter by category selects.
        categories = tuple(one.value.capitalize() for one in text.categories)
        if not (tags or categories or mentions):
            return None
        payload_seq, most = text.record.payload_seq, self._survey.config.tags_per_atom
        lookup.pairs += [(text.record.id, entity) for entity in mentions]
        return Enrich(text.record.id, payload_seq, tuple(tags), categories, mentions, most, lookup)

    def _names_in(self, text: ReadAtom) -> list[Name]:
        """Return a text's names that are neither too rare nor too common, the rarest first."""
        return cached(self._chosen, text.record.ordinal, lambda: self._choose_names(text))

    def _choose_names(self, text: ReadAtom) -> list[Name]:
        survey = self._survey
        internal = text.record.ordinal in survey.internal
        counted = []
        for name in self._names.found_in(text.tokenized, survey.config.known_per_atom):
            count, every = cached(self._counts, name.id, partial(self._count, name))
            # For an internal text only internal texts count, so external texts cannot make a name too common.
            if survey.fits(count, survey.internal) and (internal or survey.fits(every, survey.texts)):
                counted.append((count, name.tokens.words, name))
        counted.sort(key=lambda one: one[:2])
        return [name for _, _, name in counted[: survey.config.mentions_per_atom]]

    def _count(self, name: Name) -> tuple[int, int]:
        ordinals = self._survey.named(name)
        return ordinals.intersection_cardinality(self._survey.internal), len(ordinals)

    def _tags(self, text: ReadAtom, found: Sequence[Name], *, internal: bool) -> Iterator[str]:
        """Yield the tags of a text: its names, the rarest first, then its topics."""
        for name in found[: self._survey.config.names_per_atom]:
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
            tags += len(self._names_in(text)[: config.names_per_atom])
        return config.phrases_per_atom if tags < config.tags_min else 0

    def _related(self, found: Sequence[Name]) -> Iterator[Connect]:
        """Yield the commands that relate names in a text, if the names often occur together."""
        survey = self._survey
        for pair in combinations(found, 2):
            one, other = sorted(pair, key=lambda name: name.tokens.words)
            if (one.id, other.id) in self._connected:
                continue
            first, second = (survey.named(name) & survey.internal for name in (one, other))
            shared, larger = len(first & second), max(len(first), len(second))
            if shared >= survey.config.together_min and shared >= survey.config.together_share * larger:
                self._connected.add((one.id, other.id))
                yield Connect(show_id(one.id), show_id(other.id), round(shared / larger, 2))


def _tag(text: str) -> Iterator[str]:
    """Yield a text as a tag; yield nothing if it is not a valid tag."""
    try:
        yield validation.tag(text)
    except EngineError:
        return


Topic = tuple[str, ...]
"""Two words in lower case that are adjacent in a text, or one word in lower case."""


class Topics:
    """Chooses topics for the internal texts of a survey."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._chosen: dict[int, tuple[Topic, ...]] = {}
        self._shared: dict[Topic, bool] = {}
        self._ranks: dict[Topic, tuple[float, ...] | None] = {}

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
        first = islice(self._common(topic), EVIDENCE)
        texts = (one for one in first if topic in self._of(one, None, most))
        return sum(1 for _ in islice(texts, 2)) == 2

    def _of(self, ordinal: int, text: ReadAtom | None, most: Callable[[ReadAtom], int]) -> tuple[Topic, ...]:
        """Return the topics of a text, which is read only if they are not known."""

        def made() -> tuple[Topic, ...]:
            read = self._survey.read([ordinal])[0] if text is None else text
            count = most(read)
            return tuple(islice(self._ranked(read), count)) if count > 0 else ()

        return cached(self._chosen, ordinal, made)

    def _ranked(self, text: ReadAtom) -> Iterator[Topic]:
        """Yield the topics of a text: first phrases, the most cohesive first, then words."""
        for topics in (text.tokenized.phrases(), [(word,) for word in text.tokenized.keywords()]):
            ranked = []
            for topic in topics:
                rank = cached(self._ranks, topic, partial(self._rank, topic))
                if rank is not None:
                    ranked.append((rank, topic))
            yield from (topic for _, topic in sorted(ranked))

    def _common(self, topic: Topic) -> BitMap:
        texts = self._survey.among(topic[0])
        return texts if len(topic) == 1 else texts & self._survey.among(topic[1])

    def _rank(self, topic: Topic) -> tuple[float, ...] | None:
        """Return the rank of a topic, the lowest for the best, or None if the topic is not suitable."""
        survey = self._survey
        config, texts = survey.config, len(survey.internal)
        first, *others = map(survey.among, topic)
        shared = first.intersection_cardinality(others[0]) if others else len(first)
        if not config.atoms_min <= shared <= max(config.phrase_min, int(config.phrase_share * texts)):
            return None
        if not others:
            return None if topic[0] in config.stop else (-shared,)
        cohesion = round(_cohesion(shared, len(first), len(others[0]), texts), _DIGITS)
        return (-cohesion, -shared) if cohesion >= config.cohesion_min else None


def _cohesion(both: int, one: int, other: int, texts: int) -> float:
    """Return the normalised pointwise mutual information of two words: 0 by chance, 1 if never apart.

    The arguments are the numbers of texts with both words, with each word, and of all texts. Source: Bouma,
    Normalized (Pointwise) Mutual Information in Collocation Extraction, 2009.
    """
    return 1.0 if both == texts else log(both * texts / (one * other)) / log(texts / both)


class _Likely(NamedTuple):
    """A text that can state a relation, with the known names in it."""

    text: ReadAtom
    content: str
    known: dict[tuple[str, ...], Name]
    reader: TextReader


class Relater:
    """Finds the relations that texts state."""

    def __init__(self, survey: Survey, names: Names, parser: Parser | None) -> None:
        self._survey = survey
        self._names = names
        self._parser = parser

    def commands(self, texts: Sequence[ReadAtom]) -> list[list[AddRelation]]:
        """Return for each text the commands that add the relations it states. External texts state none."""
        likely = [(at, one) for at, text in enumerate(texts) for one in self._likely(text)]
        parses = self._parsed([one for _, one in likely])
        commands: list[list[AddRelation]] = [[] for _ in texts]
        for (at, one), parsed in zip(likely, parses, strict=True):
            commands[at] = list(self._commands(one, parsed))
        return commands

    def _likely(self, text: ReadAtom) -> Iterator[_Likely]:
        if text.record.ordinal not in self._survey.internal or not is_likely(text.tokenized.words):
            return
        names = self._names.found_in(text.tokenized, self._survey.config.known_per_atom)
        by_words = _by_words(names)
        content = text.body.content[: self._survey.config.chars]
        yield _Likely(text, content, by_words, TextReader(content, by_words.__contains__))

    def _parsed(self, likely: list[_Likely]) -> list[dict[int, Doc] | None]:
        """Return the parses of the sentences that can state a relation, by the first character of each."""
        if self._parser is None:
            return [None] * len(likely)
        sentences = [
            (number, sentence.start, one.content[sentence.start : sentence.end])
            for number, one in enumerate(likely)
            for sentence in one.reader.sentences()
            if not sentence.asks and is_likely(sentence.words)
        ]
        parses: list[dict[int, Doc] | None] = [{} for _ in likely]
        docs = self._parser.parsed(text for _, _, text in sentences)
        for (number, start, _), doc in zip(sentences, docs, strict=True):
            parse = parses[number]
            if parse is not None:
                parse[start] = doc
        return parses

    def _commands(self, one: _Likely, parses: dict[int, Doc] | None) -> Iterator[AddRelation]:
        record = one.text.record
        statements = one.reader.statements(parses)
        for statement in statements[: self._survey.config.relations_per_atom]:
            subject, object_ = (self._end(end, one.known) for end in (statement.subject, statement.object))
            if subject is not None and object_ is not None:
                at = statement.start, statement.end
                relation = subject, statement.predicate, object_
                yield AddRelation(record.id, record.payload_seq, *relation, at, statement.by_parse)

    def _end(self, text: str, known: dict[tuple[str, ...], Name]) -> End | None:
        """Return the entity that these words name, or None if they cannot be a name."""
        if text == WRITER or len(text) > self._survey.config.name_chars_max:
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
