"""The commands by which the dreamer tags and connects atoms, and the choice of commands for a text.

Each command checks the records again when it is decided. Commands only add items (tags, edges, entities). A
command does not add an item that was removed earlier, or that another actor has added in the meantime.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Final, NamedTuple

from engine.base import limits, validation
from engine.base.errors import EngineError
from engine.base.model import Receipt
from engine.base.validation import atom_id, show_id
from engine.commands import Add, Link, RegisterType, Tag
from engine.commands.base import Command, Transaction, receipt
from engine.commands.edges import known_type
from engine.knowledge.dreaming.relations.commands import promote
from engine.knowledge.dreaming.survey import PAIR_EVIDENCE, Pair, ReadAtom, Survey, cached
from engine.knowledge.dreaming.tokenized_text import Name, Names
from engine.language.categories import Category
from engine.ledger.entities import ENTITY, MENTIONS, entity_id, entity_key
from engine.ledger.records import AtomRecord, Lookup
from engine.store.past import subject_history
from proofs.events import AtomBody, EdgeBody, EdgeDetail, EventKind, TagsBody
from proofs.leaves import EdgeType, State
from proofs.sets import tag_identity

DREAMER: Final = "dreamer"
"""The actor of every event of the dreamer."""

CATEGORIES: Final = frozenset(category.value for category in Category)

RELATED: Final = bytes([EdgeType.RELATED_TO])

_PLAIN: Final = EdgeBody(validation.weight(1.0), b"")
"""The body of the events that add edges `mentions`."""


class TagOwners(NamedTuple):
    """The identities of an atom's tags, divided by the actor who added or removed the tags."""

    others: frozenset[str]
    """The tags that other actors added."""
    own: frozenset[str]
    """The tags that the dreamer added."""
    removed: frozenset[str]
    """The tags that were removed, except those that an actor other than the dreamer added again."""


def tag_owners(rows: Lookup, record: AtomRecord) -> TagOwners:
    """Return the tags that an atom has or had, divided as in `TagOwners`.

    A revision that contains an existing tag does not change the actor of the tag; a revision without the tag
    removes it.
    """
    if record.last_seq == record.created_seq:
        return TagOwners(frozenset(map(tag_identity, record.tags)), frozenset(), frozenset())
    own: dict[str, bool] = {}
    removed: set[str] = set()
    for entry in subject_history(rows, record.last_seq):
        by_dreamer = entry.header.actor == DREAMER
        if isinstance(entry.body, AtomBody):
            tags = set(map(tag_identity, entry.body.tags))
            removed = (removed | (own.keys() - tags)) - tags
            own = {tag: own.get(tag, by_dreamer) for tag in tags}
        elif isinstance(entry.body, TagsBody) and entry.header.kind is EventKind.TAGS_ADDED:
            for tag in map(tag_identity, entry.body.tags):
                own[tag] = by_dreamer
                if not by_dreamer:
                    removed.discard(tag)
        elif isinstance(entry.body, TagsBody):
            for tag in map(tag_identity, entry.body.tags):
                own.pop(tag, None)
                removed.add(tag)
    return TagOwners(
        frozenset(tag for tag, by_dreamer in own.items() if not by_dreamer),
        frozenset(tag for tag, by_dreamer in own.items() if by_dreamer),
        frozenset(removed),
    )


@dataclass(frozen=True, slots=True)
class Learn:
    """A command that adds an entity with this name, unless an entity with this name exists or existed."""

    name: str

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that adds the entity. Append nothing if the entity was ever recorded.

        A hidden entity is not added again either, because it may have been hidden on purpose.
        """
        atom = entity_id(tx.id_key, self.name)
        record = tx.atom(atom)
        if record is None:
            return Add(self.name, kind=ENTITY, key=entity_key(self.name)).decide(tx)
        return promote(tx, record) or receipt(
            atom, record.state if record.kind == ENTITY else State.TOMBSTONED
        )


@dataclass(slots=True)
class Enrich:
    """A command that adds tags and edges `mentions` to an atom.

    The command adds nothing if the atom was revised after the dreamer read it.
    """

    id: bytes
    payload_seq: int
    tags: tuple[str, ...]
    """The tags, the most specific first."""
    categories: tuple[str, ...]
    """The tags of categories. The command adds either all or none of these tags. It adds none if the atom
    would then have more than `tags_most` tags, or if another actor added or removed a category."""
    mentions: tuple[bytes, ...]
    """The ids of the entities that the atom mentions."""
    tags_most: int
    """The command adds tags only until the atom has this many tags, including tags by other actors."""
    added: tuple[tuple[str, ...], int] = field(default=((), 0), init=False)
    """The tags and the number of edges that were added when the command was last decided."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add the tags and mentions.

        Append nothing if the atom was revised, or if the atom has or had all the tags and mentions.
        """
        first = len(tx.entries)
        record = tx.atom(self.id)
        if record is None or record.state is not State.LIVE or record.payload_seq != self.payload_seq:
            self.added = (), 0
            return receipt(self.id, State.LIVE)
        tags = self._tags(tx, record)
        if tags:
            Tag(show_id(self.id), tags).decide(tx)
        self.added = tuple(tags), self._mention(tx)
        return receipt(self.id, State.LIVE, *tx.entries[first:])

    def _tags(self, tx: Transaction, record: AtomRecord) -> list[str]:
        if not self.tags and not self.categories:
            return []
        had = tag_owners(tx.rows, record)
        room = max(0, min(self.tags_most, limits.TAGS_PER_ATOM_MAX) - len(had.others))
        # A removed tag still counts towards the limit, so that no other tag is added in its place.
        wanted = [tag for tag in self.tags if tag_identity(tag) not in had.others][:room]
        settled = not CATEGORIES.isdisjoint(had.others | had.removed)
        categories = () if settled or len(self.categories) > room - len(wanted) else self.categories
        excluded, room = had.others | had.own | had.removed, room - len(had.own)
        new = [tag for tag in wanted if tag_identity(tag) not in excluded][: max(0, room)]
        missing = [tag for tag in categories if tag_identity(tag) not in excluded]
        return new + missing if len(new) + len(missing) <= room else new

    def _mention(self, tx: Transaction) -> int:
        """Append events that add the mentions that were never recorded; return how many were added."""
        there = [(entity, tx.atom(entity)) for entity in self.mentions if entity != self.id]
        live = [entity for entity, record in there if record is not None and record.state is State.LIVE]
        code = tx.type_code(MENTIONS)
        if code is not None:
            recorded = tx.recorded_edges([EdgeDetail(self.id, code, entity) for entity in live])
            live = [entity for entity in live if EdgeDetail(self.id, code, entity) not in recorded]
        if not live:
            return 0
        if code is None:
            RegisterType(MENTIONS).decide(tx)
            code = known_type(tx.rows, MENTIONS)
        new = [EdgeDetail(self.id, code, entity) for entity in live]
        if tx.screen is None:
            tx.link(new, [_PLAIN] * len(new))
        else:
            for edge in new:
                tx.append(EventKind.EDGE_ADDED, None, edge, _PLAIN)
        return len(new)


@dataclass(frozen=True, slots=True)
class Connect:
    """A command that adds an edge `related_to` between two entities.

    No edge is added if an edge `related_to` between the two entities exists or existed in either direction.
    """

    src: str
    dst: str
    weight: float

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that adds the edge.

        Append nothing if one of the entities is hidden, or if the edge was ever recorded in either direction.
        """
        one, other = atom_id(self.src), atom_id(self.dst)
        for end in (one, other):
            there = tx.atom(end)
            if there is None or there.state is not State.LIVE:
                return receipt(end, State.TOMBSTONED)
        for ends in ((one, other), (other, one)):
            if (edge := tx.edge(ends[0], RELATED, ends[1])) is not None:
                return receipt(one, edge.state)
        return Link(self.src, EdgeType.RELATED_TO, self.dst, self.weight).decide(tx)


def commands_for(survey: Survey, names: Names, text: ReadAtom) -> list[Command]:
    """Return the commands for an atom.

    The first command adds tags and mentions. The other commands relate the names in the atom to each other.
    """
    internal = text.record.ordinal in survey.internal
    found = _names(survey, names, text, internal=internal)
    tags = list(_tags(survey, names, text, found, internal=internal))
    mentions = tuple(name.id for name in found)
    commands: list[Command] = []
    categories = _categories(survey, text)
    if tags or categories or mentions:
        payload_seq, most = text.record.payload_seq, survey.config.tags_per_atom
        commands.append(Enrich(text.record.id, payload_seq, tuple(tags), categories, mentions, most))
    return [*commands, *_related(survey, found)] if internal else commands


def _names(survey: Survey, names: Names, text: ReadAtom, *, internal: bool) -> list[Name]:
    """Return a text's names that are neither too rare nor too common, the rarest first."""
    return cached(survey.names, text.record.ordinal, lambda: _chosen_names(survey, names, text, internal))


def _chosen_names(survey: Survey, names: Names, text: ReadAtom, internal: bool) -> list[Name]:
    counted = []
    for name in names.found_in(text.tokenized, survey.config.known_per_atom):
        ordinals = survey.containing(name.tokens.words)
        own = len(ordinals & survey.internal)
        # For an internal text only internal texts count, so external texts cannot make a name too common.
        fits = survey.fits(own, survey.internal) and (internal or survey.fits(len(ordinals), survey.texts))
        if fits:
            counted.append((own, name.tokens.words, name))
    counted.sort(key=lambda one: one[:2])
    return [name for _, _, name in counted[: survey.config.mentions_per_atom]]


def _tags(
    survey: Survey, names: Names, text: ReadAtom, found: Sequence[Name], *, internal: bool
) -> Iterator[str]:
    """Yield the tags of a text: its names, the rarest first, then its phrases."""
    for name in found[: survey.config.names_per_atom]:
        yield from _tag(name.text)
    if internal:
        for pair in _shared_phrases(survey, names, text):
            yield from _tag("-".join(pair))


def _categories(survey: Survey, text: ReadAtom) -> tuple[str, ...]:
    """Return all categories of a text, or an empty tuple if one of the categories is too common.

    So a text gets either the tags of all its categories or no category tag.
    """
    found = text.categories
    return tuple(one.value.capitalize() for one in found) if survey.categories.issuperset(found) else ()


def _shared_phrases(survey: Survey, names: Names, text: ReadAtom) -> Iterator[Pair]:
    """Yield the phrases that are chosen both for a text and for at least one other text.

    Without this check, one phrase in five would become the tag of only one text: the other texts also contain
    the words of the phrase, but different phrases are chosen for these texts.
    """
    for pair in _phrases(survey, names, text):
        for other in survey.read(survey.containing(pair)[:PAIR_EVIDENCE].to_array()):
            ordinal = other.record.ordinal
            if ordinal == text.record.ordinal or ordinal not in survey.internal:
                continue
            if pair in _phrases(survey, names, other):
                yield pair
                break


def _phrases(survey: Survey, names: Names, text: ReadAtom) -> tuple[Pair, ...]:
    """Return the phrases chosen for an internal text: pairs of words that occur in several texts.

    Pairs that occur in too many texts are left out.

    The most frequent phrases come first.
    """

    def made() -> tuple[Pair, ...]:
        had = tag_owners(survey.rows, text.record)
        # Removed tags are also counted, so that no phrase is added in place of a removed tag.
        tags = len(had.others | had.removed)
        if tags < survey.config.tags_min:
            tags += len(_names(survey, names, text, internal=True)[: survey.config.names_per_atom])
        if tags >= survey.config.tags_min:
            return ()
        counted = ((survey.sharing(pair), pair) for pair in text.tokenized.phrases())
        ranked = sorted((-count, pair) for count, pair in counted if count)
        chosen = (pair for _, pair in ranked if survey.is_phrase(pair))
        return tuple(islice(chosen, survey.config.phrases_per_atom))

    return cached(survey.phrases, text.record.ordinal, made)


def _tag(text: str) -> Iterator[str]:
    """Yield a text as a tag; yield nothing if it is not a valid tag."""
    try:
        yield validation.tag(text)
    except EngineError:
        return


def _related(survey: Survey, found: Sequence[Name]) -> Iterator[Connect]:
    """Yield the commands that relate names in a text, if the names often occur together."""
    for pair in combinations(found, 2):
        one, other = sorted(pair, key=lambda name: name.tokens.words)
        if (one.id, other.id) in survey.connected:
            continue
        first, second = (survey.containing(name.tokens.words) & survey.internal for name in (one, other))
        shared, larger = len(first & second), max(len(first), len(second))
        if shared >= survey.config.together_min and shared >= survey.config.together_share * larger:
            yield Connect(show_id(one.id), show_id(other.id), round(shared / larger, 2))
