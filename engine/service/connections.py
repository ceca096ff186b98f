"""The table of open connections: how many there may be, and which one makes room for a new one.

A client is *known* on a connection if the last request there had a valid token; otherwise it is a stranger.
If there is no place, the oldest connection of a stranger makes room. A new connection belongs to a stranger,
too. Its turn comes only after as many newer connections as strangers have places, so it has time to show its
token. If strangers have less than a quarter of the places, the oldest idle connection of a known client makes
room instead. A connection with a running request of a known client never makes room. Therefore strangers can
keep other strangers out, but not a client with a token.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

_SHARE: Final = 4
"""One place in four is for strangers."""


class Standing(enum.IntEnum):
    """How a connection is used."""

    STRANGER = 0
    KNOWN_IDLE = 1
    KNOWN_BUSY = 2


class Place:
    """One open connection in the table. Its owner sets `standing` and `drop`."""

    __slots__ = ("_table", "drop", "exempt", "peer", "standing")

    def __init__(self, table: Connections, peer: str, *, exempt: bool) -> None:
        self._table: Final = table
        self.peer: Final = peer
        self.exempt: Final = exempt
        self.standing: Callable[[], Standing] = lambda: Standing.STRANGER
        self.drop: Callable[[], object] = lambda: None

    def leave(self) -> None:
        """Free the place. Leaving twice is allowed."""
        self._table.leave(self)


class Connections:
    """All open connections of a server, the oldest first. Only one thread may use it."""

    def __init__(self, most: int, most_of_peer: int) -> None:
        """Allow `most` connections in all, and `most_of_peer` from one address."""
        self._most = most
        self._most_of_peer = most_of_peer
        self._places: dict[Place, None] = {}
        self._of_peer: dict[str, dict[Place, None]] = {}
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
        if not exempt:
            self._of_peer.setdefault(peer, {})[place] = None
        return place

    def _has_room(self, peer: str, *, exempt: bool) -> bool:
        of_peer = {} if exempt else self._of_peer.get(peer, {})
        if len(of_peer) >= self._most_of_peer and not self._make_room(of_peer, self._most_of_peer):
            return False
        return len(self._places) < self._most or self._make_room(self._places, self._most)

    def leave(self, place: Place) -> None:
        """Free a place. Freeing it twice is allowed."""
        if place not in self._places:
            return
        del self._places[place]
        if not place.exempt:
            of_peer = self._of_peer[place.peer]
            del of_peer[place]
            if not of_peer:
                del self._of_peer[place.peer]

    def make_room(self) -> bool:
        """Drop one connection because the system has no room for another. Return False if all are in use."""
        return self._make_room(self._places, self._most)

    def _make_room(self, places: Iterable[Place], most: int) -> bool:
        """Drop one of `places`, of which `most` are allowed. Return False if all are in use."""
        standings = {place: place.standing() for place in places}
        strangers, idle = (
            [place for place, found in standings.items() if found is wanted]
            for wanted in (Standing.STRANGER, Standing.KNOWN_IDLE)
        )
        candidates = strangers if len(strangers) >= max(most // _SHARE, 1) else idle or strangers
        if not candidates:
            return False
        share = Counter(place.peer for place in candidates)
        dropped = max(candidates, key=lambda place: share[place.peer])  # `max` takes the first, the oldest
        self.leave(dropped)
        self.dropped += 1
        dropped.drop()
        return True
