"""Conflicts between files and changes by hand that are not settled yet."""

from __future__ import annotations

from dataclasses import dataclass

from backends.base import Reader
from engine.base.model import Atom
from engine.commands.conflicts import CONFLICTS_WITH
from engine.ledger.layout import EDGE_FROM
from engine.ledger.queries import atom_of, get_record
from engine.ledger.records import decode_edge, type_code
from proofs.leaves import State
from proofs.subjects import ID_BYTES


@dataclass(frozen=True, slots=True)
class Conflict:
    """The text of a file, and the atom that was changed by hand before the file changed."""

    file: Atom
    """The atom with the text of the file."""
    hand: Atom
    """The atom that was revised or hidden by hand."""


def conflicts(rows: Reader) -> list[Conflict]:
    """Return the conflicts that are not settled, sorted by source and position.

    The keys of all edges are read, because edges are not indexed by type.
    """
    code = type_code(rows, CONFLICTS_WITH)
    if code is None:
        return []
    at = len(EDGE_FROM) + ID_BYTES
    middle = b"/" + code + b"/"
    found = []
    for key, raw in rows.scan_prefix(EDGE_FROM):
        if key[at : at + len(middle)] != middle:
            continue
        edge = decode_edge(raw, f"edge record {key.hex()}")
        if edge.state is State.LIVE:
            file, hand = (atom_of(rows, get_record(rows, end)) for end in (edge.src, edge.dst))
            found.append(Conflict(file, hand))
    return sorted(found, key=lambda one: (one.file.source or "", one.file.sequence or 0, one.file.id))
