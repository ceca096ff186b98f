"""What a revert would change, found by a dry run."""

from __future__ import annotations

from dataclasses import dataclass

from engine.base.validation import positive
from engine.ledger.journal import read_log
from engine.query.history.diff import Diff, diff
from engine.query.history.revert import Undone, select, take_back
from engine.store.dry_run import dry_run_store
from engine.store.store import Store

SUBJECTS_MAX = 1_000
"""The largest number of atoms, edges and predicates that one preview reverts."""


@dataclass(frozen=True, slots=True)
class Revertible:
    """What a revert of a range of events would change."""

    events: int
    """The number of chosen events."""
    subjects: int
    """The number of atoms, edges and predicates that the chosen events concern."""
    outcomes: tuple[Undone, ...]
    """The outcome for the first of these atoms, edges and predicates, as `revert` would report it."""
    changes: Diff
    """The differences between the present state and the state after these outcomes."""


def revertible(
    store: Store, start: int, stop: int | None, *, by: str, actor: str | None, limit: int
) -> Revertible:
    """Return what a revert would change. The arguments are those of `Engine.revertible`.

    Raises:
        NotFoundError: the range is beyond the end of the journal.
        InvalidInputError: `start` is above `stop`, or `limit` is out of range.
    """
    most = positive(limit, "limit", SUBJECTS_MAX)
    chosen = select(store, start, stop, actor)
    with dry_run_store(store) as target:
        before = read_log(target.backend).size
        # A revert takes the subjects in this order, so those after the first do not affect the first.
        outcomes = take_back(store, target, chosen[:most], by)
        with target.view() as rows:
            changes = diff(rows, before, read_log(rows).size)
    return Revertible(sum(len(one.seqs) for one in chosen), len(chosen), tuple(outcomes), changes)
