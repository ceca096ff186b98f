"""What it takes for the store to hold a source as its file now reads (SPEC: Records and the fold).

What is new is added, what the file no longer yields is tombstoned, and only what ingest itself
tombstoned is revived. An atom that somebody else has revised keeps what they wrote. Planning leaves
out what is plainly not needed; what is, the commands decide (`engine.transfer.ingest.hold`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet

from backends.base import Reader
from engine.base.model import Direction
from engine.commands import Command
from engine.followers.tags import members
from engine.ledger.atom_ids import default_id
from engine.ledger.queries import edges_at, record_at
from engine.ledger.records import AtomRecord
from engine.ledger.sequence import place
from engine.transfer.ingest.documents import Piece
from engine.transfer.ingest.hold import (
    ACTOR,
    REFERENCES,
    EndPiece,
    EndReference,
    HoldPiece,
    HoldReference,
    Settings,
    by_ingest,
)
from proofs.leaves import State
from proofs.sets import Group


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
    rows: Reader, source: str, pieces: Sequence[Piece], atoms: Sequence[bytes], settings: Settings
) -> Iterator[Command]:
    """The commands for a file that is one source, in the order of its pieces; `atoms` are their ids."""
    recorded = atoms_of(rows, source)
    known = [recorded[atom].sequence if atom in recorded else None for atom in atoms]
    for atom, piece, sequence in zip(atoms, pieces, place(known), strict=True):
        yield HoldPiece(source, piece, atom, sequence, settings)
    yield from plan_gone(rows, recorded, set(atoms), "no longer in its file")


def plan_gone(
    rows: Reader, recorded: dict[bytes, AtomRecord], kept: AbstractSet[bytes], reason: str
) -> Iterator[Command]:
    """Tombstones for the live atoms of a source that ingest added and that are not in `kept`."""
    for atom, record in sorted(recorded.items()):
        if atom not in kept and record.state is State.LIVE and by_ingest(rows, record.created_seq):
            yield EndPiece(atom, reason)


def has_references(rows: Reader, atom: bytes) -> bool:
    """Whether a live edge `references` that ingest made leads out of `atom`."""
    return any(edge.created_by == ACTOR for edge in edges_at(rows, atom, Direction.OUT, (REFERENCES,)))


def plan_references(rows: Reader, atom: bytes, targets: Collection[bytes]) -> Iterator[Command]:
    """Edges `references` to `targets`, and away with those of ingest that lead elsewhere."""
    edges = list(edges_at(rows, atom, Direction.OUT, (REFERENCES,)))
    present = {edge.dst for edge in edges}
    for target in targets:
        if target not in present:
            yield HoldReference(atom, target)
    for edge in edges:
        if edge.dst not in targets and edge.created_by == ACTOR:
            yield EndReference(atom, edge.dst)
