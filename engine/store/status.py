"""The status of a store: counts of its content, and the positions of its followers in the journal."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from backends.base import Backend, Reader
from engine.base import __version__
from engine.base.validation import show_id
from engine.commands.conflicts import CONFLICTS_WITH
from engine.followers.base import read_cursor
from engine.followers.tags import LIVE, TagsFollower, members
from engine.ledger.journal import LogState, erased_ordinals, read_header, read_log
from engine.ledger.queries import edges_of_type, recorded_type_code
from engine.ledger.records import read_counters
from engine.store.commit import AHEAD_SECONDS
from engine.store.store import Store
from proofs.events import AtomDetail, EventKind
from proofs.leaves import State

_MAKES_LIVE: Final = (EventKind.ATOM_ADDED, EventKind.ATOM_REVISED, EventKind.ATOM_REVIVED)


@dataclass(frozen=True, slots=True)
class Status:
    """Counts of a store's content, and the number of events that each follower has processed.

    The counts include the last event, even if followers have not processed it. `followers` maps the name of
    each follower to the number of events that it has processed.
    """

    version: str
    store_id: str
    backend: str
    events: int
    contents: int
    """The number of ordinals assigned so far. Each added atom and each revision is assigned one ordinal."""
    live_atoms: int
    conflicts: int
    """The number of conflicts between files and changes by hand that are not settled."""
    followers: dict[str, int]
    analyzer: str
    last_event: int
    """The time of the last event, in µs since 1970, UTC."""
    ahead: int | None = None
    """The seq of the first event that is further ahead of the clock of the database, or of this machine, than
    a write may be, or None. Questions about the present do not see this event and the later ones.
    """
    read_only: str | None = None
    """The reason why the store can only be read, or None if it can be written."""
    file_bytes: int | None = None
    """The size of the store's files, in bytes, or None for a store that is not in files. The memories of one
    SQLite file share its size."""
    scrubbed_at: int | None = None
    """The time at which `engine scrub` last read the whole store and found no damage, in µs since 1970, UTC;
    None if it never did."""
    scrubbed_events: int = 0
    """The number of events that this scrub covered."""
    sealed: bool = False
    """True if the values in the store are encrypted."""


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
        live_atoms=_live_atoms(rows, log.size),
        conflicts=_conflicts(rows),
        followers=cursors,
        analyzer=f"{store.identity.analyzer} {store.identity.fingerprint.hex()}",
        last_event=log.time,
        ahead=_first_ahead(rows, log, store.backend.clock() + int(AHEAD_SECONDS * 1_000_000)),
        read_only=store.backend.unwritable,
        file_bytes=_file_bytes(store.backend),
        sealed=store.backend.seal is not None,
    )


def _first_ahead(rows: Reader, log: LogState, allowed: int) -> int | None:
    """Return the seq of the first event with a later time than `allowed`, or None. Times never go back."""
    if log.time <= allowed:
        return None
    return bisect_right(range(log.size), allowed, key=lambda seq: read_header(rows, seq)[0].time)


def _file_bytes(backend: Backend) -> int | None:
    """Return the size of the files. One that LevelDB removes in the meantime does not count."""
    sizes = []
    for path in backend.files():
        with suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    return sum(sizes) if sizes else None


def _live_atoms(rows: Reader, size: int) -> int:
    """Return the number of live atoms after all `size` events.

    The follower `tags` stores a set of live atoms. If it lacks events, the set is completed from their
    headers.
    """
    from pyroaring import BitMap

    cursor = read_cursor(rows, TagsFollower.name)
    if cursor is not None and cursor.version == TagsFollower.version:
        done, live = cursor.size, members(rows, LIVE)
    else:
        done, live = 0, BitMap()
    for seq in range(done, size):
        header, _ = read_header(rows, seq)
        detail = header.detail
        if not isinstance(detail, AtomDetail):
            continue
        if header.kind is EventKind.ERASED:
            live -= BitMap(erased_ordinals(rows, header))
        elif header.kind is EventKind.ATOM_TOMBSTONED:
            live.discard(detail.ordinal)
        elif header.kind in _MAKES_LIVE:
            if detail.replaced is not None:
                live.discard(detail.replaced)
            live.add(detail.ordinal)
    return len(live)


def _conflicts(rows: Reader) -> int:
    """Return the number of live edges `conflicts_with`. If there was never a conflict, no edge is read."""
    code = recorded_type_code(rows, CONFLICTS_WITH)
    return 0 if code is None else sum(edge.state is State.LIVE for edge in edges_of_type(rows, code))
