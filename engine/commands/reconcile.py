"""Commands that make the memory match an outside source and may be repeated without effect.

Ingested folders, exports of other memories and knowledge graphs require certain atoms, tags and edges. The
commands here compare these with what is recorded and append what is missing. They read the records when they
are decided, not when they are created, because other processes may write in between.

Only what the transaction's own actor recorded last may be changed:

- An atom that another actor has revised keeps that revision; one that another actor hid stays hidden.
- A tag that another actor added stays; one that another actor removed is not added again.
- An edge that another actor added stays; one that another actor removed is not added again.

With `override`, the caller asks for one thing by name: it is revived and changed as required, no matter which
actor hid or revised it. Tags are still only added.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from backends.base import Reader
from engine.base.model import Direction, Receipt
from engine.base.validation import show_id
from engine.base.validation import tags as checked_tags
from engine.commands.atoms import Add, Revise, Revive, Tag, Tombstone, Untag, is_destroyed
from engine.commands.base import Command, Transaction, receipt
from engine.commands.edges import Link, RegisterType, TypeName, Unlink
from engine.commands.sequence import place
from engine.followers.tags import members
from engine.ledger.journal import entries_back, read_header
from engine.ledger.queries import body_of, edges_at, record_at
from engine.ledger.records import AtomRecord, Lookup, default_id, type_code
from proofs.events import AtomBody, EventKind, TagsBody
from proofs.leaves import EdgeType, State
from proofs.sets import Group, tag_identity

BACK: Final = "back in its file"
"""The reason with which atoms are revived."""
GONE: Final = "no longer in its file"
"""The reason with which atoms and edges are hidden."""

_TAGGING: Final = (EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED)


def wanted_id(id_key: bytes, wanted: Add) -> bytes:
    """Return the id that the wanted atom has or will have."""
    return default_id(id_key, wanted.source, wanted.content, wanted.occurrence, wanted.key)


def is_by(rows: Lookup, seq: int, actor: str) -> bool:
    """Return True if event `seq` has this actor."""
    return read_header(rows, seq)[0].actor == actor


def is_refused(rows: Lookup, id_key: bytes, wanted: Add, record: AtomRecord | None) -> bool:
    """Return True if the wanted atom or its content was erased, so that it must not be added.

    It may be added with `force`, or if the live atom of `record` already has this content.

    Args:
        rows: The rows to look in.
        id_key: The store's key for deriving ids.
        wanted: The atom to add.
        record: The record of the wanted atom's id, if there is one.
    """
    if wanted.force:
        return False
    if record is not None and record.state is State.ERASED:
        return True
    contents = [wanted.content]
    if record is not None:
        content = body_of(rows, record).content
        if record.state is State.LIVE and content == wanted.content:
            return False
        contents += [content] if record.state is State.TOMBSTONED else []
    return any(is_destroyed(rows, id_key, content) for content in contents)


@dataclass(frozen=True, slots=True)
class UpsertAtom:
    """Add an atom, or change the recorded one to match.

    Content, title, kind, sequence, time and tags are made to match; all other fields apply to a new atom
    only.
    """

    wanted: Add
    """The atom, identified by its key or its content, never by an id."""
    override: bool = False
    reason: str = BACK
    """The reason with which a hidden atom is revived."""

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that are needed, or none if the atom matches or may not be changed.

        The state of the receipt is erased if the atom was erased and neither `override` nor `force` is set.

        Raises:
            RefusedError: The atom was erased, and `override` is set without `force`.
        """
        atom = wanted_id(tx.id_key, self.wanted)
        record = tx.atom(atom)
        if not self.override and is_refused(tx.rows, tx.id_key, self.wanted, record):
            return receipt(atom, State.ERASED)
        if record is None or record.state is State.ERASED:
            return self.wanted.decide(tx)
        first = len(tx.entries)
        if record.state is State.TOMBSTONED:
            if not self.override and record.tombstoned_by != tx.actor:
                return receipt(atom, State.TOMBSTONED)
            Revive(show_id(atom), self.reason, self.wanted.force).decide(tx)
            record = tx.atom(atom) or record
        if self.override or is_by(tx.rows, record.payload_seq, tx.actor):
            self._update(tx, record)
        return receipt(atom, State.LIVE, *tx.entries[first:])

    def _update(self, tx: Transaction, record: AtomRecord) -> None:
        wanted, present, name = self.wanted, tx.body(record), show_id(record.id)
        fields: dict[str, Any] = {
            field: getattr(wanted, field)
            for field in ("content", "title", "kind", "sequence")
            if getattr(wanted, field) != getattr(present, field)
        }
        if wanted.created not in {None, present.created}:
            fields["created"] = wanted.created
        missing, gone = self._tags(tx, record, present)
        if fields:
            if missing or gone:
                fields["tags"] = (*(tag for tag in record.tags if tag not in gone), *missing)
            Revise(name, **fields, force=wanted.force).decide(tx)
            return
        if missing:
            Tag(name, missing).decide(tx)
        if gone:
            Untag(name, gone).decide(tx)

    def _tags(self, tx: Transaction, record: AtomRecord, present: AtomBody) -> tuple[list[str], list[str]]:
        """Return the tags to add to a live atom, and those to remove."""
        wanted = {tag_identity(tag): tag for tag in checked_tags(self.wanted.tags)}
        has = {tag_identity(tag): tag for tag in record.tags}
        if self.override:
            return [tag for name, tag in wanted.items() if name not in has], []
        if wanted.keys() == has.keys():
            return [], []
        if wanted.keys() == set(map(tag_identity, present.tags)) and not _tagged_since(tx, record):
            return [], []  # other actors made the differences; the usual case skips reading the history
        added, removed = _by_others(tx.rows, record, tx.actor)
        missing = [tag for name, tag in wanted.items() if name not in has and name not in removed]
        return missing, [tag for name, tag in has.items() if name not in wanted and name not in added]


def _tagged_since(tx: Transaction, record: AtomRecord) -> bool:
    """Return True if the actor has added or removed tags of an atom since its content was written."""
    seq: int | None = record.last_seq
    while seq is not None and seq > record.payload_seq:
        header = read_header(tx.rows, seq)[0]
        if header.actor == tx.actor and header.kind in _TAGGING:
            return True
        seq = header.prev
    return False


def _by_others(rows: Lookup, record: AtomRecord, actor: str) -> tuple[set[str], set[str]]:
    """Return the tags, by identity, that other actors than `actor` have added and removed last.

    For each tag, only their last change counts. This reads the atom's whole history. A revision repeats the
    tags that were present, so the tags in a revision of `actor` are ignored.
    """
    last: dict[str, bool] = {}
    for header, body, _ in entries_back(rows, record.last_seq):
        if header.actor != actor and isinstance(body, AtomBody | TagsBody):
            for tag in map(tag_identity, body.tags):
                last.setdefault(tag, header.kind is not EventKind.TAGS_REMOVED)
    return {tag for tag, added in last.items() if added}, {tag for tag, added in last.items() if not added}


@dataclass(frozen=True, slots=True)
class RetireAtom:
    """Hide an atom that the outside source does not contain any more."""

    atom: bytes
    reason: str = GONE

    def decide(self, tx: Transaction) -> Receipt:
        """Append one event if the atom is live and this actor wrote its present content."""
        record = tx.atom(self.atom)
        if record is None or record.state is not State.LIVE:
            return receipt(self.atom, State.TOMBSTONED if record is None else record.state)
        if not is_by(tx.rows, record.payload_seq, tx.actor):
            return receipt(self.atom, State.LIVE)
        return Tombstone(show_id(self.atom), self.reason).decide(tx)


@dataclass(frozen=True, slots=True)
class UpsertEdge:
    """Add an edge with this data, or change the recorded one to match."""

    src: bytes
    type: TypeName
    """The type, which is registered if necessary."""
    dst: bytes
    data: bytes = b""
    override: bool = False

    def decide(self, tx: Transaction) -> Receipt:
        """Append the events that are needed.

        There are none if the edge matches, if another actor made or removed it, or if one of its atoms is
        missing.
        """
        ends = [tx.atom(self.src), tx.atom(self.dst)]
        present = all(end is not None and end.state is not State.ERASED for end in ends)
        if not self.override and (self.src == self.dst or not present):
            return receipt(self.src, State.ERASED)
        code = _code(tx.rows, self.type)
        edge = None if code is None else tx.edge(self.src, code, self.dst)
        names = show_id(self.src), self.type, show_id(self.dst)
        first = len(tx.entries)
        if edge is not None and edge.state is State.LIVE:
            if edge.data == self.data or edge.created_by != tx.actor:
                return receipt(self.src, State.LIVE)
            Unlink(*names, "its data changed").decide(tx)
        elif edge is not None and edge.tombstoned_by != tx.actor and not self.override:
            return receipt(self.src, edge.state)
        if not isinstance(self.type, EdgeType):
            RegisterType(self.type).decide(tx)
        Link(*names, data=self.data).decide(tx)
        return receipt(self.src, State.LIVE, *tx.entries[first:])


@dataclass(frozen=True, slots=True)
class RetireEdge:
    """Hide an edge that this actor made."""

    src: bytes
    type: TypeName
    dst: bytes
    reason: str = GONE

    def decide(self, tx: Transaction) -> Receipt:
        """Append one event if the edge is live and this actor made it."""
        code = _code(tx.rows, self.type)
        edge = None if code is None else tx.edge(self.src, code, self.dst)
        if edge is None or edge.created_by != tx.actor:
            return receipt(self.src, State.TOMBSTONED if edge is None else edge.state)
        return Unlink(show_id(self.src), self.type, show_id(self.dst), self.reason).decide(tx)


def _code(rows: Lookup, kind: TypeName) -> bytes | None:
    return bytes([kind]) if isinstance(kind, EdgeType) else type_code(rows, kind)


# The functions below select commands for a whole source, or for all edges of one type at an atom. They only
# skip commands that are clearly not needed; the commands compare again when they are decided.


def atoms_of(rows: Reader, source: str) -> dict[bytes, AtomRecord]:
    """Return the atoms whose content came from `source`, by id, as of the cursor of the follower `tags`."""
    atoms = {}
    for ordinal in members(rows, (Group.SOURCE, source)):
        record = record_at(rows, ordinal)
        if record.ordinal == ordinal:
            atoms[record.id] = record
    return atoms


def reconcile_source(
    rows: Reader, actor: str, source: str, atoms: Sequence[bytes], wanted: Sequence[Add]
) -> Iterator[Command]:
    """Yield the commands after which a source holds these atoms in this order, and no others of `actor`.

    A wanted atom matches the recorded atom of the same id, so changed text is a new atom. Each atom keeps its
    sort key as far as the order allows.

    Args:
        rows: The rows to compare with.
        actor: The actor that will carry out the commands.
        source: The source.
        atoms: The ids of `wanted`, in the order of the source.
        wanted: The atoms that the source contains.
    """
    recorded = atoms_of(rows, source)
    known = [recorded[atom].sequence if atom in recorded else None for atom in atoms]
    for add, sequence in zip(wanted, place(known), strict=True):
        yield UpsertAtom(replace(add, sequence=sequence))
    yield from retire_others(rows, actor, source, set(atoms))


def retire_others(
    rows: Reader, actor: str, source: str, keep: AbstractSet[bytes], reason: str = GONE
) -> Iterator[Command]:
    """Yield commands that hide the source's live atoms not in `keep` whose content `actor` wrote last."""
    for atom, record in sorted(atoms_of(rows, source).items()):
        if atom not in keep and record.state is State.LIVE and is_by(rows, record.payload_seq, actor):
            yield RetireAtom(atom, reason)


def reconcile_edges(
    rows: Reader, actor: str, src: bytes, kind: EdgeType, targets: Collection[bytes]
) -> Iterator[Command]:
    """Yield the commands after which `src` has edges of a type to `targets`, and no others by `actor`."""
    edges = list(edges_at(rows, src, Direction.OUT, (bytes([kind]),)))
    present = {edge.dst for edge in edges}
    for target in targets:
        if target not in present:
            yield UpsertEdge(src, kind, target)
    for edge in edges:
        if edge.dst not in targets and edge.created_by == actor:
            yield RetireEdge(src, kind, edge.dst)
