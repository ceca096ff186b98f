"""Plan the commands that make a source consist of the present pieces of its file.

Each piece continues an atom from an earlier version of the file, or becomes a new atom
(`engine.commands.alignment`). Atoms that no piece continues are hidden. Only atoms that the actor of the plan
wrote last are changed or hidden. If a text in a file changes after a different actor has revised or hidden
its atom, there is a conflict, and both versions are kept (`engine.commands.conflicts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from operator import attrgetter
from typing import Any, Final, NamedTuple

from backends.base import Reader
from engine.base.model import Direction, Receipt
from engine.base.unchanged import UNCHANGED
from engine.base.validation import show_id
from engine.commands.alignment import Passage, align
from engine.commands.atoms import Add, Revise, is_destroyed
from engine.commands.base import Command, Transaction, receipt
from engine.commands.conflicts import CONFLICTS_WITH, KeepBoth
from engine.commands.reconcile import (
    GONE,
    RetireAtom,
    UpsertAtom,
    authors,
    is_written_by,
    wanted_id,
    wanted_ids,
)
from engine.commands.sequence import place
from engine.followers.tags import members
from engine.ledger.layout import atom_key
from engine.ledger.queries import bodies_of, edges_at, record_at
from engine.ledger.records import AtomRecord, decode_atom, default_id, read_atom, read_counters, type_code
from proofs.events import AtomBody
from proofs.leaves import State
from proofs.sets import Group, tag_identity

SAME_FILE_MIN: Final = 0.5
"""A new file counts as a renamed file if it has at least this share of the longer file's texts in common with
the old file."""


class Planned(NamedTuple):
    """The atom of a piece, and whether the plan adds it."""

    atom: bytes
    is_new: bool


class SourcePlan(NamedTuple):
    """The atom of each piece, in the order of the file, and the commands that make the source match."""

    atoms: list[Planned]
    commands: list[Command]


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


class _Known(NamedTuple):
    """A recorded atom of the source."""

    record: AtomRecord
    body: AtomBody
    """The present content and fields."""
    is_own: bool
    """True if the actor wrote them."""
    passage: Passage
    """The text that the file gave."""


class FormerSources:
    """The sources of files that no longer exist. A file that was renamed or moved continues their atoms."""

    def __init__(self, actor: str, sources: Iterable[str] = ()) -> None:
        self._actor = actor
        self._sources = set(sources)
        self._texts: dict[str, Counter[str]] | None = None
        self._touched: dict[str, bytes] = {}

    def __bool__(self) -> bool:
        return bool(self._sources)

    def take(self, rows: Reader, wanted: Sequence[Add]) -> str | None:
        """Return the source whose texts are mostly the wanted texts, or None. No source is returned twice."""
        if not self._sources or not wanted:
            return None
        texts = Counter(add.content for add in wanted)
        shares = {
            source: (texts & known).total() / max(texts.total(), known.total())
            for source, known in self._read(rows).items()
            if known
        }
        best = max(sorted(shares), key=shares.__getitem__, default=None)
        if best is None or shares[best] < SAME_FILE_MIN:
            return None
        del self._read(rows)[best]
        return best

    def atom_with(self, rows: Reader, content: str) -> bytes | None:
        """Return the atom that had this text until a different actor revised or hid it, or None."""
        if not self._sources:
            return None
        self._read(rows)
        return self._touched.get(content)

    def _read(self, rows: Reader) -> dict[str, Counter[str]]:
        if self._texts is None:
            self._texts = {}
            for source in sorted(self._sources):
                known = list(_known(rows, self._actor, atoms_of(rows, source).values(), frozenset()))
                present = [one for one in known if one.passage.is_present]
                self._texts[source] = Counter(one.passage.content for one in present)
                for one in present:
                    if not (one.is_own and one.record.state is State.LIVE):
                        self._touched.setdefault(one.passage.content, one.record.id)
        return self._texts


def plan_new_sources(
    rows: Reader, id_key: bytes, sources: Sequence[Sequence[Add]]
) -> list[SourcePlan | None]:
    """Plan the commands for sources that have no atoms; None for a source if one of its ids is recorded.

    The plans are those of `plan_source`, but only the records of the wanted ids are looked up, for all
    sources together. The sort keys of the wanted atoms must be those of `place`, as for new atoms.
    """
    ids = wanted_ids(id_key, [add for wanted in sources for add in wanted])
    found = rows.multi_get(list(map(atom_key, ids)))
    plans: list[SourcePlan | None] = []
    start = 0
    for wanted in sources:
        stop = start + len(wanted)
        if any(row is not None for row in found[start:stop]):
            plans.append(None)
        else:
            atoms = [Planned(atom, is_new=True) for atom in ids[start:stop]]
            plans.append(SourcePlan(atoms, list(map(UpsertAtom, wanted))))
        start = stop
    return plans


def plan_source(
    rows: Reader, actor: str, id_key: bytes, source: str, wanted: Sequence[Add], former: FormerSources
) -> SourcePlan:
    """Plan the commands that make a source consist of the wanted atoms, in the given order.

    Each recorded atom keeps its sort key if the order allows it. Commands that are clearly not needed are
    left out; the others compare again when they are decided, because other processes may write in between.

    Args:
        rows: The rows to compare with.
        actor: The actor that will carry out the commands.
        id_key: The store's key for deriving ids.
        source: The name of the source, as in the field `source` of its atoms.
        wanted: The atoms that the source contains. Their ids are derived from their contents.
        former: The sources of files that no longer exist.
    """
    texts = {add.content for add in wanted}
    recorded = atoms_of(rows, source)
    if not recorded and (renamed := former.take(rows, wanted)) is not None:
        recorded = atoms_of(rows, renamed)
    known = sorted(
        _known(rows, actor, recorded.values(), texts),
        key=lambda one: (one.record.sequence or 0, one.record.id),
    )
    found = align([one.passage for one in known], [Passage(add.content, add.title) for add in wanted])
    matched = [None if index is None else known[index] for index in found]
    kept = {one.record.id for one in matched if one is not None}
    keys = place([None if one is None else one.record.sequence for one in matched])
    ids = _NewIds(rows, actor, id_key, {one.record.id for one in known}, former)
    ids.prepare([add for add, one in zip(wanted, matched, strict=True) if one is None])
    planned: list[Planned] = []
    commands: list[Command] = []
    for add, one, key in zip(wanted, matched, keys, strict=True):
        atom, needed = _command(rows, id_key, _placed(add, key), one, ids)
        planned.append(atom)
        commands += needed
    for one in sorted(known):
        if one.record.id not in kept and one.is_own and one.record.state is State.LIVE:
            commands.append(RetireAtom(one.record.id, GONE))
    return SourcePlan(planned, commands)


def _command(
    rows: Reader, id_key: bytes, add: Add, known: _Known | None, ids: _NewIds
) -> tuple[Planned, Sequence[Command]]:
    """Return the atom of a piece, and the commands for it."""
    if known is None:
        return ids.planned(add)
    record = known.record
    equal = add.content in {known.passage.content, known.body.content}
    untouched = known.is_own and record.state is State.LIVE
    if not equal and not add.force and is_destroyed(rows, id_key, add.content):
        # The command would be refused, as for a new atom; the recorded text is no longer in the file.
        planned, commands = ids.planned(add)
        return planned, [*commands, RetireAtom(record.id, GONE)]
    if untouched or (equal and record.state is State.TOMBSTONED and known.is_own):
        needed = [] if untouched and _matches(known, add) else [UpsertAtom(add, atom=record.id)]
        return Planned(record.id, is_new=False), needed
    relocated = [Relocate(record.id, add)] if _has_moved(known, add) else []
    if equal:
        return Planned(record.id, is_new=False), relocated
    planned, commands = ids.planned(add)
    return planned, [*(KeepBoth(one.wanted, _other_side(rows, record)) for one in commands), *relocated]


def _has_moved(known: _Known, add: Add) -> bool:
    """Return True if a live atom that a different actor wrote has the former source or folder of its file."""
    body = known.body
    if known.record.state is not State.LIVE or None in {body.source, add.source}:
        return False
    return body.source != add.source or (None not in {body.folder, add.folder} and body.folder != add.folder)


def _matches(known: _Known, add: Add) -> bool:
    """Return True if `UpsertAtom` would clearly not change the atom."""
    body, record = known.body, known.record
    return (
        (body.content, body.title, body.kind, body.source, body.sequence)
        == (add.content, add.title, add.kind, add.source, add.sequence)
        and add.created in {None, body.created}
        and (add.folder in {None, body.folder} or body.folder is None)
        and {*map(tag_identity, add.tags)} == {*map(tag_identity, record.tags)}
    )


def _known(
    rows: Reader, actor: str, records: Iterable[AtomRecord], texts: AbstractSet[str]
) -> Iterator[_Known]:
    """Yield the recorded atoms that the pieces of a file may continue. `texts` are the pieces' contents."""
    present = [record for record in records if record.state is not State.ERASED]
    for record, body in zip(present, bodies_of(rows, present), strict=True):
        is_own = is_written_by(rows, record, actor)
        stands = record.state is State.LIVE or record.tombstoned_by != actor
        if is_own and (record.state is State.LIVE or not stands):
            yield _Known(record, body, is_own, Passage(body.content, body.title, stands))
            continue
        given = body if is_own else _given(rows, record, actor)
        if given is None:
            # A different actor added the atom. Only an equal text in the file is the same text.
            yield _Known(record, body, is_own, Passage(body.content, body.title, is_present=False))
        elif not _is_in_conflict(rows, record.id):
            content = body.content if body.content in texts else given.content
            yield _Known(record, body, is_own, Passage(content, given.title, stands))


def _given(rows: Reader, record: AtomRecord, actor: str) -> AtomBody | None:
    """Return the content that `actor` wrote last for an atom, or None if it never wrote the atom."""
    return next((body for body, author in authors(rows, record) if author == actor), None)


def _is_in_conflict(rows: Reader, atom: bytes) -> bool:
    """Return True if the text of the file is already a separate atom, which now represents the file."""
    code = type_code(rows, CONFLICTS_WITH)
    return (
        code is not None
        and next(edges_at(rows, atom, Direction.IN, (code,), tombstoned=True), None) is not None
    )


def _other_side(rows: Reader, record: AtomRecord) -> bytes:
    """Return the atom that a new text of the file conflicts with.

    This is the recorded atom or, if that atom was hidden when a conflict was settled, the live atom that was
    kept.
    """
    code = type_code(rows, CONFLICTS_WITH)
    if record.state is State.TOMBSTONED and code is not None:
        for edge in edges_at(rows, record.id, Direction.OUT, (code,), tombstoned=True):
            kept = read_atom(rows, edge.dst)
            if kept is not None and kept.state is State.LIVE:
                return kept.id
    return record.id


class _NewIds:
    """The ids of the atoms that a plan adds."""

    def __init__(
        self, rows: Reader, actor: str, id_key: bytes, known: AbstractSet[bytes], former: FormerSources
    ) -> None:
        self._rows = rows
        self._former = former
        self._actor = actor
        self._id_key = id_key
        self._known = known
        self._used: set[bytes] = set()
        self._recorded: dict[bytes, bytes | None] = {}

    def prepare(self, adds: Sequence[Add]) -> None:
        """Look up, in one read, the record of the first id that each of `adds` could get."""
        ids = [wanted_id(self._id_key, add) for add in adds]
        found = self._rows.multi_get(list(map(atom_key, ids)))
        self._recorded.update(zip(ids, found, strict=True))

    def planned(self, add: Add) -> tuple[Planned, list[UpsertAtom]]:
        """Return the atom that `add` adds, and the command.

        There is no command if a different actor gave the atom another source. Ids that are already recorded
        are skipped, except the id of an erased atom: with that id, the command will be refused.
        """
        occurrence = add.occurrence
        moved = self._former.atom_with(self._rows, add.content)
        if moved is not None and moved not in self._used | self._known:
            self._used.add(moved)
            return Planned(moved, is_new=False), []
        while True:
            atom = default_id(self._id_key, add.source, add.content, occurrence, None)
            if atom not in self._used:
                record = self._record(atom)
                if record is None or record.state is State.ERASED:
                    break
                if atom not in self._known and self._is_taken_over(record, add.content):
                    self._used.add(atom)
                    return Planned(atom, is_new=False), []
            occurrence += 1
        self._used.add(atom)
        wanted = add if occurrence == add.occurrence else replace(add, occurrence=occurrence)
        return Planned(atom, is_new=record is None), [UpsertAtom(wanted)]

    def _record(self, atom: bytes) -> AtomRecord | None:
        if atom not in self._recorded:
            self._recorded[atom] = self._rows.get(atom_key(atom))
        raw = self._recorded[atom]
        return None if raw is None else decode_atom(raw, atom)

    def _is_taken_over(self, record: AtomRecord, content: str) -> bool:
        """Return True if a different actor gave an atom with this text another source."""
        if is_written_by(self._rows, record, self._actor):
            return False
        (body,) = bodies_of(self._rows, [record])
        return body.content == content or _given(self._rows, record, self._actor) is not None


def atoms_of(rows: Reader, source: str) -> dict[bytes, AtomRecord]:
    """Return the atoms with this source, as listed by the follower `tags`: id → record."""
    atoms = {}
    for ordinal in members(rows, (Group.SOURCE, source), read_counters(rows).next_ordinal):
        record = record_at(rows, ordinal)
        if record.ordinal == ordinal:
            atoms[record.id] = record
    return atoms


def retire_others(
    rows: Reader, actor: str, source: str, keep: AbstractSet[bytes], reason: str = GONE
) -> Iterator[Command]:
    """Yield commands that hide the live atoms of `source` that `actor` wrote, except the atoms in `keep`."""
    for atom, record in sorted(atoms_of(rows, source).items()):
        if atom not in keep and record.state is State.LIVE and is_written_by(rows, record, actor):
            yield RetireAtom(atom, reason)


def _placed(add: Add, sequence: int) -> Add:
    """Return `add` with this sequence. Measured: `dataclasses.replace` takes three times as long."""
    if type(add) is not Add:
        return replace(add, sequence=sequence)
    values: tuple[Any, ...] = _values(add)
    return Add(*values[:_SEQUENCE], sequence, *values[_SEQUENCE + 1 :])  # type: ignore[call-arg]


_FIELDS: Final = tuple(field.name for field in fields_of(Add))
_SEQUENCE: Final = _FIELDS.index("sequence")
_values: Final = attrgetter(*_FIELDS)
