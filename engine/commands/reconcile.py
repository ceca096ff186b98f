"""Commands that make the memory match an outside source. Repeating a command has no further effect.

An outside source, such as an ingested folder, an export of another memory or a knowledge graph, requires
certain atoms, tags and edges. The commands in this module compare these requirements with the records and
append the missing events. A command reads the records when it is decided, not when it is created, because
other processes may write in between.

The commands change only data that their own actor (the actor of the transaction) changed last:

- An atom whose text another actor revised keeps that text; an atom that another actor hid stays hidden.
- A tag, alias or value of meta that another actor added stays; one that another actor removed is not added
  again. The same holds for the time of the atom.
- An edge that another actor added stays; an edge that another actor removed is not added again.

With `override`, these restrictions do not apply to the atom or edge of the command: the atom or edge is
revived and changed as required, no matter which actor hid or revised it. Tags are then only added, never
removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from backends.base import Reader
from engine.base.errors import LimitError
from engine.base.limits import ALIASES_MAX
from engine.base.model import Direction, Receipt
from engine.base.validation import meta as checked_meta
from engine.base.validation import show_id
from engine.base.validation import tags as checked_tags
from engine.commands.atoms import Add, Revise, Revive, Tag, Tombstone, Untag, is_destroyed
from engine.commands.edges import Link, RegisterType, TypeName, Unlink, edge_data, edge_weight
from engine.commands.transaction import Command, Transaction, receipt
from engine.ledger.journal import entries_back, read_entry, read_header
from engine.ledger.queries import body_of, edges_at
from engine.ledger.records import AtomRecord, Lookup, default_id_of
from proofs.events import AtomBody, EdgeBody, EdgeDetail, Entry, EventKind, Scalar, TagsBody
from proofs.leaves import EdgeType, State, tag_identity

BACK: Final = "back in its file"
"""The reason that is recorded by default when an atom is revived."""
GONE: Final = "no longer in its file"
"""The reason that is recorded by default when an atom or edge is hidden."""

JOINED: Final = "joined"
"""The pipeline of the events that give what people put on a text to the atom that contains the text now.

The tags, edges and other facts that these events add count as added by people.
"""

_TAGGING: Final = (EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED)


def is_by(rows: Lookup, seq: int, actor: str) -> bool:
    """Return True if `actor` is the author of the event with this seq."""
    return read_header(rows, seq)[0].actor == actor


def is_written_by(rows: Lookup, record: AtomRecord, actor: str) -> bool:
    """Return True if `actor` wrote the present content, title and kind of an atom.

    A revision that repeats the content, for example to change only the source, does not make its actor the
    author.
    """
    if record.version == 1:
        return is_by(rows, record.payload_seq, actor)
    return next(authors(rows, record))[1] == actor


def is_from_elsewhere(rows: Lookup, record: AtomRecord) -> bool:
    """Return True if another device wrote the present version of an atom."""
    return read_header(rows, record.payload_seq)[0].origin is not None


def was_here(rows: Lookup, record: AtomRecord, actor: str) -> bool:
    """Return True if `actor` wrote a version of an atom on this device.

    If it did not, the text may be missing in a file of this device because it never was in it.
    """
    if not is_from_elsewhere(rows, record):
        return True
    return any(
        entry.header.origin is None and entry.header.actor == actor and isinstance(entry.body, AtomBody)
        for entry in entries_back(rows, record.payload_seq)
    )


def is_outdated(rows: Lookup, record: AtomRecord, content: str) -> bool:
    """Return True if another device replaced this content, which a file of this device still has."""
    if not is_from_elsewhere(rows, record):
        return False
    versions = (entry.body for entry in entries_back(rows, record.payload_seq))
    contents = [body.content for body in versions if isinstance(body, AtomBody)]
    return content != contents[0] and content in contents


def authors(rows: Lookup, record: AtomRecord) -> Iterator[tuple[AtomBody, str]]:
    """Yield each (content, title, kind) that an atom had, with the actor who wrote it, newest first.

    Of successive revisions with the same content, title and kind, only the first is yielded.
    """
    first: tuple[AtomBody, str] | None = None
    for header, body, _ in entries_back(rows, record.payload_seq):
        if isinstance(body, AtomBody):
            if first is not None and body[:3] != first[0][:3]:
                yield first
            first = body, header.actor
    if first is not None:
        yield first


def is_refused(
    rows: Lookup, id_key: bytes, wanted: Add, record: AtomRecord | None, body: AtomBody | None = None
) -> bool:
    """Return True if `wanted` must not be added because the atom or its content was erased.

    An erased atom or content may be added if `wanted.force` is set, or if `record` is a live atom that
    already has this content.

    Args:
        rows: The rows to look in.
        id_key: The store's key for deriving ids.
        wanted: The atom to add.
        record: The record with the id of the wanted atom, or None if the atom is not recorded.
        body: The body of that atom if it was read already, otherwise None.
    """
    if wanted.force:
        return False
    if record is not None and record.state is State.ERASED:
        return True
    contents = [wanted.content]
    if record is not None:
        content = (body or body_of(rows, record)).content
        if record.state is State.LIVE and content == wanted.content:
            return False
        contents += [content] if record.state is State.TOMBSTONED else []
    return any(is_destroyed(rows, id_key, content) for content in contents)


_WRITTEN: Final = ("content", "title", "kind")
_TEXTS: Final = (*_WRITTEN, "source", "sequence")


@dataclass(frozen=True, slots=True)
class UpsertAtom:
    """Add an atom or, if it is already recorded, change it to match `wanted`.

    Content, title, kind, source, sequence, folder, time, tags, aliases and meta of a recorded atom are
    changed to match. If another actor wrote the text, content, title and kind stay. All other fields are used
    only for a new atom.
    """

    wanted: Add
    """The atom to add or to match. It is identified by its key or content; its field `id` is ignored."""
    override: bool = False
    reason: str = BACK
    """The reason that is recorded if a hidden atom is revived."""
    atom: bytes | None = None
    """The id of the recorded atom to change. By default, the key or the content of `wanted` identifies it."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add or change the atom.

        No event is appended if the atom already matches `wanted` or may not be changed.

        The receipt has the state `erased` if the atom was erased and neither `override` nor `force` is set.

        Raises:
            RefusedError: The atom was erased, and `override` is set without `force`.
        """
        ahead = tx.ahead.get(id(self.wanted))
        atom = self.atom or (default_id_of(tx.id_key, self.wanted) if ahead is None else ahead[1])
        record = tx.atom(atom)
        if record is None and not tx.may_be_destroyed():
            return self.wanted.decide(tx)
        body = None if record is None or record.state is State.ERASED else tx.body(record)
        # These checks take less time than those below. They need valid fields.
        is_live = record is not None and record.state is State.LIVE
        if ahead is not None and is_live and record and body and self._matches(record, body):
            return receipt(atom, State.LIVE)
        if not self.override and is_refused(tx.rows, tx.id_key, self.wanted, record, body):
            return receipt(atom, State.ERASED)
        if record is None or body is None:
            return self.wanted.decide(tx)
        first = len(tx.events)
        if record.state is State.TOMBSTONED:
            if not self.override and record.tombstoned_by != tx.actor:
                return receipt(atom, State.TOMBSTONED)
            Revive(show_id(atom), self.reason, self.wanted.force).decide(tx)
            record = tx.atom(atom) or record
        self._update(tx, record, body)
        return receipt(atom, State.LIVE, *tx.events[first:])

    def _matches(self, record: AtomRecord, present: AtomBody) -> bool:
        """Return True if a live atom is as wanted. `record` and `present` are its record and its body."""
        return not self._changes(present) and agree(self.wanted, record, present)

    def _changes(self, present: AtomBody) -> dict[str, Any]:
        """Return the fields in which the wanted atom differs from the body of the atom, except its facts."""
        # A folder is not recorded later, because that alone would revise every atom of an older store.
        wanted = self.wanted
        given = wanted.content, wanted.title, wanted.kind, wanted.source, wanted.sequence
        before = (*present[:3], *present[5:7])
        each = zip(_TEXTS, given, before, strict=True)
        fields: dict[str, Any] = {name: value for name, value, other in each if value != other}
        if None not in {wanted.folder, present.folder} and wanted.folder != present.folder:
            fields["folder"] = wanted.folder
        return fields

    def _update(self, tx: Transaction, record: AtomRecord, present: AtomBody) -> None:
        name, fields = show_id(record.id), self._changes(present)
        if self.override:
            has = set(map(tag_identity, record.tags))
            missing = [tag for tag in checked_tags(self.wanted.tags) if tag_identity(tag) not in has]
            gone: list[str] = []
            if self.wanted.created not in {None, present.created}:
                fields["created"] = self.wanted.created
        else:
            if not is_written_by(tx.rows, record, tx.actor) or (
                "content" in fields and is_outdated(tx.rows, record, self.wanted.content)
            ):
                fields = {field: value for field, value in fields.items() if field not in _WRITTEN}
            missing, gone, others = _fact_changes(tx, self.wanted, record, present)
            fields |= others
        if fields.keys() == {"folder"} and is_from_elsewhere(tx.rows, record):
            fields = {}  # each device has a path of its own
        if fields:
            if missing or gone:
                fields["tags"] = (*(tag for tag in record.tags if tag not in gone), *missing)
            Revise(name, **fields, force=self.wanted.force).decide(tx)
            return
        if missing:
            Tag(name, missing).decide(tx)
        if gone:
            Untag(name, gone).decide(tx)


Fact = tuple[str, str]
"""What is stated about an atom apart from its text: the name of a field, and a tag, alias or key of meta."""
_CREATED: Final = ("created", "")


def _facts(
    tags: Iterable[str], aliases: Iterable[str] | None, meta: Mapping[str, Scalar] | None, created: int | None
) -> dict[Fact, Any]:
    """Return the facts of an atom with their values."""
    facts: dict[Fact, Any] = {("tags", tag_identity(tag)): tag for tag in tags}
    facts |= {("aliases", alias): alias for alias in aliases or ()}
    facts |= {("meta", key): value for key, value in (meta or {}).items()}
    return facts if created is None else facts | {_CREATED: created}


def _lists(facts: Mapping[Fact, Any]) -> dict[str, Any]:
    """Return the aliases and the meta that the facts state; None for each that they do not state.

    If there are too many, the first aliases are returned, and no meta.
    """
    aliases = tuple(value for (name, _), value in facts.items() if name == "aliases")[:ALIASES_MAX]
    fields: dict[str, Any] = {"aliases": aliases or None}
    with suppress(LimitError):
        fields["meta"] = checked_meta({key: value for (name, key), value in facts.items() if name == "meta"})
    return fields


def agree(wanted: Add, record: AtomRecord, present: AtomBody) -> bool:
    """Return True if the facts of an atom are those of `wanted`: its tags, aliases, meta and time."""
    tags = checked_tags(wanted.tags)
    return (
        ((wanted.aliases and tuple(wanted.aliases)) or None) == present.aliases
        and ((wanted.meta and dict(wanted.meta)) or None) == present.meta
        and wanted.created in {None, present.created}
        and (tags == record.tags or {*map(tag_identity, tags)} == {*map(tag_identity, record.tags)})
    )


def _fact_changes(
    tx: Transaction, wanted: Add, record: AtomRecord, present: AtomBody
) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return the tags to add to a live atom, the tags to remove, and the changed aliases, meta and time.

    A fact that another actor changed last stays as it is; all other facts become as wanted.
    """
    if agree(wanted, record, present) or (
        # Other actors made the differences. Checking this first usually saves reading the history.
        agree(wanted, record._replace(tags=present.tags), present) and not _tagged_since(tx, record)
    ):
        return [], [], {}
    asked = wanted.body()
    needed = _facts(asked.tags, asked.aliases, asked.meta, asked.created)
    has = _facts(record.tags, present.aliases, present.meta, present.created)
    others = _changed(tx.rows, record, lambda entry: _is_by_others(entry, tx.actor))
    stays = {fact for fact in has if fact in others or (fact == _CREATED and fact not in needed)}
    result = {fact: value for fact, value in has.items() if fact in stays}
    result |= {fact: value for fact, value in needed.items() if fact not in others}
    missing = [tag for (name, key), tag in result.items() if name == "tags" and (name, key) not in has]
    gone = [tag for (name, key), tag in has.items() if name == "tags" and (name, key) not in result]
    fields = {name: value for name, value in _lists(result).items() if value != getattr(present, name)}
    if result.get(_CREATED) != present.created:
        fields["created"] = result[_CREATED]
    return missing, gone, fields


def _tagged_since(tx: Transaction, record: AtomRecord) -> bool:
    """Return True if the transaction's actor changed tags of the atom since its content was written."""
    seq: int | None = record.last_seq
    while seq is not None and seq > record.payload_seq:
        header = read_header(tx.rows, seq)[0]
        if header.actor == tx.actor and header.kind in _TAGGING:
            return True
        seq = header.prev
    return False


def _is_by_others(entry: Entry, actor: str) -> bool:
    return entry.header.actor != actor or _pipeline(entry) == JOINED


def is_by_hand(entry: Entry, actor: str) -> bool:
    """Return True if neither `actor` nor a pipeline such as the dreamer made an event, or if it gives on."""
    return _pipeline(entry) == JOINED or (entry.header.actor != actor and _pipeline(entry) is None)


def _pipeline(entry: Entry) -> str | None:
    return None if entry.body is None else entry.body.pipeline


def _changed(rows: Lookup, record: AtomRecord, counts: Callable[[Entry], bool]) -> set[Fact]:
    """Return the facts of an atom that events for which `counts` is True added, changed or removed.

    The function reads the atom's whole history. A revision repeats all facts, so each body is compared with
    the facts before it.
    """
    changed: set[Fact] = set()
    facts: dict[Fact, Any] = {}
    for entry in reversed(list(entries_back(rows, record.last_seq))):
        header, body = entry.header, entry.body
        if isinstance(body, AtomBody):
            # Without a time of its own, an atom has the time of its first event, which revisions repeat.
            created = facts.get(_CREATED, header.time) if body.created is None else body.created
            new = _facts(body.tags, body.aliases, body.meta, created)
        elif isinstance(body, TagsBody):
            named = _facts(body.tags, None, None, None)
            if header.kind is EventKind.TAGS_ADDED:
                new = facts | named
            else:
                new = {fact: value for fact, value in facts.items() if fact not in named}
        else:
            continue
        if counts(entry):
            changed |= {fact for fact in facts.keys() | new.keys() if facts.get(fact) != new.get(fact)}
        facts = new
    return changed


@dataclass(frozen=True, slots=True)
class GiveFacts:
    """Give the tags, aliases and values of meta that people added to an atom to another atom, too."""

    atom: bytes
    other: bytes

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add what the other atom lacks, or no event if it is not live."""
        record, other = tx.atom(self.atom), tx.atom(self.other)
        if record is None or other is None or State.ERASED is record.state or other.state is not State.LIVE:
            return receipt(self.other, State.TOMBSTONED if other is None else other.state)
        first, name = len(tx.events), show_id(other.id)
        body, present = tx.body(record), tx.body(other)
        has = _facts(record.tags, body.aliases, body.meta, None)
        by_hand = _changed(tx.rows, record, lambda entry: is_by_hand(entry, tx.actor))
        lacks = has.keys() & by_hand - _facts(other.tags, present.aliases, present.meta, None).keys()
        given = _facts((), present.aliases, present.meta, None) | {
            fact: has[fact] for fact in has if fact in lacks
        }
        Tag(name, [tag for (field, _), tag in given.items() if field == "tags"]).decide(tx)
        if any(field != "tags" for field, _ in lacks):
            Revise(name, **_lists(given)).decide(tx)
        return receipt(other.id, other.state, *tx.events[first:])


@dataclass(frozen=True, slots=True)
class RetireAtom:
    """Hide an atom that the outside source no longer contains."""

    atom: bytes
    reason: str = GONE

    def decide(self, tx: Transaction) -> Receipt:
        """Hide the atom if it is live, and the actor wrote its present content, and a version of it here."""
        record = tx.atom(self.atom)
        if record is None or record.state is not State.LIVE:
            return receipt(self.atom, State.TOMBSTONED if record is None else record.state)
        if not (is_written_by(tx.rows, record, tx.actor) and was_here(tx.rows, record, tx.actor)):
            return receipt(self.atom, State.LIVE)
        return Tombstone(show_id(self.atom), self.reason).decide(tx)


@dataclass(frozen=True, slots=True)
class UpsertEdge:
    """Add an edge or, if it is already recorded, change its data to `data`."""

    src: bytes
    type: TypeName
    """The type of the edge. It is registered if necessary."""
    dst: bytes
    data: bytes = b""
    override: bool = False

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that add or change the edge.

        No event is appended if the edge is live and has this data, or if it is live and a different actor
        added it. If `override` is not set, there are two more cases without an event: a different actor
        removed the edge, or one of the two atoms is missing or erased.
        """
        src, dst = self.src, self.dst
        present = tx.is_linkable(src) and tx.is_linkable(dst)
        if not self.override and (src == dst or not present):
            return receipt(src, State.ERASED)
        code = _code(tx, self.type)
        edge = None if code is None else tx.edge(src, code, dst)
        if edge is None and code is not None and present and src != dst:
            # `Link` would decide the same, after checking again the ids and the type.
            body = _PLAIN if self.data == b"" else EdgeBody(_PLAIN.weight, edge_data(self.data))
            detail: EdgeDetail = tuple.__new__(EdgeDetail, (src, code, dst))
            return receipt(src, State.LIVE, tx.append(EventKind.EDGE_ADDED, None, detail, body))
        names = show_id(src), self.type, show_id(dst)
        first = len(tx.events)
        if edge is not None and edge.state is State.LIVE:
            if edge.data == self.data or edge.created_by != tx.actor:
                return receipt(src, State.LIVE)
            Unlink(*names, "its data changed").decide(tx)
        elif edge is not None and edge.tombstoned_by != tx.actor and not self.override:
            return receipt(src, edge.state)
        if not isinstance(self.type, EdgeType):
            RegisterType(self.type).decide(tx)
        Link(*names, data=self.data).decide(tx)
        return receipt(src, State.LIVE, *tx.events[first:])


_PLAIN: Final = EdgeBody(edge_weight(1.0), b"")


@dataclass(frozen=True, slots=True)
class RetireEdge:
    """Hide an edge that was added by the transaction's actor."""

    src: bytes
    type: TypeName
    dst: bytes
    reason: str = GONE

    def decide(self, tx: Transaction) -> Receipt:
        """Hide the edge if it is live and was added by the transaction's actor."""
        code = _code(tx, self.type)
        edge = None if code is None else tx.edge(self.src, code, self.dst)
        if edge is None or edge.created_by != tx.actor:
            return receipt(self.src, State.TOMBSTONED if edge is None else edge.state)
        return Unlink(show_id(self.src), self.type, show_id(self.dst), self.reason).decide(tx)


def _code(tx: Transaction, kind: TypeName) -> bytes | None:
    return bytes([kind]) if isinstance(kind, EdgeType) else tx.type_code(kind)


def reconcile_edges(
    rows: Reader, actor: str, src: bytes, kind: EdgeType, targets: Collection[bytes]
) -> Iterator[Command]:
    """Yield commands that add missing edges from `src` to `targets` and hide other edges added by `actor`."""
    edges = list(edges_at(rows, src, Direction.OUT, (bytes([kind]),)))
    present = {edge.dst for edge in edges}
    for target in targets:
        if target not in present:
            yield UpsertEdge(src, kind, target)
    for edge in edges:
        if edge.dst in targets or edge.created_by != actor:
            continue
        if not _is_by_others(read_entry(rows, edge.payload_seq), actor):
            yield RetireEdge(src, kind, edge.dst)
