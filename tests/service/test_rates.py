"""The limit of requests for each token."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from httpx2 import Response
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from engine.base.scopes import Scope
from engine.service.access import Access, Rates
from engine.service.app import application
from engine.service.served_memories import Memories
from tests.service.raw import serving, status_of
from tests.service.support import KnownTokens


class Clock:
    """A clock that is set by hand."""

    now = 1000.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        return self.now


def test_a_token_that_was_quiet_may_send_some_requests_at_once() -> None:
    """Ten requests pass, the eleventh has to wait a second."""
    rates = Rates(2, 10, Clock())
    assert [rates.wait("ada") for _ in range(11)] == [0] * 10 + [1]


def test_each_token_has_its_own_limit() -> None:
    """A token that is over its limit does not slow another one."""
    rates = Rates(1, 1, Clock())
    assert (rates.wait("ada"), rates.wait("ada"), rates.wait("bob")) == (0, 1, 0)


@given(
    pauses=st.lists(st.floats(0, 3), max_size=60), per_second=st.floats(0.1, 20), at_once=st.integers(1, 20)
)
def test_the_average_is_held_and_waiting_helps(pauses: list[float], per_second: float, at_once: int) -> None:
    """In any time, no more requests pass than the rate and one burst; after the stated wait, one passes."""
    clock = Clock()
    rates = Rates(per_second, at_once, clock)
    for passed, pause in enumerate(pauses, 1):
        clock.now += pause
        wait = rates.wait("ada")
        if wait:
            assert wait <= 1 + 1 / per_second
            clock.now += wait
            assert rates.wait("ada") == 0
        assert passed <= at_once + (clock.now - 1000) * per_second + 1e-6


def test_tokens_that_are_quiet_are_forgotten() -> None:
    """The table does not grow with the tokens of the past."""
    clock = Clock()
    rates = Rates(1000, 1, clock)
    for number in range(10_000):
        rates.wait(str(number))
    clock.now += 1
    rates.wait("new")
    assert len(rates) == 1


def test_a_token_over_its_limit_is_told_when_to_come_back(tmp_path: Path) -> None:
    """The answer is status 429 with the header Retry-After; another token is served."""
    tokens = KnownTokens(reader={"*": Scope.READ}, other={"*": Scope.READ})
    access = Access(tokens, read_only=True, rates=Rates(0.01, 2, Clock()))
    memories = Memories(f"sqlite:{tmp_path / 'memories.db'}", read_only=True)
    with TestClient(application(memories, access)) as client:

        def listed(token: str) -> Response:
            return client.get("/v1/memories", headers={"authorization": f"Bearer {token}"})

        assert [listed("reader").status_code != 429 for _ in range(3)] == [True, True, False]
        answer = listed("reader")
        assert (answer.headers["retry-after"], answer.json()["code"]) == ("100", "too_many_requests")
        assert listed("other").status_code != 429


def test_the_running_requests_of_a_token_are_bounded(tmp_path: Path) -> None:
    """One token cannot use up all connections with streams; a stream that ends makes room for another."""
    tokens = KnownTokens(reader={"*": Scope.READ}, other={"*": Scope.READ})
    access = Access(tokens, read_only=False, rates=Rates(1000, 1000, running=2))
    memories = Memories(f"sqlite:{tmp_path / 'memories.db'}", read_only=False)
    memories.create("work", "ada")
    stream = "/v1/memories/work/events"
    with serving(program=application(memories, access), stop_seconds=1) as served, ExitStack() as opened:
        head = served.head(stream, "Authorization: Bearer reader")
        streams = [opened.enter_context(served.connect(head)) for _ in range(2)]
        assert all(one.recv(1) for one in streams)
        assert status_of(served.request("/v1/memories", "Authorization: Bearer reader")) == 429
        assert status_of(served.request("/v1/memories", "Authorization: Bearer other")) == 200
        streams[0].close()
        while status_of(served.request("/v1/memories", "Authorization: Bearer reader")) != 200:
            pass


def test_a_request_without_a_valid_token_is_not_counted(tmp_path: Path) -> None:
    """Nobody can use up the requests of a token without having it."""
    access = Access(KnownTokens(reader={"*": Scope.READ}), read_only=True, rates=Rates(0.01, 1, Clock()))
    memories = Memories(f"sqlite:{tmp_path / 'memories.db'}", read_only=True)
    with TestClient(application(memories, access)) as client:
        for token in ("wrong", "wrong", "reade"):
            answer = client.get("/v1/memories", headers={"authorization": f"Bearer {token}"})
            assert answer.status_code == 401
