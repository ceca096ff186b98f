"""Looking ahead over many commands: what they will read is computed and read together, which takes less time.

A command finds there its validated body, the id of its atom, and records. Looking ahead never changes what a
command decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from engine.base.errors import EngineError
from engine.base.validation import atom_id
from engine.commands.atoms import Add
from engine.commands.reconcile import UpsertAtom, UpsertEdge
from engine.commands.transaction import Command, Transaction
from engine.ledger.appender import RUN_CHARS_MAX
from engine.ledger.records import default_ids
from proofs.events import AtomBody, EdgeDetail
from proofs.leaves import EdgeType

COMMANDS_MAX: Final = 1000
"""The maximum number of commands that are looked at together."""

_new = tuple.__new__  # a third of the time of the constructor (measured)


def look_ahead(tx: Transaction, commands: Sequence[Command], start: int) -> int:
    """Prepare `tx` for deciding the commands from `start` on. Return how many they are, at least 1.

    A command that is not valid, or of another kind, is left alone: its own `decide` does all the work, and
    raises the error. The same holds for all adds if the transaction has a filter for secrets, which changes
    texts.
    """
    adds: list[Add] = []
    bodies: list[AtomBody] = []
    edges: list[EdgeDetail] = []
    count = chars = 0
    tx.ahead = {}
    for command in islice(commands, start, start + COMMANDS_MAX):
        if chars > RUN_CHARS_MAX:
            break
        count += 1
        # A subclass may decide differently.
        if type(command) is UpsertEdge:
            src, dst = command.src, command.dst
            if isinstance(command.type, EdgeType) and type(src) is bytes and type(dst) is bytes:
                edges.append(_new(EdgeDetail, (src, bytes([command.type]), dst)))
        elif tx.screen is None and (add := _add(command)) is not None:
            try:
                body = add.body()
            except EngineError:
                break
            adds.append(add)
            bodies.append(body)
            chars += len(body.content)
    atoms = _atoms(tx.id_key, adds, bodies)
    tx.ahead = dict(zip(map(id, adds), zip(bodies, atoms, strict=False), strict=False))
    ends = {edge.src for edge in edges}.union([edge.dst for edge in edges])
    try:
        tx.read_ahead(atoms, edges, ends)
    except EngineError:
        tx.ahead = {}  # the command that the damage concerns raises the error
    return count


def _add(command: Command) -> Add | None:
    """Return the atom that a command adds or upserts, if its fields determine which atom that is."""
    if type(command) is Add:
        return command
    if type(command) is not UpsertAtom or command.atom is not None:
        return None
    wanted = command.wanted
    return wanted if type(wanted) is Add and wanted.id is None else None


def _atoms(id_key: bytes, adds: Sequence[Add], bodies: Sequence[AtomBody]) -> list[bytes]:
    """Return the id of the atom of each command, up to the first command with an invalid id."""
    atoms = default_ids(id_key, bodies)
    for at, add in enumerate(adds):
        if add.id is not None:
            try:
                atoms[at] = atom_id(add.id)
            except EngineError:
                return atoms[:at]
    return atoms
