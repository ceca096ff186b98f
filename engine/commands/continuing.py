"""The commands for a piece of a file whose text has an atom already: the piece continues this atom.

An atom is changed or hidden only if the actor of the plan was the last to write it. If a different actor has
revised or hidden the atom, a new text in the file conflicts with the atom. Both versions are then kept
(`engine.commands.conflicts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from backends.base import Reader
from engine.base.model import UNCHANGED, Direction, Receipt
from engine.base.validation import show_id
from engine.commands.atoms import Add, Revise, is_destroyed
from engine.commands.conflicts import CONFLICTS_WITH, KeepBoth
from engine.commands.file_texts import Known
from engine.commands.new_ids import NewIds, Planned
from engine.commands.reconcile import GONE, RetireAtom, UpsertAtom, agree, is_from_elsewhere
from engine.commands.transaction import Command, Transaction, receipt
from engine.ledger.queries import edges_at, recorded_type_code
from engine.ledger.records import AtomRecord, read_atom
from proofs.events import AtomBody
from proofs.leaves import State


@dataclass(frozen=True, slots=True)
class Relocate:
    """Record the new source, position and folder of a file in an atom that a different actor wrote."""

    atom: bytes
    wanted: Add

    def decide(self, tx: Transaction) -> Receipt:
        """Append the event that revises the atom, or no event if the atom is not live."""
        record = tx.atom(self.atom)
        if record is None or record.state is not State.LIVE:
            return receipt(self.atom, State.TOMBSTONED if record is None else record.state)
        wanted = self.wanted
        folder = UNCHANGED if wanted.folder is None else wanted.folder
        return Revise(
            show_id(self.atom), source=wanted.source, sequence=wanted.sequence, folder=folder
        ).decide(tx)


def continued(
    rows: Reader, id_key: bytes, add: Add, known: Known, ids: NewIds
) -> tuple[Planned, Sequence[Command]]:
    """Return the atom of a piece that continues a recorded text, and the commands for the piece."""
    record = known.record
    if known.body.folder != add.folder and is_from_elsewhere(rows, record):
        known = known._replace(body=known.body._replace(folder=None))  # each device has a path of its own
    equal = known.has(add.content)
    untouched = known.is_own and known.is_live
    if not equal and not add.force and is_destroyed(rows, id_key, add.content):
        # The command would be refused, as for a new atom; the recorded text is no longer in the file.
        planned, commands = ids.planned(rows, add)
        return planned, [*commands, RetireAtom(record.id, GONE)]
    moved = _moved(rows, known, add)
    if untouched or (equal and (known.is_own or known.is_live)):
        needed = [] if known.is_live and _matches(known, add) else [UpsertAtom(add, atom=record.id)]
        return Planned(record.id, is_new=False), [*needed, *moved]
    relocated = [Relocate(record.id, add)] if known.is_live and has_moved(known.body, add) else []
    if equal:
        return Planned(record.id, is_new=False), [*relocated, *moved]
    planned, commands = ids.planned(rows, add)
    return planned, [*(KeepBoth(one.wanted, _other_side(rows, record)) for one in commands), *relocated]


def has_moved(body: AtomBody, add: Add) -> bool:
    """Return True if an atom of a file still has a former source or folder of the file."""
    return body.source != add.source or (None not in {body.folder, add.folder} and body.folder != add.folder)


def _moved(rows: Reader, known: Known, add: Add) -> Iterator[Relocate]:
    """Yield the commands by which the atoms that are or were in conflict with a text follow it."""
    code = recorded_type_code(rows, CONFLICTS_WITH) if has_moved(known.body, add) else None
    if code is None:
        return
    ends = [known.record.id]
    for end in ends:  # grows: the other side may be a text of the file itself, revised by hand since
        for edge in edges_at(rows, end, Direction.OUT, (code,), tombstoned=True):
            other = read_atom(rows, edge.dst)
            if other is not None and other.source == known.body.source and other.id not in ends:
                ends.append(other.id)
    yield from (Relocate(end, add) for end in ends[1:])


def _matches(known: Known, add: Add) -> bool:
    """Return True if `UpsertAtom` would clearly not change the atom."""
    body = known.body
    return (
        (not known.is_own or (body.content, body.title, body.kind) == (add.content, add.title, add.kind))
        and (body.source, body.sequence) == (add.source, add.sequence)
        and (add.folder in {None, body.folder} or body.folder is None)
        and agree(add, known.record, body)
    )


def _other_side(rows: Reader, record: AtomRecord) -> bytes:
    """Return the atom with which a new text of the file conflicts.

    The result is the recorded atom. If the recorded atom was hidden when a conflict was settled, the result
    is the live atom that was kept.
    """
    code = recorded_type_code(rows, CONFLICTS_WITH)
    if record.state is State.TOMBSTONED and code is not None:
        for edge in edges_at(rows, record.id, Direction.OUT, (code,), tombstoned=True):
            target = read_atom(rows, edge.dst)
            if target is not None and target.state is State.LIVE:
                return target.id
    return record.id
