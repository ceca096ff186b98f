"""Long answers: what is sent after the token was revoked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.base import limits
from engine.engine import Engine
from engine.service.access import Access
from engine.service.app import application
from engine.service.served_memories import Memories
from tests.service.support import USUAL
from tests.service.test_following import RevocableTokens


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a store whose journal is sent in several parts."""
    monkeypatch.setattr(limits, "FOLLOW_EVENTS_MAX", 2)
    url = f"sqlite:{tmp_path / 'notes.db'}"
    with Engine.open(url) as memory:
        for number in range(9):
            memory.add(f"Text {number}. " + "x" * 60_000)
    return url


def sent(url: str, path: str, *, revoke: bool = False, fail: bool = False) -> list[dict[str, Any]]:
    """Return what the service sends; after the first part, the token is revoked or the tokens fail."""
    tokens = RevocableTokens(**USUAL)
    memories = Memories(url)
    app = application(memories, Access(tokens, read_only=True))
    found: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        found.append(message)
        if message.get("body") and not tokens.failing and "reader" in tokens._grants:
            tokens.failing = fail
            if revoke:
                tokens.revoke("reader")

    scope = {
        "type": "http",
        "asgi": {"spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "path": f"/v1/memories/~/{path}",
        "query_string": b"",
        "headers": [(b"authorization", b"Bearer reader")],
        "state": {},
    }
    anyio.run(app, scope, receive, send)
    assert memories.close(1), "an answer that was cut off still uses the store"
    assert found[0]["status"] == 200
    return found[1:]


@pytest.mark.parametrize("path", ["export", "log"])
@pytest.mark.parametrize("how", ["revoke", "fail"])
def test_a_long_answer_is_cut_off_with_its_token(url: str, path: str, how: str) -> None:
    """After the token was revoked, or cannot be checked, no further part and no end of the answer is sent."""
    whole = sent(url, path)
    assert len(whole) > 3
    assert [message["more_body"] for message in whole] == [*[True] * (len(whole) - 1), False]
    assert sent(url, path, **{how: True}) == whole[:1]
