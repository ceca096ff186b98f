"""Who gets in: the table of open connections, and the turns of strangers.

A client is *known* on a connection if the last request there had a valid token; otherwise it is a stranger.

The table decides which connection makes room for a new one. If there is no place, the oldest connection of a
stranger makes room. A new connection belongs to a stranger, too. Its turn comes only after as many newer
connections as strangers have places, so it has time to show its token. If strangers have less than a quarter
of the places, the oldest idle connection of a known client makes room instead. A connection with a running
request of a known client never makes room. Therefore strangers can keep other strangers out, but not a client
with a token.

What strangers send waits for a turn. One stranger has a turn, and no other before a pause has passed. In the
pause, the server can do what clients with a token want, who need no turns. Therefore strangers can slow down
other strangers, but not a client with a token.
"""

from __future__ import annotations

import asyncio
import enum
from collections import Counter, deque
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Final

_SHARE: Final = 4
"""One place in four is for strangers."""

PAUSE_SECONDS: Final = 0.001
"""The time after the turn of a stranger in which no other stranger has one."""

_peer = attrgetter("peer")


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
        self.received = 0
        """The bytes that were read."""

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
        candidates = _with(Standing.STRANGER, places)
        if len(candidates) < max(most // _SHARE, 1):
            candidates = _with(Standing.KNOWN_IDLE, places) or candidates
        if not candidates:
            return False
        share = Counter(map(_peer, candidates))
        noisiest = max(share, key=share.__getitem__)
        dropped = next(place for place in candidates if place.peer == noisiest)  # the oldest
        self.leave(dropped)
        self.dropped += 1
        dropped.drop()
        return True


def _with(standing: Standing, places: Iterable[Place]) -> list[Place]:
    return [place for place in places if place.standing() is standing]


class Turns:
    """Lets strangers through, one after the other, with a pause after each."""

    def __init__(self) -> None:
        self._is_pause = False
        self._first: deque[Callable[[], object]] = deque()
        self._others: deque[Callable[[], object]] = deque()

    def wait(self, go: Callable[[], object], *, first: bool) -> None:
        """Call `go` when its turn comes.

        Args:
            go: A function that does a bounded amount of work.
            first: True for a connection that had no turn yet. It goes before the others, so that those who
                send one byte after the other do not keep out a client that is about to show its token.
        """
        (self._first if first else self._others).append(go)
        if not self._is_pause:
            self._next()

    def _next(self) -> None:
        self._is_pause = bool(self._first or self._others)
        if self._is_pause:
            asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._next)
            (self._first or self._others).popleft()()
