"""The net changes of atoms and edges between two moments, and those that a revert would make.

The changes are sorted by the first event on each atom or edge.
"""

from __future__ import annotations

import difflib
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from backends.base import Reader
from engine.base.errors import InvalidInputError
from engine.base.validation import positive, show_id
from engine.ledger.journal import read_header, read_log
from engine.ledger.layout import payload_key
from engine.ledger.queries import body_of
from engine.ledger.records import AtomRecord, EdgeRecord, read_atom, read_edge, type_name
from engine.ledger.subject_history import records_after, subject_history
from engine.store.dry_run import dry_run_store
from engine.store.past import AsOf, size_at
from engine.store.revert import Undone, select, take_back
from engine.store.store import Store
from proofs.errors import ProofError
from proofs.events import AtomBody, AtomDetail, EdgeDetail, EventKind, TypeDetail
from proofs.leaves import State
from proofs.note import Checkpoint, parse_note

_RECORD_FIELDS: Final = (
    "title",
    "kind",
    "buckets",
    "source",
    "sequence",
    "provenance",
    "trust",
    "created",
    "tags",
)
"""The fields of a record that are compared."""

_BODY_FIELDS: Final = ("meta", "aliases", "folder")
"""The fields of a body that are compared."""


SUBJECTS_MAX = 1_000
"""The largest number of atoms, edges and predicates that one preview reverts."""


@dataclass(frozen=True, slots=True)
class AtomChange:
    """The change of an atom between two moments.

    An atom that was both added and hidden between the two moments is not listed.
    """

    id: str
    change: str
    """`added`, `changed`, `tombstoned`, `revived` or `erased`."""
    title: str | None
    fields: dict[str, tuple[Any, Any]]
    """Maps the name of each changed field, except the content, to its values (before, after). `tags` is a
    field."""
    before: str | None
    """The content at the first moment. It is None if the content is unchanged, if the content was destroyed,
    or if the atom was not live at that moment."""
    after: str | None
    """The content at the second moment. It is None if the content is unchanged, if the content was destroyed,
    or if the atom was not live at that moment."""
    reason: str
    """The reason that was recorded when the atom was hidden, if it is hidden at the second moment."""

    def lines(self) -> list[str]:
        """Return the difference between `before` and `after` as the lines of `diff -u` without headings."""
        return changed_lines(self.before or "", self.after or "")


def changed_lines(before: str, after: str) -> list[str]:
    """Return the difference between two texts as the lines of `diff -u` without headings."""
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    return [line for line in diff if not line.startswith(("---", "+++", "@@"))]


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """The change of an edge between two moments."""

    src: str
    type: str
    dst: str
    change: str
    """`added`, `removed`, `changed` or `erased`."""
    weight: tuple[float | None, float | None]
    reason: str


@dataclass(frozen=True, slots=True)
class Diff:
    """The differences between the states after the event `before` and after the event `after`."""

    before: int
    after: int
    events: int
    """The number of events of all kinds after the event `before`, up to and including the event `after`."""
    atoms: tuple[AtomChange, ...]
    edges: tuple[EdgeChange, ...]
    predicates: tuple[str, ...]
    """The edge types that were registered between the two moments."""
    checkpoints: tuple[int, ...]
    """The seqs of the checkpoints between the two moments."""


CheckpointCheck = Callable[[Reader, Checkpoint], None]
"""Raises InconsistentError if a checkpoint is not one of the log in these rows."""


def sizes(
    rows: Reader, before: AsOf | str, after: AsOf | str | None, check: CheckpointCheck
) -> tuple[int, int]:
    """Return the sizes of the journal at two moments.

    A moment is given as a past state (`AsOf`), as the text of a checkpoint note, or as None for the head.
    `check` raises InconsistentError if a checkpoint is not one of this log.

    Raises:
        NotFoundError: a moment is after the end of the journal.
        InvalidInputError: the first moment is after the second, or a string is not a note.
        InconsistentError: a note is a checkpoint of another log.
    """
    head = read_log(rows).size
    first = _size(rows, before, check)
    last = head if after is None else _size(rows, after, check)
    if first > last:
        raise InvalidInputError(f"event {first - 1} is after event {last - 1}; give the earlier one first")
    return first, last


def _size(rows: Reader, moment: AsOf | str, check: CheckpointCheck) -> int:
    if not isinstance(moment, str):
        return size_at(rows, moment)
    try:
        checkpoint = parse_note(moment.encode()).checkpoint
    except ProofError as error:
        raise InvalidInputError(f"the text is not a checkpoint note: {error}") from None
    # A checkpoint of another log does not identify a moment of this log.
    check(rows, checkpoint)
    return checkpoint.size


def diff(rows: Reader, before: int, after: int) -> Diff:
    """Return the differences between two states of the store: after `before` events and after `after` events.

    `before` must not be greater than `after`. This function reads the headers of the events between the two
    states. For each atom or edge that these events change, it reads all events. The records in `rows` are at
    the head.

    Raises:
        CorruptionError: the journal is damaged.
    """
    atoms: dict[bytes, None] = {}
    edges: dict[tuple[bytes, bytes, bytes], None] = {}
    predicates, checkpoints = [], []
    for seq in range(before, after):
        header = read_header(rows, seq)[0]
        detail = header.detail
        if isinstance(detail, AtomDetail):
            atoms[detail.id] = None
        elif isinstance(detail, EdgeDetail):
            edges[detail.src, detail.type, detail.dst] = None
        elif isinstance(detail, TypeDetail):
            predicates.append(type_name(rows, detail.code))
        elif header.kind is EventKind.CHECKPOINT:
            checkpoints.append(seq)
    return Diff(
        before - 1,
        after - 1,
        after - before,
        tuple(change for atom in atoms for change in _atom(rows, atom, before, after)),
        tuple(change for edge in edges for change in _edge(rows, edge, before, after)),
        tuple(predicates),
        tuple(checkpoints),
    )


def _atom(rows: Reader, atom: bytes, before: int, after: int) -> Iterator[AtomChange]:
    record = read_atom(rows, atom)
    if record is None:
        return
    history = subject_history(rows, record.last_seq)
    old, new = (read_atom(records_after(history, size), atom) for size in (before, after))
    if new is None:
        return
    was, now = _is_live(old), _is_live(new)
    if not was and not now and new.state is not State.ERASED:
        return  # added and hidden between the moments, or hidden at both
    bodies = None if old is None else _body(rows, old), _body(rows, new)
    before_text, after_text = (None if body is None else body.content for body in bodies)
    fields = _differing(old, new, _RECORD_FIELDS) | _differing(*bodies, _BODY_FIELDS)
    kinds = {(False, True): "added" if old is None else "revived", (True, False): "tombstoned"}
    change = "erased" if new.state is State.ERASED else kinds.get((was, now), "changed")
    if old is not None and old.state is State.ERASED:
        return
    if change == "changed" and not fields and before_text == after_text:
        return  # changed, and then changed back
    same = was and now and before_text == after_text
    yield AtomChange(
        show_id(atom),
        change,
        new.title if new.title is not None or old is None else old.title,
        fields if was and now else {},
        None if same or not was else before_text,
        None if same or not now else after_text,
        new.tombstoned_reason,
    )


def _is_live(record: AtomRecord | None) -> bool:
    return record is not None and record.state is State.LIVE


def _body(rows: Reader, record: AtomRecord) -> AtomBody | None:
    """Return the body of an atom, or None if it has been destroyed."""
    return None if rows.get(payload_key(record.payload_seq)) is None else body_of(rows, record)


def _differing(old: object, new: object, names: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    if old is None or new is None:
        return {}
    pairs = {name: (getattr(old, name), getattr(new, name)) for name in names}
    # Compared as text, because in Python True equals 1.
    return {name: pair for name, pair in pairs.items() if repr(pair[0]) != repr(pair[1])}


def _edge(rows: Reader, edge: tuple[bytes, bytes, bytes], before: int, after: int) -> Iterator[EdgeChange]:
    record = read_edge(rows, *edge)
    if record is None:
        return
    history = subject_history(rows, record.last_seq)
    old, new = (read_edge(records_after(history, size), *edge) for size in (before, after))
    was, now = (one is not None and one.state is State.LIVE for one in (old, new))
    if new is None or not (was or now) or (was and now and _content(old) == _content(new)):
        return
    change = {(False, True): "added", (True, False): "removed"}.get((was, now), "changed")
    weights = tuple(None if one is None else struct.unpack(">f", one.weight)[0] for one in (old, new))
    yield EdgeChange(
        show_id(edge[0]),
        type_name(rows, edge[1]),
        show_id(edge[2]),
        "erased" if new.state is State.ERASED else change,
        (weights[0] if was else None, weights[1] if now else None),
        new.tombstoned_reason,
    )


def _content(record: EdgeRecord | None) -> tuple[bytes, bytes] | None:
    return None if record is None else (record.weight, record.data)


@dataclass(frozen=True, slots=True)
class Revertible:
    """The changes that a revert of a range of events would make."""

    events: int
    """The number of chosen events."""
    subjects: int
    """The number of atoms, edges and predicates that the chosen events concern."""
    outcomes: tuple[Undone, ...]
    """The outcome for the first of these atoms, edges and predicates, as `revert` would report it."""
    changes: Diff
    """The differences between the present state and the state after these outcomes."""


def revertible(
    store: Store, start: AsOf, stop: AsOf | None, *, by: str, actor: str | None, limit: int
) -> Revertible:
    """Return the changes that a revert would make. The arguments are those of `Engine.revertible`.

    Raises:
        NotFoundError: the range is beyond the end of the journal.
        InvalidInputError: `start` is above `stop`, or `limit` is out of range.
    """
    most = positive(limit, "limit", SUBJECTS_MAX)
    selected = select(store, start, stop, actor)
    with dry_run_store(store) as target:
        before = read_log(target.backend).size
        # A revert takes the subjects in this order, so those after the first do not affect the first.
        outcomes = take_back(store, target, selected[:most], by)
        with target.view() as rows:
            changes = diff(rows, before, read_log(rows).size)
    return Revertible(sum(len(one.seqs) for one in selected), len(selected), tuple(outcomes), changes)
