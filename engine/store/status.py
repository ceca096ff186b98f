"""Counts and cursors of a store."""

from __future__ import annotations

from dataclasses import dataclass

from backends.base import Reader
from engine.base.validation import show_id
from engine.base.version import __version__
from engine.followers.base import read_cursor
from engine.followers.tags import LIVE, members
from engine.ledger.journal import read_log
from engine.ledger.records import read_counters
from engine.store.store import Store


@dataclass(frozen=True, slots=True)
class Status:
    """The content of a store in numbers.

    `live_atoms` is as of the cursor of the follower `tags`; `followers` maps each name to its cursor.
    """

    version: str
    store_id: str
    backend: str
    events: int
    contents: int
    """The number of ordinals assigned so far, one for each atom and each revision."""
    live_atoms: int
    followers: dict[str, int]
    analyzer: str
    last_event: int
    """The time of the last event, in µs UTC."""


def status(rows: Reader, store: Store) -> Status:
    """Return the numbers of one snapshot. No follower is caught up."""
    cursors = {
        follower.name: cursor.size if (cursor := read_cursor(rows, follower.name)) else 0
        for follower in store.projections
    }
    log = read_log(rows)
    return Status(
        version=__version__,
        store_id=show_id(store.identity.store_id),
        backend=store.backend.name,
        events=log.size,
        contents=read_counters(rows).next_ordinal,
        live_atoms=len(members(rows, LIVE)),
        followers=cursors,
        analyzer=f"{store.identity.analyzer} {store.identity.fingerprint.hex()}",
        last_event=log.time,
    )
