"""Unsettled conflicts between files and changes by hand."""

from __future__ import annotations

from dataclasses import dataclass

from backends.base import Reader
from engine.base.model import Atom
from engine.commands.conflicts import CONFLICTS_WITH
from engine.ledger.queries import atom_of, edges_of_type, get_record
from engine.ledger.records import type_code
from proofs.leaves import State


@dataclass(frozen=True, slots=True)
class Conflict:
    """A conflict between two atoms: one has the text of a file, and the other had been changed by hand."""

    file: Atom
    """The atom with the text of the file."""
    hand: Atom
    """The atom that was revised or hidden by hand."""


def conflicts(rows: Reader) -> list[Conflict]:
    """Return the conflicts that are not settled, sorted by source and position."""
    code = type_code(rows, CONFLICTS_WITH)
    if code is None:
        return []
    found = []
    for edge in edges_of_type(rows, code):
        if edge.state is State.LIVE:
            file, hand = (atom_of(rows, get_record(rows, end)) for end in (edge.src, edge.dst))
            found.append(Conflict(file, hand))
    return sorted(found, key=lambda one: (one.file.source or "", one.file.sequence or 0, one.file.id))
