"""HTTP/1.1 on one connection, with the limits in time that uvicorn does not have.

What uvicorn 0.54 leaves open, and what is done here about each:

- It waits without end for the first byte, for the end of the headers, and for a body. Its timer for idle
  connections is stopped by the first byte of the next request and never started again.
- It waits without end for a client that does not read: in the middle of an answer, and after its end, too.
- An invalid chunk after the answer began raises an error inside the event loop.

Each connection is looked at twice a second. What it waits for is read from the state of the protocol; there
are no timers that could be forgotten.

The table of open connections decides which connection makes room for a new one. A client is *known* on a
connection if the last request there had a valid token; otherwise it is a stranger. If there is no place, the
oldest connection of a stranger makes room. A new connection belongs to a stranger, too. Its turn comes only
after as many newer connections as strangers have places, so it has time to show its token. If strangers have
less than a quarter of the places, the oldest idle connection of a known client makes room instead. A
connection with a running request of a known client never makes room. Therefore strangers can keep other
strangers out, but not a client with a token.
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from engine.clients.wire.problem_details import Problem
from engine.service.guard import STATUS, STREAM, TOKEN, Observer, address_of, refused
from engine.service.listening import BODY_BYTES_A_SECOND, Limits

# uvicorn warns of each invalid request and each offer of another protocol: strangers could fill the log.
_log: Final = logging.getLogger("engine.service.http")
_log.setLevel(logging.ERROR)
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
            [place for place, standing in standings.items() if standing is wanted]
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


class Stage(enum.Enum):
    """The event that a connection waits for."""

    FIRST = "the first byte"
    IDLE = "the next request"
    HEAD = "the rest of the headers"
    BODY = "the rest of the body"
    ANSWER = "the application"
    ANSWERING = "the rest of the answer"
    READER = "a client that does not read"
    CLOSING = "the end"


class Connection(H11Protocol):
    """One connection of a client."""

    def __init__(
        self,
        config: uvicorn.Config,
        state: ServerState,
        app_state: dict[str, Any],
        place: Place,
        limits: Limits,
        observers: Sequence[Observer] = (),
    ) -> None:
        """Take the place of a connection that was accepted."""
        super().__init__(config, state, app_state, asyncio.get_running_loop())
        self.logger = _log
        self.access_log = False  # its lines have the path and the query
        self._limits = limits
        self._place = place
        self._observers = observers
        self._is_known = False
        self._received = 0
        self._read_by_client = 0
        self._watched: tuple[object, ...] = ()
        self._since = 0.0
        self._received_before = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin (called by the event loop)."""
        super().connection_made(transport)
        if self.client is not None:
            # On `::`, an IPv4 address comes as a part of IPv6; proxies are named without that.
            self.client = (str(address_of(self.client[0])), self.client[1])
        self._place.standing = self.standing
        self._place.drop = transport.abort

    def data_received(self, data: bytes) -> None:
        """Read (called by the event loop)."""
        self._received += len(data)
        super().data_received(data)

    def resume_writing(self) -> None:
        """Go on after the client has read (called by the event loop)."""
        self._read_by_client += 1
        super().resume_writing()

    def standing(self) -> Standing:
        """Return how the connection is used now."""
        cycle = self._exchange()
        # A request that has just begun has not shown its token yet.
        if cycle is None or not (self._is_known or TOKEN in cycle.scope["state"]):
            return Standing.STRANGER
        return Standing.KNOWN_IDLE if cycle.response_complete else Standing.KNOWN_BUSY

    def _exchange(self) -> RequestResponseCycle | None:
        """Return the last request and its answer, or None before the first request."""
        return self.cycle

    def stage(self) -> Stage:
        """Return the event that the connection waits for now."""
        if self.transport.is_closing():
            return Stage.CLOSING
        if self.flow.write_paused:
            return Stage.READER
        cycle = self._exchange()
        if cycle is None or (cycle.response_complete and not cycle.more_body):
            if self.conn.trailing_data[0]:
                return Stage.HEAD
            return Stage.FIRST if cycle is None else Stage.IDLE
        if cycle.more_body and not (self.flow.read_paused or cycle.waiting_for_100_continue):
            return Stage.BODY
        return Stage.ANSWERING if cycle.response_started else Stage.ANSWER

    def look(self, now: float) -> None:
        """End the connection if it has waited too long. `now` is in seconds."""
        stage = self.stage()
        watched = (stage, self.cycle, self._read_by_client)
        if watched != self._watched:
            self._watched, self._since, self._received_before = watched, now, self._received
        elif now - self._since > self._allowed(stage):
            self._end(stage)

    def _allowed(self, stage: Stage) -> float:
        """Return the seconds that a stage may last."""
        limits = self._limits
        match stage:
            case Stage.FIRST | Stage.HEAD:
                return limits.head_seconds
            case Stage.IDLE:
                return limits.proxy_idle_seconds if self._place.exempt else limits.idle_seconds
            case Stage.BODY:
                return limits.body_seconds + (self._received - self._received_before) / BODY_BYTES_A_SECOND
            case Stage.ANSWER:
                return limits.answer_seconds
            case Stage.READER | Stage.CLOSING:
                return limits.write_seconds
            case Stage.ANSWERING:
                return float("inf")

    def _end(self, stage: Stage) -> None:
        match stage:
            case Stage.HEAD | Stage.BODY:
                self._refuse(Problem(408, "busy", f"the server waited too long for {stage.value}"))
            case Stage.ANSWER:
                detail = "the request took too long; it may have been carried out"
                self._refuse(Problem(504, "in_doubt", detail))
            case Stage.READER | Stage.CLOSING:
                self.transport.abort()
            case _:
                self.transport.close()

    def _refuse(self, problem: Problem) -> None:
        """Answer a request without the application, and close. If an answer has begun, cut it off."""
        begun = self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE)
        cycle = self._exchange()
        if cycle is not None and not cycle.response_complete:
            # The application learns that nobody waits for its answer.
            cycle.scope["state"][STATUS] = problem.status
            cycle.disconnected = True
            cycle.message_event.set()
        else:
            for observer in self._observers:
                observer(refused(problem.status, self.client))
        if begun:
            self.transport.abort()
            return
        headers = [*problem.head(), (b"connection", b"close")]
        for event in (
            h11.Response(status_code=problem.status, headers=headers, reason=STATUS_PHRASES[problem.status]),
            h11.Data(data=problem.body()),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP (called by uvicorn)."""
        del msg
        self._refuse(Problem(400, "invalid", "this is not a valid HTTP request"))

    def on_response_complete(self) -> None:
        """Note whether the client had a token (called by uvicorn)."""
        self._is_known = TOKEN in self.cycle.scope["state"]
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Leave idle connections to `look` (called by uvicorn): a part of a request may have come."""

    def shutdown(self) -> None:
        """End soon (called by uvicorn): idle connections and streams now, running requests when answered."""
        cycle = self._exchange()
        if cycle is None or cycle.response_complete:
            self.transport.close()
        elif cycle.response_started and STREAM in cycle.scope["state"]:
            cycle.disconnected = True
            cycle.message_event.set()
            self.transport.write(self.conn.send(h11.EndOfMessage()) or b"")
            self.transport.close()
        else:
            cycle.keep_alive = False

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the table (called by the event loop)."""
        self._place.leave()
        super().connection_lost(exc)
