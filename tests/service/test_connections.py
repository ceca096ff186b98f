"""How many connections there may be, and which one makes room."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import RefusedError
from engine.service.listening import Limits, Settings, listening
from engine.service.places import Connections, Place, Standing
from tests.service.raw import GOOD, answer_of, rest_of, seen_to_stay_open, serving, status_of

pytestmark = pytest.mark.slow


@pytest.fixture
def open_connections() -> Iterator[ExitStack]:
    """Connections that are closed after the test."""
    with ExitStack() as stack:
        yield stack


def test_a_thousand_idle_connections_do_not_keep_out_a_client_with_a_token() -> None:
    """A server for 50 connections serves each of ten known clients while 1,000 strangers are connected."""
    with serving(connections=50) as served, ExitStack() as opened:
        known = opened.enter_context(served.connect(served.head("/echo", GOOD)))
        assert status_of(answer_of(known)) == 200
        for number in range(1000):
            opened.enter_context(served.connect(b"GET / HTTP/1.1\r\n" if number % 2 else b""))
            if number % 100 == 99:
                known.sendall(served.head("/echo", GOOD))
                assert status_of(answer_of(known)) == 200
                assert status_of(served.request("/echo", GOOD)) == 200


def test_running_requests_without_a_token_make_room(open_connections: ExitStack) -> None:
    """Strangers whose requests run cannot keep out a client with a token, either."""
    with serving(connections=5, stop_seconds=1) as served:
        for _ in range(20):
            open_connections.enter_context(served.connect(served.head("/never")))
        assert status_of(served.request("/echo", GOOD)) == 200


def test_a_running_request_with_a_token_is_never_dropped(open_connections: ExitStack) -> None:
    """If all connections are in use by known clients, a new one is refused; theirs go on."""
    with serving(connections=3) as served:
        busy = [
            open_connections.enter_context(served.connect(served.head("/events", GOOD))) for _ in range(3)
        ]
        for connection in busy:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        assert status_of(served.raw(served.head("/echo", GOOD))) == 503
        for connection in busy:
            assert seen_to_stay_open(connection, 0.01)


def test_the_connections_of_one_peer_are_bounded(open_connections: ExitStack) -> None:
    """A client that opens too many connections loses its own oldest one."""
    with serving(connections=100, connections_of_peer=3) as served:
        first, *_ = [open_connections.enter_context(served.connect()) for _ in range(4)]
        assert rest_of(first) == b""
        assert status_of(served.request("/echo")) == 200


def test_more_connections_than_the_system_allows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server does not start if it could run out of open files."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))
    settings = Settings(limits=Limits(connections=200))
    with pytest.raises(RefusedError, match="200 connections need 328 open files"), listening(settings):
        pass


def test_the_parts_of_an_answer_are_sent_at_once() -> None:
    """The system does not hold back the body of an answer until the client has confirmed its head."""
    with serving() as served, served.connect(served.head("/events", GOOD)) as connection:
        assert connection.recv(1)
        (protocol,) = served.server.server_state.connections
        taken = protocol.transport.get_extra_info("socket")
        assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_client_that_is_gone_frees_its_place() -> None:
    """After 500 short connections to a server for five, none is counted."""
    with serving(connections=5) as served:
        for _ in range(100):
            assert status_of(served.request("/echo", GOOD)) == 200
            socket.create_connection(("127.0.0.1", served.port)).close()
        assert status_of(served.request("/echo", GOOD)) == 200


PEERS = st.sampled_from("abc")
STEPS = st.lists(st.tuples(PEERS, st.sampled_from(Standing)), max_size=40)


@given(steps=STEPS, most=st.integers(1, 6), most_of_peer=st.integers(1, 4))
def test_the_table_holds_its_limits_and_protects_who_is_known(
    steps: list[tuple[str, Standing]], most: int, most_of_peer: int
) -> None:
    """No limit is exceeded, and no known client is dropped in a request or refused because of others."""
    table = Connections(most, most_of_peer)
    places: dict[Place, Standing] = {}

    def entered(place: Place, standing: Standing) -> None:
        def drop() -> None:
            assert places.pop(place) is not Standing.KNOWN_BUSY

        place.standing, place.drop = (lambda: standing), drop
        places[place] = standing

    for peer, standing in steps:
        of_peer = [found for place, found in places.items() if place.peer == peer]
        place = table.admit(peer)
        if place is None:
            full = of_peer if len(of_peer) >= most_of_peer else list(places.values())
            assert set(full) == {Standing.KNOWN_BUSY}
            continue
        entered(place, standing)
        assert len(table) == len(places) <= most
        assert sum(other.peer == peer for other in places) <= most_of_peer


@given(
    before=st.lists(st.sampled_from((Standing.STRANGER, Standing.KNOWN_IDLE)), max_size=60),
    most=st.integers(8, 40),
)
def test_a_new_connection_has_time_to_show_its_token(before: list[Standing], most: int) -> None:
    """Whoever is there, a newcomer stays until a quarter of the places has been given to others."""
    table = Connections(most, most)
    dropped: list[str] = []
    for number, standing in enumerate([*before, Standing.STRANGER, *[Standing.STRANGER] * (most // 4 - 1)]):
        place = table.admit("peer")
        assert place is not None
        place.standing = partial(Standing, standing)
        place.drop = partial(dropped.append, "new" if number == len(before) else "other")
    assert "new" not in dropped


@given(strangers=st.integers(1, 8))
def test_the_peer_with_most_connections_makes_room(strangers: int) -> None:
    """One address that fills the table loses its own connections, not the only one of another address."""
    table = Connections(strangers + 2, 100)
    dropped: list[str] = []
    for peer in ["quiet", *["noisy"] * (strangers + 1), "new"]:
        place = table.admit(peer)
        assert place is not None
        place.drop = partial(dropped.append, peer)
    assert dropped == ["noisy"]


def test_a_proxy_may_have_more_connections_than_others() -> None:
    """The limit for one address does not hold for a proxy, behind which there are many clients."""
    table = Connections(10, 2)
    dropped: list[int] = []
    for number in range(10):
        place = table.admit("proxy", exempt=True)
        assert place is not None
        place.drop = partial(dropped.append, number)
    assert dropped == []


def test_an_answer_does_not_wait_for_the_client_to_acknowledge_its_headers() -> None:
    """Nagle's algorithm is off on each connection, because headers and body are sent one after the other."""
    with serving() as served, served.connect(served.head("/echo", GOOD)) as connection:
        assert status_of(answer_of(connection)) == 200
        (taken,) = served.server.server_state.connections
        accepted = taken.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
