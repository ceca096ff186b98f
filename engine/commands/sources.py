"""Plan the commands that make a source consist of the present pieces of its file.

Each piece continues an atom from an earlier version of the file (`engine.commands.alignment`) or from another
file (`engine.commands.moves`), or becomes a new atom. Atoms that no piece continues are hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields as fields_of
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final, NamedTuple

from backends.base import Reader
from engine.commands.alignment import Passage, align
from engine.commands.atoms import Add
from engine.commands.continuing import continued
from engine.commands.file_texts import Known, atoms_of, texts_of
from engine.commands.new_ids import NewIds, Planned
from engine.commands.reconcile import GONE, RetireAtom, UpsertAtom, is_written_by, was_here
from engine.commands.renames import FormerSources
from engine.commands.sequence import place
from engine.commands.transaction import Command
from engine.ledger.layout import atom_key
from engine.ledger.records import default_id_of
from proofs.leaves import State


class Open(NamedTuple):
    """A piece with a new, changed or moved text, which was not in the file when the file was last read."""

    position: int
    """The position of the piece in the file."""
    add: Add
    """The atom to add if the piece continues no recorded text."""
    own: Known | None
    """A recorded text of the same file: a similar text, or an equal text that was removed from the file
    earlier. The piece continues this text unless an equal text was removed from another file."""


class SourcePlan(NamedTuple):
    """The plan for a file."""

    atoms: list[Planned | None]
    """The atom of each piece, in the order of the file; None for an open piece."""
    commands: list[Command]
    open: list[Open]
    left: list[Known]
    """The recorded texts that no piece continues."""
    ids: NewIds


def plan_new_sources(
    rows: Reader, actor: str, id_key: bytes, sources: Sequence[Sequence[Add]]
) -> list[SourcePlan | None]:
    """Plan the commands for sources without atoms. A plan is None if one of the ids is already recorded.

    The plans equal the results of `plan_source`. However, only the records of the wanted ids are looked up,
    in one call for all sources. The wanted atoms must have the sort keys that `place` computes for new atoms.
    """
    ids = [default_id_of(id_key, add) for wanted in sources for add in wanted]
    records = rows.multi_get(list(map(atom_key, ids)))
    plans: list[SourcePlan | None] = []
    start = 0
    for wanted in sources:
        stop = start + len(wanted)
        if any(row is not None for row in records[start:stop]):
            plans.append(None)
        else:
            atoms: list[Planned | None] = [Planned(atom, is_new=True) for atom in ids[start:stop]]
            new_ids = NewIds(actor, id_key, frozenset())
            plans.append(SourcePlan(atoms, list(map(UpsertAtom, wanted)), [], [], new_ids))
        start = stop
    return plans


def plan_source(
    rows: Reader, actor: str, id_key: bytes, source: str, wanted: Sequence[Add], former: FormerSources
) -> SourcePlan:
    """Plan the commands that make a source consist of the wanted atoms, in the given order.

    Each recorded atom keeps its sort key if the order allows it. Commands that are clearly not needed are
    left out. Each other command repeats the comparison when it is decided, because other processes may write
    in the meantime.

    Args:
        rows: The rows to compare with.
        actor: The actor that will carry out the commands.
        id_key: The store's key for deriving ids.
        source: The name of the source, as in the field `source` of its atoms.
        wanted: The atoms that the source contains. Their ids are derived from their contents.
        former: The sources of files that no longer exist.
    """
    recorded = atoms_of(rows, source)
    if not recorded and (renamed := former.take(rows, wanted)) is not None:
        recorded = atoms_of(rows, renamed)
    texts = texts_of(rows, actor, recorded.values(), {add.content for add in wanted})
    partners = align([one.passage for one in texts], [Passage(add.content, add.title) for add in wanted])
    matched = [None if index is None else texts[index] for index in partners]
    keys = place([None if one is None else one.record.sequence for one in matched])
    ids = NewIds(actor, id_key, {one.record.id for one in texts})
    plan = SourcePlan([], [], [], [], ids)
    for position, (add, one, key) in enumerate(zip(wanted, matched, keys, strict=True)):
        placed = _placed(add, key)
        if one is None or one.is_lost or not one.has(add.content):
            plan.atoms.append(None)
            plan.open.append(Open(position, placed, one))
        else:
            atom, commands = continued(rows, id_key, placed, one, ids)
            plan.atoms.append(atom)
            plan.commands.extend(commands)
    used = set(partners)
    plan.left.extend(one for index, one in enumerate(texts) if index not in used)
    return plan


def retire_others(
    rows: Reader, actor: str, source: str, keep: AbstractSet[bytes], reason: str = GONE
) -> Iterator[Command]:
    """Yield commands that hide the live atoms of `source` that `actor` wrote here, except those in `keep`."""
    for atom, record in sorted(atoms_of(rows, source).items()):
        if atom in keep or record.state is not State.LIVE:
            continue
        if is_written_by(rows, record, actor) and was_here(rows, record, actor):
            yield RetireAtom(atom, reason)


def _placed(add: Add, sequence: int) -> Add:
    """Return `add` with this sequence number. Measured: `dataclasses.replace` takes three times as long."""
    if type(add) is not Add:
        return replace(add, sequence=sequence)
    values: tuple[Any, ...] = _values(add)
    return Add(*values[:_SEQUENCE], sequence, *values[_SEQUENCE + 1 :])  # type: ignore[call-arg]


_FIELDS: Final = tuple(field.name for field in fields_of(Add))
_SEQUENCE: Final = _FIELDS.index("sequence")
_values: Final = attrgetter(*_FIELDS)
