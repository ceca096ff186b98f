"""What a text is about, and what the dreamer wants to be true of it, as commands.

Each command looks again at what is so when it is decided. They only add, and only what nobody took away:
where people disagreed with the dreamer before, or were faster, there is no event.
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
from engine.knowledge.dreaming.pages import Name, Names
from engine.knowledge.dreaming.survey import PAIR_EVIDENCE, Pair, Survey, Text, kept
from engine.language.categories import Category, categories_of
from engine.ledger.entities import ENTITY, MENTIONS, entity_id, entity_key
from engine.ledger.records import AtomRecord, Lookup, type_code
from engine.store.past import subject_history
from proofs.events import AtomBody, EventKind, TagsBody
from proofs.leaves import EdgeType, State
from proofs.sets import tag_identity

DREAMER: Final = "dreamer"
"""The actor of every event of the dreamer."""

CATEGORIES: Final = frozenset(category.value for category in Category)

RELATED: Final = bytes([EdgeType.RELATED_TO])


class Tagged(NamedTuple):
    """An atom's tags by their identities."""

    others: frozenset[str]
    """Those it has from others."""
    own: frozenset[str]
    """Those it has from the dreamer."""
    removed: frozenset[str]
    """Those that somebody took off it and nobody but the dreamer would put back."""


def tagged(rows: Lookup, record: AtomRecord) -> Tagged:
    """Whose the tags of an atom are.

    A revision that repeats a tag leaves it whose it was; one that leaves it out has taken it off.
    """
    if record.last_seq == record.created_seq:
        return Tagged(frozenset(map(tag_identity, record.tags)), frozenset(), frozenset())
    own: dict[str, bool] = {}
    removed: set[str] = set()
    for entry in subject_history(rows, record.last_seq):
        dreamt = entry.header.actor == DREAMER
        if isinstance(entry.body, AtomBody):
            said = set(map(tag_identity, entry.body.tags))
            removed = (removed | (own.keys() - said)) - said
            own = {tag: own.get(tag, dreamt) for tag in said}
        elif isinstance(entry.body, TagsBody) and entry.header.kind is EventKind.TAGS_ADDED:
            for tag in map(tag_identity, entry.body.tags):
                own[tag] = dreamt
                if not dreamt:
                    removed.discard(tag)
        elif isinstance(entry.body, TagsBody):
            for tag in map(tag_identity, entry.body.tags):
                own.pop(tag, None)
                removed.add(tag)
    return Tagged(
        frozenset(tag for tag, dreamt in own.items() if not dreamt),
        frozenset(tag for tag, dreamt in own.items() if dreamt),
        frozenset(removed),
    )


@dataclass(frozen=True, slots=True)
class Learn:
    """Have an entity of this name, unless one is or was there."""

    name: str

    def decide(self, tx: Transaction) -> Receipt:
        """No event where the entity was ever recorded: one that was hidden is not wanted."""
        atom = entity_id(tx.id_key, self.name)
        record = tx.atom(atom)
        if record is None:
            return Add(self.name, kind=ENTITY, key=entity_key(self.name)).decide(tx)
        return receipt(atom, record.state if record.kind == ENTITY else State.TOMBSTONED)


@dataclass(slots=True)
class Enrich:
    """Have these tags and mentions on an atom, if it still says what it said when it was looked at."""

    id: bytes
    payload_seq: int
    tags: tuple[str, ...]
    """The most telling first."""
    categories: tuple[str, ...]
    """All of them, or none where the tags leave no room or somebody gave or took one."""
    mentions: tuple[bytes, ...]
    """Entities."""
    tags_most: int
    """The atom's tags, those of others counted, are to be no more by this."""
    added: tuple[int, int] = field(default=(0, 0), init=False)
    """How many tags and how many edges the last decision added."""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where the atom changed, has it all, or had it and lost it."""
        first = len(tx.entries)
        record = tx.atom(self.id)
        if record is None or record.state is not State.LIVE or record.payload_seq != self.payload_seq:
            self.added = 0, 0
            return receipt(self.id, State.LIVE)
        tags = self._tags(tx, record)
        if tags:
            Tag(show_id(self.id), tags).decide(tx)
        edges = sum(self._mention(tx, entity) for entity in self.mentions)
        self.added = len(tags), edges
        return receipt(self.id, State.LIVE, *tx.entries[first:])

    def _tags(self, tx: Transaction, record: AtomRecord) -> list[str]:
        if not self.tags and not self.categories:
            return []
        had = tagged(tx.rows, record)
        room = max(0, min(self.tags_most, limits.TAGS_PER_ATOM_MAX) - len(had.others))
        # What was taken off still takes its place: the next best is not what was wanted in its stead.
        wanted = [tag for tag in self.tags if tag_identity(tag) not in had.others][:room]
        settled = not CATEGORIES.isdisjoint(had.others | had.removed)
        categories = () if settled or len(self.categories) > room - len(wanted) else self.categories
        away, room = had.others | had.own | had.removed, room - len(had.own)
        new = [tag for tag in wanted if tag_identity(tag) not in away][: max(0, room)]
        missing = [tag for tag in categories if tag_identity(tag) not in away]
        return new + missing if len(new) + len(missing) <= room else new

    def _mention(self, tx: Transaction, entity: bytes) -> bool:
        there = tx.atom(entity)
        if there is None or there.state is not State.LIVE or entity == self.id:
            return False
        code = type_code(tx.rows, MENTIONS)
        if code is not None and tx.edge(self.id, code, entity) is not None:
            return False
        RegisterType(MENTIONS).decide(tx)
        return Link(show_id(self.id), MENTIONS, show_id(entity)).decide(tx).changed


@dataclass(frozen=True, slots=True)
class Connect:
    """Have two entities related, unless an edge that says so is or was there, in either direction."""

    src: str
    dst: str
    weight: float

    def decide(self, tx: Transaction) -> Receipt:
        """No event where one of them is hidden, or the edge was ever recorded."""
        one, other = atom_id(self.src), atom_id(self.dst)
        for end in (one, other):
            there = tx.atom(end)
            if there is None or there.state is not State.LIVE:
                return receipt(end, State.TOMBSTONED)
        for ends in ((one, other), (other, one)):
            if (edge := tx.edge(ends[0], RELATED, ends[1])) is not None:
                return receipt(one, edge.state)
        return Link(self.src, EdgeType.RELATED_TO, self.dst, self.weight).decide(tx)


def wanted(survey: Survey, names: Names, text: Text) -> list[Command]:
    """What is to be true of an atom: first that it has its tags and mentions, then who belongs together."""
    internal = text.record.ordinal in survey.internal
    found = _named(survey, names, text, internal=internal)
    tags = list(_tags(survey, names, text, found, internal=internal))
    mentions = tuple(name.id for name in found)
    commands: list[Command] = []
    categories = _categories(survey, text)
    if tags or categories or mentions:
        said, most = text.record.payload_seq, survey.config.tags_per_atom
        commands.append(Enrich(text.record.id, said, tuple(tags), categories, mentions, most))
    return [*commands, *_together(survey, found)] if internal else commands


def _named(survey: Survey, names: Names, text: Text, *, internal: bool) -> list[Name]:
    """The names of a text that lead somewhere and not everywhere, the rarest first."""
    counted = []
    for name in names.found_in(text.page, survey.config.known_per_atom):
        having = survey.having(name.tokens.words)
        own = len(having & survey.internal)
        # However many texts from outside have a name, our own keep it.
        fits = survey.fits(own, survey.internal) and (internal or survey.fits(len(having), survey.texts))
        if fits:
            counted.append((own, name.tokens.words, name))
    counted.sort(key=lambda one: one[:2])
    return [name for _, _, name in counted[: survey.config.mentions_per_atom]]


def _tags(
    survey: Survey, names: Names, text: Text, found: Sequence[Name], *, internal: bool
) -> Iterator[str]:
    """The tags of a text, the most telling first."""
    for name in found[: survey.config.names_per_atom]:
        yield from _tag(name.text)
    if internal:
        for pair in _shared(survey, names, text, found):
            yield from _tag("-".join(pair))


def _categories(survey: Survey, text: Text) -> tuple[str, ...]:
    """All categories of a text, or none: a text with the tag of one is in no other by its words."""
    found = categories_of(text.body.content, text.body.title)
    return tuple(one.value.capitalize() for one in found) if survey.categories.issuperset(found) else ()


def _shared(survey: Survey, names: Names, text: Text, found: Sequence[Name]) -> Iterator[Pair]:
    """Those of a text's phrases that are among those of another, too.

    Without this one phrase in five was left with a single text, the other having chosen another.
    """
    for pair in _phrases(survey, text, found):
        for other in survey.read(survey.having(pair)[:PAIR_EVIDENCE].to_array()):
            ordinal = other.record.ordinal
            if ordinal == text.record.ordinal or ordinal not in survey.internal:
                continue
            if pair in _phrases(survey, other, _named(survey, names, other, internal=True)):
                yield pair
                break


def _phrases(survey: Survey, text: Text, found: Sequence[Name]) -> tuple[Pair, ...]:
    """The pairs of words that some other texts have, too, and not many: those of most texts first."""

    def made() -> tuple[Pair, ...]:
        had = tagged(survey.rows, text.record)
        # What was taken off counts: who did that does not want something else in its stead.
        if (
            len(had.others | had.removed) + len(found[: survey.config.names_per_atom])
            >= survey.config.tags_min
        ):
            return ()
        counted = ((survey.sharing(pair), pair) for pair in text.page.phrases())
        ranked = sorted((-count, pair) for count, pair in counted if count)
        chosen = (pair for _, pair in ranked if survey.is_phrase(pair))
        return tuple(islice(chosen, survey.config.phrases_per_atom))

    return kept(survey.phrases, text.record.ordinal, made)


def _tag(text: str) -> Iterator[str]:
    """A name as a tag; none where it cannot be one."""
    try:
        yield validation.tag(text)
    except EngineError:
        return


def _together(survey: Survey, found: Sequence[Name]) -> Iterator[Connect]:
    """The names of a text that stand together often enough."""
    for pair in combinations(found, 2):
        one, other = sorted(pair, key=lambda name: name.tokens.words)
        first, second = (survey.having(name.tokens.words) & survey.internal for name in (one, other))
        shared, larger = len(first & second), max(len(first), len(second))
        if shared >= survey.config.together_min and shared >= survey.config.together_share * larger:
            yield Connect(show_id(one.id), show_id(other.id), round(shared / larger, 2))
