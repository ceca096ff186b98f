"""Server-sent events: what a client that follows a memory gets, and for how long."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from engine.base.errors import SystemFailureError
from engine.engine import Engine
from engine.service.access import Access
from engine.service.app import application
from engine.service.served_memories import Memories
from tests.service.raw import Served, serving
from tests.service.support import USUAL, KnownGrant, KnownTokens

pytestmark = pytest.mark.slow


class RevocableTokens(KnownTokens):
    """Tokens that can be revoked, or of which the table can fail."""

    failing = False

    def check(self, bearer: str) -> KnownGrant | None:
        """Return the grant of the token with this name."""
        if self.failing:
            raise SystemFailureError("the table cannot be read")
        return super().check(bearer)

    def revoke(self, name: str) -> None:
        """Forget a token."""
        del self._grants[name]


def following(served: Served) -> socket.socket:
    """Return a connection on which the answer has begun."""
    connection = served.connect(
        served.head("/v1/memories/~/events?start=0", "Authorization: Bearer reader", "Connection: close")
    )
    found = b""
    while b"event: genesis" not in found:
        found += connection.recv(1 << 16)
    assert b"text/event-stream" in found
    return connection


@pytest.mark.parametrize("failing", [False, True])
def test_a_revoked_token_gets_no_further_events(tmp_path: Path, failing: bool) -> None:
    """A stream ends before the first event that is appended after its token was revoked."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    tokens = RevocableTokens(**USUAL)
    with Engine.open(url) as engine:
        app = application(Memories(url), Access(tokens, read_only=True))
        with serving(program=app) as served, following(served) as follower:
            engine.add("While the token is valid.")
            found = b""
            while b"event: atom_add" not in found:
                found += follower.recv(1 << 16)
            if failing:
                tokens.failing = True
            else:
                tokens.revoke("reader")
            engine.add("After that.")
            while more := follower.recv(1 << 16):
                assert b"event:" not in more
