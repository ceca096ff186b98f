"""Having the memory hold what something outside it says, however often it is said: the one reconciler.

A folder that is ingested, the export of another memory, and a knowledge graph want atoms, tags and edges. The
commands here compare what is wanted with what is recorded and append what is missing. They look when they
are decided, not when they are made, because other processes may write in between.

What may be changed is what the transaction's own actor said last:

- An atom that anybody else has revised since keeps what they wrote; one that anybody else hid stays hidden.
- A tag that anybody else put on stays on, and one that they took off stays off.
- An edge that anybody else made stays; one that they removed stays removed.

With `insist`, somebody asks for a thing by its name: then it comes back and says what is wanted, whoever hid
or revised it. Tags are still only added.
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
GONE: Final = "no longer in its file"
"""Reasons with which atoms and edges come and go."""

_TAGGING: Final = (EventKind.TAGS_ADDED, EventKind.TAGS_REMOVED)


def wanted_id(id_key: bytes, wanted: Add) -> bytes:
    """The id that an atom that is wanted has or will have."""
    return default_id(id_key, wanted.source, wanted.content, wanted.occurrence, wanted.key)


def is_by(rows: Lookup, seq: int, actor: str) -> bool:
    """Whether event `seq` is one of `actor`."""
    return read_header(rows, seq)[0].actor == actor


def is_refused(rows: Lookup, id_key: bytes, wanted: Add, record: AtomRecord | None) -> bool:
    """Whether what is wanted was erased and is not forced, and `record`, that of its id, does not say it."""
    if wanted.force:
        return False
    if record is not None and record.state is State.ERASED:
        return True
    contents = [wanted.content]
    if record is not None:
        said = body_of(rows, record).content
        if record.state is State.LIVE and said == wanted.content:
            return False
        contents += [said] if record.state is State.TOMBSTONED else []
    return any(is_destroyed(rows, id_key, content) for content in contents)


@dataclass(frozen=True, slots=True)
class UpsertAtom:
    """Have an atom that says this: content, title, kind, place, time and tags; the rest is for a new one."""

    wanted: Add
    """Named by its key, or by what it says; never by an id."""
    insist: bool = False
    reason: str = BACK
    """With which it is brought back."""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it says so already or is not for this actor to change.

        The receipt's state is erased where it was erased and neither `insist` nor `force` is set.

        Raises:
            RefusedError: it was erased; `insist` is set, and `force` is not.
        """
        atom = wanted_id(tx.id_key, self.wanted)
        record = tx.atom(atom)
        if not self.insist and is_refused(tx.rows, tx.id_key, self.wanted, record):
            return receipt(atom, State.ERASED)
        if record is None or record.state is State.ERASED:
            return self.wanted.decide(tx)
        first = len(tx.entries)
        if record.state is State.TOMBSTONED:
            if not self.insist and record.tombstoned_by != tx.actor:
                return receipt(atom, State.TOMBSTONED)
            Revive(show_id(atom), self.reason, self.wanted.force).decide(tx)
            record = tx.atom(atom) or record
        if self.insist or is_by(tx.rows, record.payload_seq, tx.actor):
            self._say(tx, record)
        return receipt(atom, State.LIVE, *tx.entries[first:])

    def _say(self, tx: Transaction, record: AtomRecord) -> None:
        wanted, said, name = self.wanted, tx.body(record), show_id(record.id)
        fields: dict[str, Any] = {
            field: getattr(wanted, field)
            for field in ("content", "title", "kind", "sequence")
            if getattr(wanted, field) != getattr(said, field)
        }
        if wanted.created not in {None, said.created}:
            fields["created"] = wanted.created
        missing, gone = self._tags(tx, record, said)
        if fields:
            if missing or gone:
                fields["tags"] = (*(tag for tag in record.tags if tag not in gone), *missing)
            Revise(name, **fields, force=wanted.force).decide(tx)
            return
        if missing:
            Tag(name, missing).decide(tx)
        if gone:
            Untag(name, gone).decide(tx)

    def _tags(self, tx: Transaction, record: AtomRecord, said: AtomBody) -> tuple[list[str], list[str]]:
        """The tags to put on a live atom, and those to take off."""
        wanted = {tag_identity(tag): tag for tag in checked_tags(self.wanted.tags)}
        has = {tag_identity(tag): tag for tag in record.tags}
        if self.insist:
            return [tag for name, tag in wanted.items() if name not in has], []
        if wanted.keys() == has.keys():
            return [], []
        if wanted.keys() == set(map(tag_identity, said.tags)) and not _tagged_since(tx, record):
            return [], []  # what differs is others' doing; the usual case, without reading the whole history
        put, taken_off = _by_others(tx.rows, record, tx.actor)
        missing = [tag for name, tag in wanted.items() if name not in has and name not in taken_off]
        return missing, [tag for name, tag in has.items() if name not in wanted and name not in put]


def _tagged_since(tx: Transaction, record: AtomRecord) -> bool:
    """Whether the actor has put tags on an atom, or taken them off, since its content was written."""
    seq: int | None = record.last_seq
    while seq is not None and seq > record.payload_seq:
        header = read_header(tx.rows, seq)[0]
        if header.actor == tx.actor and header.kind in _TAGGING:
            return True
        seq = header.prev
    return False


def _by_others(rows: Lookup, record: AtomRecord, actor: str) -> tuple[set[str], set[str]]:
    """The tags, by identity, that anybody but `actor` has put on an atom, and taken off it.

    What they did last with each counts. Reads the atom's history; a revision repeats the tags that were
    there, so what a body of `actor` says is nobody's doing.
    """
    last: dict[str, bool] = {}
    for header, body, _ in entries_back(rows, record.last_seq):
        if header.actor != actor and isinstance(body, AtomBody | TagsBody):
            for tag in map(tag_identity, body.tags):
                last.setdefault(tag, header.kind is not EventKind.TAGS_REMOVED)
    return {tag for tag, put in last.items() if put}, {tag for tag, put in last.items() if not put}


@dataclass(frozen=True, slots=True)
class RetireAtom:
    """Have an atom hidden, because nothing outside says it any more."""

    atom: bytes
    reason: str = GONE

    def decide(self, tx: Transaction) -> Receipt:
        """One event where it is live and what this actor said last."""
        record = tx.atom(self.atom)
        if record is None or record.state is not State.LIVE:
            return receipt(self.atom, State.TOMBSTONED if record is None else record.state)
        if not is_by(tx.rows, record.payload_seq, tx.actor):
            return receipt(self.atom, State.LIVE)
        return Tombstone(show_id(self.atom), self.reason).decide(tx)


@dataclass(frozen=True, slots=True)
class UpsertEdge:
    """Have an edge with this data."""

    src: bytes
    type: TypeName
    """Registered if it is not yet."""
    dst: bytes
    data: bytes = b""
    insist: bool = False

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it is there, is not for this actor to change, or an end is not there."""
        ends = [tx.atom(self.src), tx.atom(self.dst)]
        there = all(end is not None and end.state is not State.ERASED for end in ends)
        if not self.insist and (self.src == self.dst or not there):
            return receipt(self.src, State.ERASED)
        code = _code(tx.rows, self.type)
        edge = None if code is None else tx.edge(self.src, code, self.dst)
        names = show_id(self.src), self.type, show_id(self.dst)
        first = len(tx.entries)
        if edge is not None and edge.state is State.LIVE:
            if edge.data == self.data or edge.created_by != tx.actor:
                return receipt(self.src, State.LIVE)
            Unlink(*names, "its data changed").decide(tx)
        elif edge is not None and edge.tombstoned_by != tx.actor and not self.insist:
            return receipt(self.src, edge.state)
        if not isinstance(self.type, EdgeType):
            RegisterType(self.type).decide(tx)
        Link(*names, data=self.data).decide(tx)
        return receipt(self.src, State.LIVE, *tx.entries[first:])


@dataclass(frozen=True, slots=True)
class RetireEdge:
    """Have no edge of this actor from `src` to `dst`."""

    src: bytes
    type: TypeName
    dst: bytes
    reason: str = GONE

    def decide(self, tx: Transaction) -> Receipt:
        """One event where it is live and this actor made it."""
        code = _code(tx.rows, self.type)
        edge = None if code is None else tx.edge(self.src, code, self.dst)
        if edge is None or edge.created_by != tx.actor:
            return receipt(self.src, State.TOMBSTONED if edge is None else edge.state)
        return Unlink(show_id(self.src), self.type, show_id(self.dst), self.reason).decide(tx)


def _code(rows: Lookup, kind: TypeName) -> bytes | None:
    return bytes([kind]) if isinstance(kind, EdgeType) else type_code(rows, kind)


# What a whole source, or all edges of one type at an atom, call for. This only leaves out what is plainly not
# needed: the commands look again when they are decided.


def atoms_of(rows: Reader, source: str) -> dict[bytes, AtomRecord]:
    """The atoms whose content came from `source`, by id, as far as the `tags` follower has come."""
    found = {}
    for ordinal in members(rows, (Group.SOURCE, source)):
        record = record_at(rows, ordinal)
        if record.ordinal == ordinal:
            found[record.id] = record
    return found


def reconcile_source(
    rows: Reader, actor: str, source: str, atoms: Sequence[bytes], wanted: Sequence[Add]
) -> Iterator[Command]:
    """The commands that have a source hold these atoms in this order, and no others of `actor`.

    What is wanted meets the recorded atom of the same id, so a text that was changed is another atom. Each
    keeps the place that it has, as far as the order allows.
    `atoms` are the ids of what is `wanted`, in the order of the source. `actor` will carry the commands out.
    """
    recorded = atoms_of(rows, source)
    known = [recorded[atom].sequence if atom in recorded else None for atom in atoms]
    for one, sequence in zip(wanted, place(known), strict=True):
        yield UpsertAtom(replace(one, sequence=sequence))
    yield from retire_others(rows, actor, source, set(atoms))


def retire_others(
    rows: Reader, actor: str, source: str, kept: AbstractSet[bytes], reason: str = GONE
) -> Iterator[Command]:
    """The commands that end the live atoms of a source that `actor` said last and that are not in `kept`."""
    for atom, record in sorted(atoms_of(rows, source).items()):
        if atom not in kept and record.state is State.LIVE and is_by(rows, record.payload_seq, actor):
            yield RetireAtom(atom, reason)


def reconcile_edges(
    rows: Reader, actor: str, src: bytes, kind: EdgeType, targets: Collection[bytes]
) -> Iterator[Command]:
    """The commands that have edges of a type from `src` to `targets`, and none of `actor` elsewhere."""
    edges = list(edges_at(rows, src, Direction.OUT, (bytes([kind]),)))
    present = {edge.dst for edge in edges}
    for target in targets:
        if target not in present:
            yield UpsertEdge(src, kind, target)
    for edge in edges:
        if edge.dst not in targets and edge.created_by == actor:
            yield RetireEdge(src, kind, edge.dst)
