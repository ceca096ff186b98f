"""Deciding runs of consecutive commands `UpsertEdge`, most of which add a new edge.

The events are exactly the same as if each command were decided by its own method `decide`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from engine.base.model import Receipt
from engine.base.validation import weight
from engine.commands.base import Command, Transaction, receipts
from engine.commands.edges import TypeName
from engine.commands.reconcile import UpsertEdge
from engine.ledger.layout import atom_key, edge_from_key
from engine.ledger.records import decode_atoms
from proofs.events import EdgeBody, EdgeDetail
from proofs.leaves import EdgeType, State

_PLAIN = EdgeBody(weight(1.0), b"")
_CODES: dict[TypeName, bytes] = {kind: bytes([kind]) for kind in EdgeType}


def edge_run(commands: Sequence[Command], start: int, most: int) -> list[UpsertEdge]:
    """Return at most `most` consecutive commands `UpsertEdge`, from `start` on, that are decided together.

    Each command upserts an edge of a built-in type, without data, between two atoms.
    """
    run: list[UpsertEdge] = []
    for command in islice(commands, start, start + most):
        # A subclass may decide differently.
        if type(command) is not UpsertEdge or not _is_plain(command):
            break
        run.append(command)
    return run


def _is_plain(command: UpsertEdge) -> bool:
    src, dst = command.src, command.dst
    ids = type(src) is bytes is type(dst) and len(src) == 16 == len(dst)
    return ids and src != dst and isinstance(command.type, EdgeType) and command.data == b""


class UpsertEdges:
    """A run of commands that is being decided."""

    def __init__(self, tx: Transaction, run: Sequence[UpsertEdge]) -> None:
        """Begin with no command decided."""
        self._tx = tx
        self._run = run
        self._receipts: list[Receipt] = []
        self._edges: list[EdgeDetail] = []
        """New edges whose events are not appended yet."""

    def decide(self) -> list[Receipt]:
        """Decide the commands, and return their receipts."""
        tx, run = self._tx, self._run
        new = tuple.__new__  # a third of the time of the constructor (measured)
        edges = [new(EdgeDetail, (command.src, _CODES[command.type], command.dst)) for command in run]
        keys = [edge_from_key(*edge) for edge in edges]
        linkable = self._linkable()
        found = tx.rows.multi_get(keys)
        unrecorded = [b"".join(edge) for edge, raw in zip(edges, found, strict=True) if raw is None]
        tx.check_unrecorded("edges", unrecorded)
        if len(unrecorded) == len(edges) == len(set(keys)) and self._ends() <= linkable:
            self._edges = edges
            self._append()
            return self._receipts
        seen: set[bytes] = set()
        for command, edge, key, raw in zip(run, edges, keys, found, strict=True):
            if raw is None and key not in seen and edge.src in linkable and edge.dst in linkable:
                self._edges.append(edge)
            else:
                self._append()
                self._receipts.append(command.decide(tx))
            seen.add(key)
        self._append()
        return self._receipts

    def _linkable(self) -> set[bytes]:
        """Return the atoms of the run that are recorded and not erased. The run changes none of them."""
        ends = self._ends()
        sure = self._tx.sure(ends)
        atoms = list(ends - sure)
        rows = self._tx.rows.multi_get(list(map(atom_key, atoms)))
        found = [(raw, atom) for raw, atom in zip(rows, atoms, strict=True) if raw is not None]
        records = decode_atoms([raw for raw, _ in found], [atom for _, atom in found])
        linkable = [record for record in records if record.state is not State.ERASED]
        self._tx.check_recorded(linkable)
        return sure.union([record.id for record in linkable])

    def _ends(self) -> set[bytes]:
        return {command.src for command in self._run}.union([command.dst for command in self._run])

    def _append(self) -> None:
        """Append the events of the waiting new edges, and add their receipts."""
        if not self._edges:
            return
        entries = self._tx.link(self._edges, [_PLAIN] * len(self._edges))
        self._receipts += receipts([edge[0] for edge in self._edges], State.LIVE, entries)
        self._edges = []
