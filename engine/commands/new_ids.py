"""The ids of the atoms that a plan adds."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from backends.base import Reader
from engine.commands.atoms import Add
from engine.commands.file_texts import given_by
from engine.commands.reconcile import UpsertAtom
from engine.ledger.journal import entries_back
from engine.ledger.layout import atom_key
from engine.ledger.queries import bodies_of
from engine.ledger.records import AtomRecord, Lookup, decode_atom, default_id_of
from proofs.events import AtomBody
from proofs.leaves import State


class Planned(NamedTuple):
    """The atom of a piece, and whether the plan adds it."""

    atom: bytes
    is_new: bool


class NewIds:
    """The ids of the atoms that a plan adds for the pieces of one file."""

    def __init__(self, actor: str, id_key: bytes, known: AbstractSet[bytes]) -> None:
        """Prepare ids for a file whose pieces were compared with the atoms `known`."""
        self._actor = actor
        self._id_key = id_key
        self._known = known
        self._used: set[bytes] = set()
        self._recorded: dict[bytes, bytes | None] = {}

    def prepare(self, rows: Reader, adds: Sequence[Add]) -> None:
        """Look up the records of the first ids of `adds` together. Discard earlier results."""
        ids = [default_id_of(self._id_key, add) for add in adds]
        records = rows.multi_get(list(map(atom_key, ids)))
        self._recorded = dict(zip(ids, records, strict=True))

    def planned(self, rows: Reader, add: Add) -> tuple[Planned, list[UpsertAtom]]:
        """Return the atom that `add` adds, and the command that adds this atom.

        The command is omitted if the atom is recorded and a different actor changed its source. Ids that are
        already recorded are skipped. The id of an erased atom is not skipped, so that the command with this
        id is refused.
        """
        wanted = add
        while True:
            atom = default_id_of(self._id_key, wanted)
            if atom not in self._used:
                record = self._record(rows, atom)
                if record is None or record.state is State.ERASED:
                    break
                if atom not in self._known and self._is_taken_over(rows, record, add.content):
                    self._used.add(atom)
                    return Planned(atom, is_new=False), []
            wanted = replace(wanted, occurrence=(wanted.occurrence or 0) + 1)
        self._used.add(atom)
        return Planned(atom, is_new=record is None), [UpsertAtom(wanted)]

    def _record(self, rows: Reader, atom: bytes) -> AtomRecord | None:
        if atom not in self._recorded:
            self._recorded[atom] = rows.get(atom_key(atom))
        raw = self._recorded[atom]
        return None if raw is None else decode_atom(raw, atom)

    def _is_taken_over(self, rows: Reader, record: AtomRecord, content: str) -> bool:
        """Return True if a different actor changed the source of an atom with this text."""
        if _placed_by(rows, record) == self._actor:
            return False
        (body,) = bodies_of(rows, [record])
        return body.content == content or given_by(rows, record, self._actor) is not None


def _placed_by(rows: Lookup, record: AtomRecord) -> str:
    """Return the actor who set the present source of the atom."""
    actor = ""
    for header, body, _ in entries_back(rows, record.payload_seq):
        if isinstance(body, AtomBody):
            if body.source != record.source:
                break
            actor = header.actor
    return actor
