"""Commands of imports: what an item calls for, decided on the head that it is committed on.

What is new is added, what the other memory says differently by now is revised; what somebody here has
revised or hidden since stays as they left it. The same file again appends nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.base.model import Receipt
from engine.base.validation import show_id
from engine.base.validation import tags as checked_tags
from engine.commands import Add, Command, Link, RegisterType, Revise, Revive, Tombstone, Transaction, Unlink
from engine.commands.atoms import UNCHANGED
from engine.commands.base import receipt
from engine.commands.hands import by_others
from engine.ledger.atom_ids import default_id
from engine.ledger.journal import read_header
from engine.ledger.records import AtomRecord, Lookup, type_code
from engine.transfer.adapters.base import Item
from proofs.codec import pack
from proofs.leaves import State
from proofs.sets import tag_identity

ACTOR: Final = "import"
"""Who all events of an import are by."""

IMPORTED_FROM: Final = "imported_from"
"""The predicate of the edge from an atom to its origin; what has no place in an atom is its data."""

ORIGIN: Final = "origin"
"""The kind of the atom that stands for another memory."""

FIELDS: Final = "fields"
PIECES_MAX: Final = 500
"""Pieces of one item that one command holds, so that no batch is too large."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person asked for with the file."""

    form: str
    provenance: str
    buckets: tuple[str, ...]


def commands_of(item: Item, settings: Settings) -> Iterator[Command]:
    """The commands that have the memory hold an item, in order."""
    for start in range(0, len(item.pieces), PIECES_MAX):
        yield HoldItem(item, settings, start)
    yield HoldFields(item, settings)


def id_of(id_key: bytes, item: Item, at: int) -> bytes:
    """The id that piece `at` of an item has or will have."""
    return default_id(id_key, item.source, item.pieces[0], item.occurrence, _key(item, at))


def _key(item: Item, at: int) -> str | None:
    return item.key if item.key is None or not at else f"{item.key}#{at + 1}"


@dataclass(frozen=True, slots=True)
class HoldItem:
    """Have atoms say what some pieces of an item say; with the last ones, hide those it has no more."""

    item: Item
    settings: Settings
    start: int

    def decide(self, tx: Transaction) -> Receipt:
        """No event where they say so already, or where it is not for an import to change."""
        item = self.item
        first = len(tx.entries)
        stop = min(self.start + PIECES_MAX, len(item.pieces))
        for at in range(self.start, stop):
            self._hold(tx, at)
        if stop == len(item.pieces) and item.key is not None:
            self._end(tx, stop)
        return receipt(id_of(tx.id_key, item, self.start), State.LIVE, *tx.entries[first:])

    def _hold(self, tx: Transaction, at: int) -> None:
        atom = id_of(tx.id_key, self.item, at)
        record = tx.atom(atom)
        if record is None:
            self._add(at).decide(tx)
            return
        if record.state is not State.LIVE:
            if record.state is not State.TOMBSTONED or record.tombstoned_by != ACTOR:
                return
            Revive(show_id(atom), "back in its file").decide(tx)
            record = tx.atom(atom) or record
        if by_import(tx.rows, record.payload_seq):
            self._revise(tx, record, self._add(at))

    def _add(self, at: int) -> Add:
        item = self.item
        return Add(
            content=item.pieces[at],
            title=item.title,
            kind=item.kind,
            tags=checked_tags(item.tags),
            buckets=self.settings.buckets if item.buckets is None else item.buckets,
            source=item.source,
            sequence=None if item.sequence is None else item.sequence + at,
            provenance=self.settings.provenance,
            trust=item.trust,
            created=item.created,
            occurrence=item.occurrence,
            key=_key(item, at),
        )

    def _revise(self, tx: Transaction, record: AtomRecord, wanted: Add) -> None:
        before = tx.body(record)
        tags = _tags(tx, record, before.tags, tuple(wanted.tags))
        says = (wanted.content, wanted.title, wanted.kind, wanted.sequence)
        said = (before.content, before.title, before.kind, before.sequence)
        dated = wanted.created is not None and wanted.created != before.created
        if says == said and not dated and tags is None:
            return
        Revise(
            show_id(record.id),
            content=wanted.content,
            title=wanted.title,
            kind=wanted.kind,
            sequence=wanted.sequence,
            created=UNCHANGED if wanted.created is None else wanted.created,
            tags=UNCHANGED if tags is None else tags,
        ).decide(tx)

    def _end(self, tx: Transaction, at: int) -> None:
        """Hide the pieces of a text that was longer when it was imported before."""
        while (record := tx.atom(id_of(tx.id_key, self.item, at))) is not None:
            if record.state is State.LIVE and by_import(tx.rows, record.payload_seq):
                Tombstone(show_id(record.id), "no longer in its file").decide(tx)
            at += 1


def _tags(
    tx: Transaction, record: AtomRecord, said: Sequence[str], names: Sequence[str]
) -> tuple[str, ...] | None:
    """The tags that an atom is to have, where the file named some before and names others now.

    What others put on it stays, what they took off stays off. None: no change.
    """
    before, now = set(map(tag_identity, said)), set(map(tag_identity, names))
    if before != now:  # an earlier revision repeated what others had made of them
        put, taken_off = by_others(tx.rows, record, ACTOR)
        before = (before - put) | (taken_off & now)
    if before == now:
        return None
    kept = [tag for tag in record.tags if tag_identity(tag) not in before - now]
    return checked_tags((*kept, *(tag for tag in names if tag_identity(tag) not in before)))


@dataclass(frozen=True, slots=True)
class HoldFields:
    """Have on the edge from an item to its origin what has no place in an atom."""

    item: Item
    settings: Settings

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it is there, or was removed by somebody."""
        atom = id_of(tx.id_key, self.item, 0)
        record = tx.atom(atom)
        code = type_code(tx.rows, IMPORTED_FROM)
        origin = default_id(tx.id_key, None, "", 0, origin_key(self.settings.form))
        edge = None if code is None else tx.edge(atom, code, origin)
        data = pack({FIELDS: self.item.fields}) if self.item.fields else b""
        if record is None or record.state is not State.LIVE or (edge is None and not data):
            return receipt(atom, State.LIVE)
        hidden = edge is not None and edge.tombstoned_at is not None
        if edge is not None and (edge.tombstoned_by != ACTOR if hidden else edge.data == data):
            return receipt(atom, edge.state)
        first = len(tx.entries)
        self._replace(tx, show_id(atom), origin, data, live=edge is not None and not hidden)
        return receipt(atom, State.LIVE, *tx.entries[first:])

    def _replace(self, tx: Transaction, name: str, origin: bytes, data: bytes, *, live: bool) -> None:
        if live:
            Unlink(name, IMPORTED_FROM, show_id(origin), "its fields changed").decide(tx)
        if data:
            if tx.atom(origin) is None:
                form = self.settings.form
                Add(form, kind=ORIGIN, key=origin_key(form), provenance=self.settings.provenance).decide(tx)
            RegisterType(IMPORTED_FROM).decide(tx)
            Link(name, IMPORTED_FROM, show_id(origin), data=data).decide(tx)


def origin_key(form: str) -> str:
    """The key of the atom that stands for the other memory."""
    return f"origin:{form}"


@dataclass(frozen=True, slots=True)
class HoldRelation:
    """Have an edge that a file names; one that somebody removed stays removed."""

    src: bytes
    predicate: str
    dst: bytes
    data: bytes = b""

    def decide(self, tx: Transaction) -> Receipt:
        """No event where it is there, or was removed by anyone but an import."""
        ends = [tx.atom(self.src), tx.atom(self.dst)]
        if self.src == self.dst or not all(end is not None and end.state is State.LIVE for end in ends):
            return receipt(self.src, State.LIVE)
        code = type_code(tx.rows, self.predicate)
        edge = None if code is None else tx.edge(self.src, code, self.dst)
        if edge is not None and (edge.tombstoned_at is None or edge.tombstoned_by != ACTOR):
            return receipt(self.src, edge.state)
        first = len(tx.entries)
        RegisterType(self.predicate).decide(tx)
        Link(show_id(self.src), self.predicate, show_id(self.dst), data=self.data).decide(tx)
        return receipt(self.src, State.LIVE, *tx.entries[first:])


@dataclass(frozen=True, slots=True)
class EndAtom:
    """Have an atom tombstoned, because its file no longer yields it."""

    atom: bytes

    def decide(self, tx: Transaction) -> Receipt:
        """One event where it is live and what an import last made of it."""
        record = tx.atom(self.atom)
        if record is None or record.state is not State.LIVE or not by_import(tx.rows, record.payload_seq):
            return receipt(self.atom, State.LIVE if record is None else record.state)
        return Tombstone(show_id(self.atom), "no longer in its file").decide(tx)


def by_import(rows: Lookup, seq: int) -> bool:
    """Whether event `seq` is one of an import."""
    return read_header(rows, seq)[0].actor == ACTOR
