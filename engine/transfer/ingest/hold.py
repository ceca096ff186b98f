"""Commands of ingest: what a file calls for, decided on the head that it is committed on.

Other processes may write to the store between reading a file and committing what it calls for. So a
command here carries what the file says, and looks at the records when it is decided; after a lost race
it is decided anew. The events are those of the commands that it hands on to (`engine.commands`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.base.model import Receipt
from engine.base.validation import show_id
from engine.base.validation import tags as kept_tags
from engine.commands import Add, Command, Link, Revise, Revive, Tag, Tombstone, Transaction, Unlink, Untag
from engine.commands.atoms import UNCHANGED
from engine.commands.base import receipt
from engine.commands.destroyed import was_destroyed
from engine.commands.hands import by_others
from engine.ledger.journal import read_header
from engine.ledger.records import AtomRecord, Lookup
from engine.transfer.ingest.documents import Piece
from proofs.leaves import EdgeType, State
from proofs.sets import tag_identity

if TYPE_CHECKING:
    from engine.secrets.filter import Screen

ACTOR = "ingest"
"""Who all events of an ingest are by."""

REFERENCES = bytes([EdgeType.REFERENCES])


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person asked for with the files."""

    id_key: bytes
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    provenance: str
    force: bool = False
    """Also pieces whose content was erased."""
    refused: set[tuple[str, bytes]] = field(default_factory=set, compare=False)
    """Source and id of each piece that was left out because its content was erased."""
    screen: Screen | None = field(default=None, compare=False)
    """What files pass before anything is made of them."""


@dataclass(frozen=True, slots=True)
class HoldPiece:
    """Have `atom` say what the piece of a file says.

    What only ingest tombstoned is revived; what somebody else tombstoned or revised stays as they
    left it. `sequence` is the place that was worked out when the file was read.
    """

    source: str
    piece: Piece
    atom: bytes
    sequence: int
    settings: Settings

    def decide(self, tx: Transaction) -> Receipt:
        """No event where the atom says so already, where it is not for ingest to change, or was erased."""
        record = tx.atom(self.atom)
        if self._is_erased(tx, record):
            self.settings.refused.add((self.source, self.atom))
            return receipt(self.atom, State.ERASED)
        tags = kept_tags((*self.piece.tags, *self.settings.tags))
        if record is None or record.state is State.ERASED:
            return self._add(tags).decide(tx)
        receipts = [command.decide(tx) for command in self._changes(tx, record, tags)]
        if not receipts:
            return receipt(record.id, record.state)
        return Receipt(
            receipts[-1].subject,
            tuple(event for part in receipts for event in part.events),
            receipts[-1].state,
        )

    def _is_erased(self, tx: Transaction, record: AtomRecord | None) -> bool:
        """Whether the piece, where it is not what a live atom says, was erased, and nobody insists on it."""
        if self.settings.force or (
            record is not None and record.state is State.LIVE and self._is_said(tx, record)
        ):
            return False
        erased = record is not None and record.state is State.ERASED
        return erased or was_destroyed(tx, self.piece.content)

    def _is_said(self, tx: Transaction, record: AtomRecord) -> bool:
        return tx.body(record).content == self.piece.content

    def _add(self, tags: tuple[str, ...]) -> Add:
        return Add(
            content=self.piece.content,
            title=self.piece.title,
            tags=tags,
            buckets=self.settings.buckets,
            source=self.source,
            sequence=self.sequence,
            provenance=self.settings.provenance,
            created=self.piece.created,
            occurrence=self.piece.occurrence,
            key=self.piece.id,
            force=self.settings.force,
        )

    def _changes(self, tx: Transaction, record: AtomRecord, tags: Sequence[str]) -> Iterator[Command]:
        """The commands for an atom that is recorded, each to be decided before the next is asked for."""
        piece, name = self.piece, show_id(self.atom)
        if record.state is State.TOMBSTONED:
            if record.tombstoned_by != ACTOR:
                return
            yield Revive(name, "back in its file", self.settings.force)
        if not by_ingest(tx.rows, record.payload_seq):
            return
        before = tx.body(record)
        if (before.content, before.title, before.sequence) != (piece.content, piece.title, self.sequence) or (
            piece.created is not None and before.created != piece.created
        ):
            yield Revise(
                name,
                content=piece.content,
                title=piece.title,
                sequence=self.sequence,
                created=UNCHANGED if piece.created is None else piece.created,
                force=self.settings.force,
            )
        yield from _retag(tx, name, record, before.tags, tags)


def _retag(
    tx: Transaction, name: str, record: AtomRecord, before: Sequence[str], now: Sequence[str]
) -> Iterator[Command]:
    """Tags the file names are put on; those it named and names no more are taken off; others stay."""
    has, named = set(map(tag_identity, record.tags)), set(map(tag_identity, now))
    if new := [tag for tag in now if tag_identity(tag) not in has]:
        yield Tag(name, new)
    gone = [tag for tag in before if tag_identity(tag) in has and tag_identity(tag) not in named]
    if gone:
        # A revision repeats the tags that people had put there; they are not the file's to take off.
        put, _ = by_others(tx.rows, record, ACTOR)
        gone = [tag for tag in gone if tag_identity(tag) not in put]
    if gone:
        yield Untag(name, gone)


@dataclass(frozen=True, slots=True)
class EndPiece:
    """Have `atom` tombstoned, because no file yields it any more."""

    atom: bytes
    reason: str

    def decide(self, tx: Transaction) -> Receipt:
        """One event where the atom is live and ingest added it."""
        record = tx.atom(self.atom)
        if record is None or record.state is not State.LIVE or not by_ingest(tx.rows, record.created_seq):
            return receipt(self.atom, State.TOMBSTONED if record is None else record.state)
        return Tombstone(show_id(self.atom), self.reason).decide(tx)


@dataclass(frozen=True, slots=True)
class HoldReference:
    """Have the edge `references` from `src` to `dst`; one that somebody else removed stays removed."""

    src: bytes
    dst: bytes

    def decide(self, tx: Transaction) -> Receipt:
        """No event where the edge is live, was removed by anyone but ingest, or an end is not there."""
        ends = [tx.atom(end) for end in (self.src, self.dst)]
        if any(end is None or end.state is State.ERASED for end in ends):
            return receipt(self.src, State.ERASED)
        edge = tx.edge(self.src, REFERENCES, self.dst)
        if edge is not None and edge.tombstoned_at is not None and edge.tombstoned_by != ACTOR:
            return receipt(self.src, edge.state)
        return Link(show_id(self.src), EdgeType.REFERENCES, show_id(self.dst)).decide(tx)


@dataclass(frozen=True, slots=True)
class EndReference:
    """Have no edge `references` of ingest from `src` to `dst`."""

    src: bytes
    dst: bytes

    def decide(self, tx: Transaction) -> Receipt:
        """One event where the edge is live and ingest made it."""
        edge = tx.edge(self.src, REFERENCES, self.dst)
        if edge is None or edge.created_by != ACTOR:
            return receipt(self.src, State.TOMBSTONED if edge is None else edge.state)
        reason = "no longer in its file"
        return Unlink(show_id(self.src), EdgeType.REFERENCES, show_id(self.dst), reason).decide(tx)


def by_ingest(rows: Lookup, seq: int) -> bool:
    """Whether event `seq` is one of ingest."""
    return read_header(rows, seq)[0].actor == ACTOR
