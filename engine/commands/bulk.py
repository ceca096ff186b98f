"""Deciding many commands: runs of consecutive commands that add atoms, or edges, are decided together.

The events are exactly those that result if each command is decided by its own method `decide`. A run saves
time because the records of all its atoms are looked up at once, and because the rows of all new atoms, or all
new edges, are computed in one step (`engine.ledger.adding`, `engine.ledger.linking`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypeGuard

from backends.base import Reader
from engine.base.errors import EngineError
from engine.base.model import Receipt
from engine.base.validation import atom_id
from engine.commands.atoms import Add, is_destroyed, says
from engine.commands.base import Command, Transaction, receipt, receipts
from engine.commands.edge_runs import UpsertEdges, edge_run
from engine.commands.reconcile import UpsertAtom
from engine.ledger.adding import default_ids
from engine.ledger.layout import atom_key
from engine.ledger.queries import bodies_of
from engine.ledger.records import decode_atoms
from proofs.events import AtomBody
from proofs.leaves import State

RUN_CHARS_MAX = 1 << 20
"""A run ends once its contents have more than this many characters. Otherwise a batch with too many bytes
would be detected late."""

_TOGETHER_MIN = 4
"""If at least this many of the atoms are recorded, their bodies are read together."""


def decide_all(tx: Transaction, commands: Sequence[Command]) -> list[Receipt]:
    """Decide `commands` in order, and return their receipts.

    Raises:
        EngineError: The error that `decide` of the first failing command raises.
    """
    receipts: list[Receipt] = []
    while len(receipts) < len(commands):
        start = len(receipts)
        if tx.screen is None:
            if run := _run(commands, start, tx.room):
                receipts += _Adds(tx, run).decide()
                continue
            if edges := edge_run(commands, start, tx.edge_room):
                receipts += UpsertEdges(tx, edges).decide()
                continue
        receipts.append(commands[start].decide(tx))
    return receipts


AddLike = Add | UpsertAtom


def _run(commands: Sequence[Command], start: int, most: int) -> list[AddLike]:
    """Return at most `most` consecutive commands that add atoms, beginning at `start`."""
    run: list[AddLike] = []
    chars = 0
    for command in islice(commands, start, start + most):
        # A subclass may decide differently.
        if type(command) is Add:
            content = command.content
        elif _adds_by_content(command):
            content = command.wanted.content
        else:
            break
        if chars > RUN_CHARS_MAX:
            break
        run.append(command)
        chars += len(content) if type(content) is str else 0
    return run


def _adds_by_content(command: Command) -> TypeGuard[UpsertAtom]:
    """Return True if the key or the content of the wanted atom determines which atom the command concerns."""
    return (
        type(command) is UpsertAtom
        and command.atom is None
        and type(command.wanted) is Add
        and command.wanted.id is None
    )


class _Adds:
    """A run of `Add` and `UpsertAtom` commands that is being decided."""

    def __init__(self, tx: Transaction, run: Sequence[AddLike]) -> None:
        self._tx = tx
        self._commands = run
        self._run = [command if isinstance(command, Add) else command.wanted for command in run]
        self._receipts: list[Receipt] = []
        self._atoms: list[bytes] = []
        self._bodies: list[AtomBody] = []
        """The ids and the bodies of new atoms whose events are not appended yet."""

    def decide(self) -> list[Receipt]:
        """Decide the commands, and return their receipts."""
        tx = self._tx
        bodies = self._valid_bodies()
        atoms = _ids(tx.id_key, self._run, bodies)
        changed: set[bytes] = set()
        found = tx.rows.multi_get(list(map(atom_key, atoms)))
        tx.check_unrecorded("atoms", [atom for atom, raw in zip(atoms, found, strict=True) if raw is None])
        unchanged = self._unchanged(atoms, found)
        for command, add, body, atom, raw in zip(
            self._commands, self._run, bodies, atoms, found, strict=False
        ):
            if raw is None and atom not in changed and not self._is_refused(add, body):
                self._atoms.append(atom)
                self._bodies.append(body)
                changed.add(atom)
                continue
            self._append()
            record = None if raw is None or atom in changed else tx.atom(atom)
            if record is not None and atom in unchanged:
                self._receipts.append(receipt(atom, State.LIVE))
            elif (
                command is not add
                or record is None
                or record.state is State.ERASED
                or add.id is not None
                or add.key is not None
                or not says(tx.rows, record, body.content)
            ):
                self._receipts.append(command.decide(tx))
                # An added atom has a different id if the atom with this id was revised.
                changed.update({atom, atom_id(self._receipts[-1].subject)})
            else:
                self._receipts.append(receipt(atom, record.state))
        self._append()
        if len(atoms) < len(self._run):
            self._receipts.append(self._commands[len(atoms)].decide(tx))
        return self._receipts

    def _unchanged(self, atoms: Sequence[bytes], found: Sequence[bytes | None]) -> set[bytes]:
        """Return the atoms that already match their `UpsertAtom` commands.

        Reading the bodies together takes half the time of deciding each command by itself (measured).
        """
        tx = self._tx
        wanted = {
            atom: (raw, command)
            for command, atom, raw in zip(self._commands, atoms, found, strict=False)
            if raw is not None and isinstance(command, UpsertAtom) and atom_key(atom) not in tx.batch.rows
        }
        if len(wanted) < _TOGETHER_MIN or not isinstance(tx.head, Reader):
            return set()
        records = decode_atoms([raw for raw, _ in wanted.values()], list(wanted))
        live = [record for record in records if record.state is State.LIVE]
        try:
            bodies = bodies_of(tx.head, live)
        except EngineError:
            return set()  # the command of the damaged atom raises the error
        pairs = zip(live, bodies, strict=True)
        return {record.id for record, body in pairs if wanted[record.id][1].matches(record, body)}

    def _is_refused(self, add: Add, body: AtomBody) -> bool:
        tx = self._tx
        may_be_refused = not add.force and tx.may_be_destroyed()
        return may_be_refused and is_destroyed(tx.rows, tx.id_key, body.content)

    def _valid_bodies(self) -> list[AtomBody]:
        """Return the bodies of the commands before the first command that is not valid."""
        bodies = []
        for add in self._run:
            try:
                bodies.append(add.body())
            except EngineError:
                break
        return bodies

    def _append(self) -> None:
        """Append the events of the waiting new atoms, and add their receipts."""
        if not self._atoms:
            return
        self._receipts += receipts(self._atoms, State.LIVE, self._tx.add(self._atoms, self._bodies))
        self._atoms, self._bodies = [], []


def _ids(id_key: bytes, run: Sequence[Add], bodies: Sequence[AtomBody]) -> list[bytes]:
    """Return the id of the atom for each command, up to the first command with an invalid id."""
    atoms = default_ids(id_key, bodies)
    for at, add in enumerate(islice(run, len(bodies))):
        if add.id is not None:
            try:
                atoms[at] = atom_id(add.id)
            except EngineError:
                return atoms[:at]
    return atoms
