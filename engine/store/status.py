"""The status of a store: counts of its content, and the positions of its followers in the journal."""

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
    """Counts of a store's content, and the number of events that each follower has processed.

    `live_atoms` reflects only the events that the follower `tags` has processed. `followers` maps the name of
    each follower to the number of events that it has processed.
    """

    version: str
    store_id: str
    backend: str
    events: int
    contents: int
    """The number of ordinals assigned so far. Each added atom and each revision is assigned one ordinal."""
    live_atoms: int
    followers: dict[str, int]
    analyzer: str
    last_event: int
    """The time of the last event, in µs since 1970, UTC."""
    read_only: str | None = None
    """The reason why the store can only be read, or None if it can be written."""


def status(rows: Reader, store: Store) -> Status:
    """Return the status of a store, read in one snapshot, without updating any follower."""
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
        read_only=store.backend.unwritable,
    )
