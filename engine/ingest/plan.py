"""What it takes for the store to hold a source as its file now reads (DESIGN: Records).

What is new is added, what the file no longer yields is tombstoned, and only what ingest itself
tombstoned is revived. An atom that somebody else has revised keeps what they wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backends.base import Reader
from engine.border import show_id, tag_identity
from engine.border import tags as kept_tags
from engine.commands import Add, Command, Link, Revise, Revive, Tag, Tombstone, Unlink, Untag
from engine.commands.atoms import UNCHANGED, default_id
from engine.followers.tags import Group, members
from engine.ingest.documents import Piece
from engine.ingest.sequence import place
from engine.journal import read_header
from engine.model import Direction, EdgeType, State
from engine.queries import body_of, edges_at, record_at
from engine.records import AtomRecord, read_atom, read_edge

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


def atoms_of(rows: Reader, source: str) -> dict[bytes, AtomRecord]:
    """The atoms whose content came from `source`, by id, as far as the `tags` follower has come."""
    found = {}
    for ordinal in members(rows, (Group.SOURCE, source)):
        record = record_at(rows, ordinal)
        if record.ordinal == ordinal:
            found[record.id] = record
    return found


def piece_id(settings: Settings, source: str, piece: Piece) -> bytes:
    """The id that the atom of a piece has or will have."""
    return default_id(settings.id_key, source, piece.content, piece.occurrence, piece.id)


def plan_document(
    rows: Reader, source: str, pieces: Sequence[Piece], settings: Settings
) -> Iterator[Command]:
    """The commands for a file that is one source, in the order of its pieces."""
    recorded = atoms_of(rows, source)
    ids = [piece_id(settings, source, piece) for piece in pieces]
    known = [recorded[atom].sequence if atom in recorded else None for atom in ids]
    for atom, piece, sequence in zip(ids, pieces, place(known), strict=True):
        yield from plan_piece(rows, source, piece, atom, sequence, settings)
    yield from plan_gone(rows, recorded, set(ids), "no longer in its file")


def plan_gone(
    rows: Reader, recorded: dict[bytes, AtomRecord], kept: set[bytes], reason: str
) -> Iterator[Command]:
    """Tombstones for the live atoms of a source that ingest added and that are not in `kept`."""
    for atom, record in sorted(recorded.items()):
        if atom not in kept and record.state is State.LIVE and _is_ours(rows, record.created_seq):
            yield Tombstone(show_id(atom), reason)


def plan_piece(
    rows: Reader, source: str, piece: Piece, atom: bytes, sequence: int | None, settings: Settings
) -> Iterator[Command]:
    """The commands for one piece."""
    record = read_atom(rows, atom)
    tags = kept_tags((*piece.tags, *settings.tags))
    if record is None:
        yield Add(
            content=piece.content,
            title=piece.title,
            tags=tags,
            buckets=settings.buckets,
            source=source,
            sequence=sequence,
            provenance=settings.provenance,
            created=piece.created,
            occurrence=piece.occurrence,
            key=piece.id,
        )
        return
    name = show_id(atom)
    if record.state is State.TOMBSTONED:
        if record.hidden_by != ACTOR:
            return
        yield Revive(name, "back in its file")
    if not _is_ours(rows, record.payload_seq):
        return
    before = body_of(rows, record)
    if (before.content, before.title, before.sequence) != (piece.content, piece.title, sequence) or (
        piece.created is not None and before.created != piece.created
    ):
        yield Revise(
            name,
            content=piece.content,
            title=piece.title,
            sequence=sequence,
            created=UNCHANGED if piece.created is None else piece.created,
        )
    yield from _plan_tags(name, record, before.tags, tags)


def _plan_tags(name: str, record: AtomRecord, before: Sequence[str], now: Sequence[str]) -> Iterator[Command]:
    """Tags the file names are put on; those it named and names no more are taken off; others stay."""
    has, named = set(map(tag_identity, record.tags)), set(map(tag_identity, now))
    if new := [tag for tag in now if tag_identity(tag) not in has]:
        yield Tag(name, new)
    gone = [tag for tag in before if tag_identity(tag) in has and tag_identity(tag) not in named]
    if gone:
        yield Untag(name, gone)


def _is_ours(rows: Reader, seq: int) -> bool:
    return read_header(rows, seq)[0].actor == ACTOR


def plan_links(rows: Reader, atom: bytes, targets: Sequence[bytes]) -> Iterator[Command]:
    """Edges `references` to `targets`, and away with those of ingest that lead elsewhere.

    An edge that somebody else removed stays removed.
    """
    name = show_id(atom)
    for target in targets:
        edge = read_edge(rows, atom, REFERENCES, target)
        if edge is None or (edge.state is not State.LIVE and edge.hidden_by == ACTOR):
            yield Link(name, EdgeType.REFERENCES, show_id(target))
    for edge in edges_at(rows, atom, Direction.OUT, (REFERENCES,)):
        if edge.dst not in targets and edge.created_by == ACTOR:
            yield Unlink(name, EdgeType.REFERENCES, show_id(edge.dst), "no longer in its file")
