"""The table of open connections: how many there may be, and which one makes room for a new one.

A client is *known* on a connection if the last request there had a valid token; otherwise it is a stranger.
If the table is full, a new connection replaces the connection of a stranger, or that of a known client
that is idle. A connection with a running request of a known client is never replaced. Therefore strangers
can keep other strangers out, but not a client with a token.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable
from typing import Final


class Standing(enum.IntEnum):
    """How a connection is used. A lower number makes room first."""

    STRANGER_IDLE = 0
    STRANGER_BUSY = 1
    KNOWN_IDLE = 2
    KNOWN_BUSY = 3


class Place:
    """One open connection in the table. Its owner sets `standing` and `drop`."""

    __slots__ = ("_table", "drop", "exempt", "peer", "standing")

    def __init__(self, table: Connections, peer: str, *, exempt: bool) -> None:
        self._table: Final = table
        self.peer: Final = peer
        self.exempt: Final = exempt
        self.standing: Callable[[], Standing] = lambda: Standing.STRANGER_IDLE
        self.drop: Callable[[], object] = lambda: None

    def leave(self) -> None:
        """Free the place. Leaving twice is allowed."""
        self._table.leave(self)


class Connections:
    """All open connections of a server, the oldest first. For one thread."""

    def __init__(self, most: int, most_of_peer: int) -> None:
        """Allow `most` connections in all, and `most_of_peer` from one address."""
        self._most = most
        self._most_of_peer = most_of_peer
        self._places: dict[Place, None] = {}
        self._of_peer: Counter[str] = Counter()
        self.dropped = 0
        """The connections that made room for others."""
        self.refused = 0
        """The connections that got no place."""

    def __len__(self) -> int:
        return len(self._places)

    def admit(self, peer: str, *, exempt: bool = False) -> Place | None:
        """Return a place for a new connection, or None if all connections are in use.

        Args:
            peer: The address of the client.
            exempt: True if the limit for one address does not apply: the address of a proxy.
        """
        if not self._has_room(peer, exempt=exempt):
            self.refused += 1
            return None
        place = Place(self, peer, exempt=exempt)
        self._places[place] = None
        self._of_peer[peer] += not exempt
        return place

    def _has_room(self, peer: str, *, exempt: bool) -> bool:
        if not exempt and self._of_peer[peer] >= self._most_of_peer and not self._make_room(peer):
            return False
        return len(self._places) < self._most or self._make_room()

    def leave(self, place: Place) -> None:
        """Free a place. Freeing it twice is allowed."""
        if place not in self._places:
            return
        del self._places[place]
        if not place.exempt:
            self._of_peer[place.peer] -= 1
            if not self._of_peer[place.peer]:
                del self._of_peer[place.peer]

    def make_room(self) -> bool:
        """Drop one connection because the system has no room for another. Return False if all are in use."""
        return self._make_room()

    def _make_room(self, peer: str | None = None) -> bool:
        """Drop the connection that matters least: among equals, the oldest of the peer that has most."""
        standings = {
            place: place.standing()
            for place in self._places
            if peer is None or (place.peer == peer and not place.exempt)
        }
        least = min(standings.values(), default=Standing.KNOWN_BUSY)
        if least is Standing.KNOWN_BUSY:
            return False
        candidates = [place for place, standing in standings.items() if standing is least]
        share = Counter(place.peer for place in candidates)
        dropped = max(candidates, key=lambda place: share[place.peer])  # `max` takes the first, the oldest
        self.leave(dropped)
        self.dropped += 1
        dropped.drop()
        return True
