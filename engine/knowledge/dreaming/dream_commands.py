"""The commands by which the dreamer adds entities, tags and edges.

Each command checks the records again when it is decided. Commands only add items (tags, edges, entities). A
command does not add an item that was removed earlier, or that another actor has added in the meantime.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine.base import limits, validation
from engine.base.model import Receipt
from engine.base.validation import show_id
from engine.commands import Add, Link, RegisterType, Revise, Tag
from engine.commands.atoms import is_destroyed
from engine.commands.edges import edge_weight, known_type
from engine.commands.transaction import Transaction, receipt
from engine.knowledge import graph_encoding
from engine.knowledge.dreaming.relations import SYMMETRIC
from engine.knowledge.graph_encoding import IMPLIED, is_implied
from engine.ledger.entities import ENTITY, MENTIONS, entity_id, entity_identity, entity_key
from engine.ledger.records import AtomRecord, Lookup
from engine.ledger.subject_history import subject_history
from engine.text.language.categories import Category
from proofs.codec import pack
from proofs.events import AtomBody, AtomDetail, EdgeBody, EdgeDetail, EventKind, TagsBody
from proofs.leaves import State, tag_identity

DREAMER: Final = "dreamer"
"""The actor of every event of the dreamer."""

CATEGORIES: Final = frozenset(category.value for category in Category)

RELATED: Final = "related_to"
"""The predicate of two entities that many texts mention together."""

_PLAIN: Final = EdgeBody(edge_weight(1.0), b"")
"""The body of the events that add edges `mentions`."""


IMPLIED_META: Final = {graph_encoding.IMPLIED: True}
"""The `meta` of an entity that only relations name. The dreamer does not look for its name in texts."""


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
    is_own: dict[str, bool] = {}
    removed: set[str] = set()
    for entry in subject_history(rows, record.last_seq):
        by_dreamer = entry.header.actor == DREAMER
        if isinstance(entry.body, AtomBody):
            tags = set(map(tag_identity, entry.body.tags))
            removed = (removed | (is_own.keys() - tags)) - tags
            is_own = {tag: is_own.get(tag, by_dreamer) for tag in tags}
        elif isinstance(entry.body, TagsBody) and entry.header.kind is EventKind.TAGS_ADDED:
            for tag in map(tag_identity, entry.body.tags):
                is_own[tag] = by_dreamer
                if not by_dreamer:
                    removed.discard(tag)
        elif isinstance(entry.body, TagsBody):
            for tag in map(tag_identity, entry.body.tags):
                is_own.pop(tag, None)
                removed.add(tag)
    return TagOwners(
        frozenset(tag for tag, by_dreamer in is_own.items() if not by_dreamer),
        frozenset(tag for tag, by_dreamer in is_own.items() if by_dreamer),
        frozenset(removed),
    )


@dataclass(frozen=True, slots=True)
class Learn:
    """A command that adds an entity with a name and aliases.

    If an entity with the name or with an alias exists, the command adds the missing aliases to that entity,
    provided that only the dreamer wrote the entity.
    """

    name: str
    aliases: tuple[str, ...] = ()
    by_pipeline: bool = False
    """True if only the pipeline takes this for a name."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that adds the entity or its aliases.

        Append nothing if the entity was ever hidden: it may have been hidden on purpose. A hidden entity, or
        a different entity, whose name is one of the aliases keeps this name.
        """
        atom = entity_id(tx.id_key, self.name)
        record = tx.atom(atom)
        others = {alias: tx.atom(entity_id(tx.id_key, alias)) for alias in self.aliases}
        if record is None:
            concept = next((one for one in others.values() if one is not None and _is_own(tx, one)), None)
            free = tuple(alias for alias, one in others.items() if one is None)
            if concept is None:
                key = entity_key(self.name)
                return Add(self.name, kind=ENTITY, key=key, aliases=free or None).decide(tx)
            return _add_aliases(tx, concept, (self.name, *free))
        if not _is_own(tx, record):
            return receipt(atom, record.state if record.kind == ENTITY else State.TOMBSTONED)
        return _add_aliases(tx, record, tuple(alias for alias, one in others.items() if one is None))


def _is_own(tx: Transaction, record: AtomRecord) -> bool:
    """Return True if an atom is a live entity that the dreamer alone wrote."""
    if record.kind != ENTITY or record.state is not State.LIVE:
        return False
    return all(
        entry.header.actor == DREAMER
        for entry in subject_history(tx.rows, record.last_seq)
        if isinstance(entry.body, AtomBody)
    )


def _add_aliases(tx: Transaction, record: AtomRecord, names: Sequence[str]) -> Receipt:
    """Append the event that adds the missing aliases to an entity, which is then no longer implied."""
    body = tx.body(record)
    present = body.aliases or ()
    identities = set(map(entity_identity, (body.content, *present)))
    new = [name for name in names if entity_identity(name) not in identities]
    if not new and not is_implied(body):
        return receipt(record.id, record.state)
    meta = {name: value for name, value in (body.meta or {}).items() if name != IMPLIED}
    aliases = (*present, *new) or None
    return Revise(show_id(record.id), aliases=aliases, meta=meta or None).decide(tx)


@dataclass(slots=True)
class MentionLookup:
    """Looks up the edges `mentions` of several atoms together, which takes a third of the time."""

    pairs: list[tuple[bytes, bytes]]
    """The ids of an atom and an entity for each edge. No pair occurs twice."""
    _tx: Transaction | None = field(default=None, init=False)
    _recorded: AbstractSet[EdgeDetail] = field(default=frozenset(), init=False)

    def recorded(self, tx: Transaction, code: bytes, edges: Sequence[EdgeDetail]) -> AbstractSet[EdgeDetail]:
        """Return the edges that were ever recorded, among `edges` and those of `pairs`."""
        if not self.pairs:
            return tx.recorded_edges(edges)
        if self._tx is not tx:
            together = [EdgeDetail(atom, code, entity) for atom, entity in self.pairs]
            self._tx, self._recorded = tx, tx.recorded_edges(together)
        return self._recorded


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
    """The tags of all categories of the text. The command adds all that are missing, or none if another actor
    added or removed a category, or if the atom would have too many tags (SPEC)."""
    mentions: tuple[bytes, ...]
    """The ids of the entities that the atom mentions."""
    tags_most: int
    """The command adds tags only until the atom has this many tags, including tags by other actors. Tags of
    categories are not counted."""
    lookup: MentionLookup = field(default_factory=lambda: MentionLookup([]))
    added: tuple[tuple[str, ...], int] = field(default=((), 0), init=False)
    """The tags and the number of edges that were added when the command was last decided."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add the tags and mentions.

        Append nothing if the atom was revised, or if the atom has or had all the tags and mentions.
        """
        first = len(tx.events)
        record = tx.atom(self.id)
        if record is None or record.state is not State.LIVE or record.payload_seq != self.payload_seq:
            self.added = (), 0
            return receipt(self.id, State.LIVE)
        tags = self._tags(tx, record)
        if tags and tx.screen is None:
            # The checks of the command `Tag` take longer than the rest, and all of them hold here.
            detail = AtomDetail(record.id, record.ordinal)
            tx.append(EventKind.TAGS_ADDED, record.last_seq, detail, TagsBody(validation.tags(tags)))
        elif tags:
            Tag(show_id(self.id), tags).decide(tx)
        self.added = tuple(tags), self._mention(tx)
        return receipt(self.id, State.LIVE, *tx.events[first:])

    def _tags(self, tx: Transaction, record: AtomRecord) -> list[str]:
        if not self.tags and not self.categories:
            return []
        had = tag_owners(tx.rows, record)
        excluded = had.others | had.own | had.removed
        room = max(0, self.tags_most - len(had.others - CATEGORIES))
        # A removed tag still counts towards the limit, so that no other tag is added in its place.
        wanted = [tag for tag in self.tags if tag_identity(tag) not in had.others][:room]
        room = max(0, room - len(had.own - CATEGORIES))
        new = [tag for tag in wanted if tag_identity(tag) not in excluded][:room]
        settled = not CATEGORIES.isdisjoint(had.others | had.removed)
        missing = [] if settled else [tag for tag in self.categories if tag_identity(tag) not in excluded]
        left = limits.TAGS_PER_ATOM_MAX - len(record.tags)
        return (
            [*new[: max(0, left - len(missing))], *missing] if len(missing) <= left else new[: max(0, left)]
        )

    def _mention(self, tx: Transaction) -> int:
        """Append events that add the mentions that were never recorded; return how many were added."""
        there = [(entity, tx.atom(entity)) for entity in self.mentions if entity != self.id]
        live = [entity for entity, record in there if record is not None and record.state is State.LIVE]
        code = tx.type_code(MENTIONS) if live else None
        if code is None and live:
            RegisterType(MENTIONS).decide(tx)
            code = known_type(tx.rows, MENTIONS)
        if code is None:
            return 0
        edges = [EdgeDetail(self.id, code, entity) for entity in live]
        recorded = self.lookup.recorded(tx, code, edges)
        new = [edge for edge in edges if edge not in recorded]
        for edge in new:
            tx.append(EventKind.EDGE_ADDED, None, edge, _PLAIN)
        return len(new)


class End(NamedTuple):
    """An end of a relation."""

    name: str
    id: bytes | None
    """The entity that has this name or alias; None for the entity with exactly this name."""


@dataclass(slots=True)
class AddRelation:
    """A command that adds the edge for a relation, with the sentence as its evidence, if one states it.

    The data of the edge names the atom (`source`), the event with the content that was read (`seq`) and the
    sentence, by its first character and the character after its last one (`at`). The text of the sentence is
    not copied, so that it does not outlive the content if the atom is erased.
    """

    atom: bytes
    payload_seq: int
    subject: End
    predicate: str
    object: End
    at: tuple[int, int] | None = None
    """The first character of the sentence, and the one after its last; None if no single text states it."""
    weight: float = 1.0
    added: int = field(default=0, init=False)
    """The number of edges between entities that were added when the command was last decided: 0 or 1."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add the relation, missing ends, and mentions of both ends.

        Append nothing if the atom was revised, if an end was hidden or erased, or if the edge was ever
        recorded (for a symmetric predicate, in either direction).
        """
        first, self.added = len(tx.events), 0
        record = tx.atom(self.atom)
        unchanged = receipt(self.atom, State.LIVE)
        if record is None or record.state is not State.LIVE or record.payload_seq != self.payload_seq:
            return unchanged
        ends = [_found(tx, end) for end in (self.subject, self.object)]
        if None in ends or ends[0] == ends[1] or self._is_recorded(tx, *ends):
            return unchanged
        for end, part in zip((self.subject, self.object), ends, strict=True):
            if part is not None and tx.atom(part) is None:
                Add(end.name, kind=ENTITY, key=entity_key(end.name), meta=IMPLIED_META).decide(tx)
        src, dst = (show_id(part) for part in ends if part is not None)
        data = b""
        if self.at is not None:
            RegisterType(self.predicate).decide(tx)
            data = pack({"source": self.atom, "seq": self.payload_seq, "at": list(self.at)})
        Link(src, self.predicate, dst, self.weight, data).decide(tx)
        self.added = 1
        self._mention(tx, src, dst)
        return receipt(self.atom, State.LIVE, *tx.events[first:])

    def _is_recorded(self, tx: Transaction, src: bytes | None, dst: bytes | None) -> bool:
        code = tx.type_code(self.predicate)
        if code is None or src is None or dst is None:
            return False
        if tx.edge(src, code, dst) is not None:
            return True
        return self.predicate in (RELATED, *SYMMETRIC) and tx.edge(dst, code, src) is not None

    def _mention(self, tx: Transaction, *ends: str) -> None:
        RegisterType(MENTIONS).decide(tx)
        code = tx.type_code(MENTIONS)
        for end in ends:
            target = bytes.fromhex(end.replace("-", ""))
            if code is not None and target != self.atom and tx.edge(self.atom, code, target) is None:
                Link(show_id(self.atom), MENTIONS, end).decide(tx)


def _found(tx: Transaction, end: End) -> bytes | None:
    """Return the id of the entity at an end, which may still be missing. Return None if it was removed."""
    if end.id is None and tx.screened(end.name, "entity name") != end.name:
        return None
    atom = entity_id(tx.id_key, end.name) if end.id is None else end.id
    record = tx.atom(atom)
    if record is None:
        gone = tx.may_be_destroyed() and is_destroyed(tx.rows, tx.id_key, end.name)
        return None if gone else atom
    return atom if record.kind == ENTITY and record.state is State.LIVE else None
