"""Reverting events by appending inverse events. No event is removed from the history.

The chosen events are grouped by subject: an atom or an edge. Each subject is reverted by one command
(`engine.commands.undo`), in batches, or in a dry run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from engine.base.errors import InvalidInputError, NotFoundError
from engine.base.model import Receipt
from engine.base.validation import integer, label
from engine.commands.undo import Undo
from engine.followers.requests import Once
from engine.ledger.journal import read_header, read_log
from engine.ledger.records import Lookup
from engine.store.dry_run import dry_run_store
from engine.store.past import AsOf, seq_from, subject_name
from engine.store.store import Store
from proofs.events import (
    AtomDetail,
    Detail,
    EdgeDetail,
    EventKind,
)

SUBJECTS_AT_ONCE: Final = 200
"""The largest number of subjects that are reverted in one batch. A batch is committed completely or not at
all."""


_IRREVERSIBLE: Final = {
    EventKind.GENESIS: "the first event of a store cannot be reverted",
    EventKind.EDGE_TYPE_REGISTERED: "a predicate remains registered; without edges it has no effect",
    EventKind.CHECKPOINT: "a checkpoint is never removed; it records a past state",
}


class Outcome(StrEnum):
    """The result of reverting the events on one subject."""

    UNDONE = "undone"
    SAME = "already undone"
    LEFT = "left"
    """Nothing was reverted. Either later events changed all the properties again, or the events cannot be
    reverted."""


@dataclass(frozen=True, slots=True)
class Undone:
    """The result for the chosen events on one subject."""

    subject: str
    seqs: tuple[int, ...]
    """The seqs of the chosen events, in ascending order."""
    outcome: Outcome
    left: tuple[str, ...]
    """The properties that were not reverted, each with the reason."""
    events: tuple[int, ...]
    """The seqs of the inverse events."""


class Selection(NamedTuple):
    """A subject with the chosen events on it, or a single chosen event that has no subject."""

    detail: Detail
    seqs: tuple[int, ...]
    obstacle: str
    """The reason why the events cannot be reverted; empty if they can be reverted."""


def revert(
    store: Store,
    start: AsOf,
    stop: AsOf | None,
    *,
    by: str,
    actor: str | None = None,
    dry_run: bool = False,
    once: Once | None = None,
) -> list[Undone]:
    """Revert events, one subject at a time. The subject with the latest event is the first.

    The arguments are those of `Engine.revert`; `by` is the actor of the inverse events. With `dry_run`,
    nothing is appended, and the result has the seqs that the inverse events would get. With the key `once`,
    the batches that were appended the first time are only answered.

    Raises:
        NotFoundError: the range is beyond the end of the journal.
        InvalidInputError: `start` is above `stop`.
        ConflictError: the key was used for another call.
    """
    once, stop = None if dry_run else once, seq_from(store.backend, stop)
    # Without a given end, the range ends at the first inverse event. So no other event may come between.
    with nullcontext() if once is None or stop is not None else store.exclusive():
        earlier = [] if once is None else store.recorded(by, once)
        if earlier and stop is None:
            stop = earlier[0].header.seq
        chosen = select(store, start, stop, actor)
        with dry_run_store(store, when=dry_run) as target:
            return take_back(store, target, chosen, by, once)


def select(store: Store, start: AsOf, stop: AsOf | None, actor: str | None) -> list[Selection]:
    """Return the subjects of the events `start` to `stop` − 1 that `actor` wrote, the latest event first.

    A time stands for the first event at this time or later.

    Raises:
        NotFoundError: the range is beyond the end of the journal.
        InvalidInputError: `start` is above `stop`.
    """
    size = read_log(store.backend).size
    first, end = (seq_from(store.backend, one) for one in (start, stop))
    end = size if end is None else integer(end, "stop")
    first = size if first is None and isinstance(start, datetime) else integer(first, "start")
    if max(first, end) > size:
        raise NotFoundError(f"the range is beyond the journal, which has the events 0 to {size - 1}")
    if first > end:
        raise InvalidInputError(f"start must not be above stop, but {first} is above {end}")
    whose = None if actor is None else label(actor, "actor")
    with store.view() as rows:
        return _choose(rows, first, end, whose)


def take_back(
    store: Store, target: Store, chosen: Sequence[Selection], by: str, once: Once | None = None
) -> list[Undone]:
    """Append the inverse events of `chosen` to `target`, which is `store` or a dry run of it."""
    done: list[Undone] = []
    for first in range(0, len(chosen), SUBJECTS_AT_ONCE):
        part = chosen[first : first + SUBJECTS_AT_ONCE]
        undos = [_undo(one) for one in part]
        request = None if once is None else once.of_part(first, len(part))
        commands = [undo for undo in undos if undo is not None]
        receipts = iter(target.commit(commands, by, request=request))
        for one, undo in zip(part, undos, strict=True):
            done.append(_result(store, one, undo, None if undo is None else next(receipts)))
    return done


def _choose(rows: Lookup, start: int, stop: int, actor: str | None) -> list[Selection]:
    """Return the subjects of the events `start` to `stop` − 1, the subject with the latest event first."""
    choices: dict[object, tuple[Detail, list[int], str]] = {}
    for seq in range(start, stop):
        header = read_header(rows, seq)[0]
        if actor is not None and header.actor != actor:
            continue
        detail = header.detail
        key: object = detail.id if isinstance(detail, AtomDetail) else seq
        if isinstance(detail, EdgeDetail):
            key = tuple(detail)
        _, seqs, _ = choices.pop(key, (detail, [], ""))
        # Removed and inserted again, so that the subject with the latest event comes last.
        choices[key] = detail, [*seqs, seq], _IRREVERSIBLE.get(header.kind, "")
    return [Selection(detail, tuple(seqs), obstacle) for detail, seqs, obstacle in reversed(choices.values())]


def _undo(one: Selection) -> Undo | None:
    return Undo(one.detail, frozenset(one.seqs)) if isinstance(one.detail, AtomDetail | EdgeDetail) else None


def _result(store: Store, one: Selection, undo: Undo | None, done: Receipt | None) -> Undone:
    with store.view() as rows:
        subject = subject_name(rows, read_header(rows, one.seqs[-1])[0])
    if undo is None or done is None:
        return Undone(subject, one.seqs, Outcome.LEFT, (one.obstacle,), ())
    outcome = Outcome.UNDONE if done.events else Outcome.LEFT if undo.left else Outcome.SAME
    return Undone(subject, one.seqs, outcome, tuple(undo.left), tuple(event.seq for event in done.events))
