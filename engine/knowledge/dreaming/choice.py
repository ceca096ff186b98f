"""The choice of the tags, mentions and relations for each text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

from engine.base import validation
from engine.base.errors import EngineError
from engine.base.validation import show_id
from engine.commands.transaction import Command
from engine.knowledge.dreaming.commands import CATEGORIES, Connect, Enrich, MentionLookup, tag_owners
from engine.knowledge.dreaming.known_names import Name, Names
from engine.knowledge.dreaming.relations.commands import AddRelation
from engine.knowledge.dreaming.survey import ReadAtom, Survey, cached
from engine.knowledge.dreaming.topics import Topics


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
        found = self._names_in(text)
        tags = list(self._tags(text, found, internal=internal))
        mentions = tuple(name.id for name in found)
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
            own, every = cached(self._counts, name.id, partial(self._count, name))
            # For an internal text only internal texts count, so external texts cannot make a name too common.
            if survey.fits(own, survey.internal) and (internal or survey.fits(every, survey.texts)):
                counted.append((own, name.tokens.words, name))
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
