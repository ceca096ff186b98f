"""The recorded texts of files. The pieces of a file may continue the atoms of these texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from backends.base import Reader
from engine.base.model import Direction
from engine.commands.alignment import Passage
from engine.commands.conflicts import CONFLICTS_WITH
from engine.commands.reconcile import authors, is_from_elsewhere, is_written_by
from engine.followers.tags import members
from engine.ledger.queries import bodies_of, edges_at, record_at, recorded_type_code
from engine.ledger.records import AtomRecord, read_counters
from proofs.events import AtomBody
from proofs.leaves import Group, State


class Known(NamedTuple):
    """A recorded atom of a source."""

    record: AtomRecord
    body: AtomBody
    """The present content and fields."""
    is_own: bool
    """True if the actor of the plan wrote the present content."""
    passage: Passage
    """The text of the file, as it was recorded."""

    @property
    def is_live(self) -> bool:
        """True if the atom is live."""
        return self.record.state is State.LIVE

    @property
    def is_lost(self) -> bool:
        """True if the actor hid the atom because its text was no longer in the file."""
        return self.is_own and not self.is_live and not self.passage.is_present

    def has(self, content: str) -> bool:
        """Return True if `content` equals the atom's content or the recorded text of the file."""
        return content in {self.passage.content, self.body.content}


def atoms_of(rows: Reader, source: str) -> dict[bytes, AtomRecord]:
    """Return the atoms with this source, as listed by the follower `tags`: id → record.

    An atom is left out if its source changed after the events that the follower has processed.
    """
    atoms = {}
    for ordinal in members(rows, (Group.SOURCE, source), read_counters(rows).next_ordinal):
        record = record_at(rows, ordinal)
        if record.ordinal == ordinal and record.source == source:
            atoms[record.id] = record
    return atoms


def texts_of(
    rows: Reader, actor: str, records: Iterable[AtomRecord], texts: AbstractSet[str] = frozenset()
) -> list[Known]:
    """Return the atoms that the pieces of a file may continue, in the order of the file.

    Args:
        rows: The rows to read from.
        actor: The actor who ingests.
        records: The records of the atoms of the file.
        texts: The contents of the present pieces of the file.
    """
    file_texts = _texts_of(rows, actor, records, texts)
    return sorted(file_texts, key=lambda one: (one.record.sequence or 0, one.record.id))


def _texts_of(
    rows: Reader, actor: str, records: Iterable[AtomRecord], texts: AbstractSet[str]
) -> Iterator[Known]:
    present = [record for record in records if record.state is not State.ERASED]
    for record, body in zip(present, bodies_of(rows, present), strict=True):
        outdated = next(iter(_outdated(rows, record, body, texts)), None)
        is_own = outdated is None and is_written_by(rows, record, actor)
        stands = record.state is State.LIVE or record.tombstoned_by != actor
        if is_own and (record.state is State.LIVE or not stands):
            yield Known(record, body, is_own, Passage(body.content, body.title, stands))
            continue
        given = body if is_own else outdated or given_by(rows, record, actor)
        if given is None:
            # A different actor added the atom. Only an equal text in the file is the same text.
            yield Known(record, body, is_own, Passage(body.content, body.title, is_present=False))
        elif not _is_in_conflict(rows, record.id):
            content = body.content if body.content in texts else given.content
            yield Known(record, body, is_own, Passage(content, given.title, stands))


def _outdated(
    rows: Reader, record: AtomRecord, body: AtomBody, texts: AbstractSet[str]
) -> Iterator[AtomBody]:
    """Yield the versions that a file of this device still has, although another device replaced them."""
    if body.content not in texts and is_from_elsewhere(rows, record):
        yield from (old for old, _ in authors(rows, record) if old.content in texts)


def given_by(rows: Reader, record: AtomRecord, actor: str) -> AtomBody | None:
    """Return the content that `actor` wrote last for an atom, or None if it never wrote the atom."""
    return next((body for body, author in authors(rows, record) if author == actor), None)


def _is_in_conflict(rows: Reader, atom: bytes) -> bool:
    """Return True if the file's text is already in a separate atom, because of a conflict with `atom`."""
    code = recorded_type_code(rows, CONFLICTS_WITH)
    return (
        code is not None
        and next(edges_at(rows, atom, Direction.IN, (code,), tombstoned=True), None) is not None
    )
