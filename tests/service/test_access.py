"""The check of tokens at the door of the service, with the table of tokens itself."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from starlette.testclient import TestClient

from engine.base.scopes import Scope
from engine.engine import Engine
from engine.service.access import Access
from engine.service.app import application
from engine.service.operation_calls import THREADS
from engine.service.served_memories import Memories
from engine.service.tokens import Tokens
from engine.store.named_places import tokens_file
from tests.service.support import USUAL, KnownGrant, KnownTokens

WRONG = "mr_" + "a" * 43


@pytest.fixture
def tokens(tmp_path: Path) -> Iterator[Tokens]:
    """The tokens of a folder with two memories."""
    memories = Memories(str(tmp_path), read_only=False)
    for name in ("team-tea", "home"):
        memories.create(name, "boss")
    memories.close(1)
    with contextlib.closing(Tokens(str(tmp_path))) as opened:
        yield opened


@pytest.fixture
def client(tokens: Tokens, tmp_path: Path) -> Iterator[TestClient]:
    """A client of a service with these tokens, which sends none by itself."""
    app = application(Memories(str(tmp_path), read_only=False), Access(tokens, read_only=False))
    with TestClient(app, raise_server_exceptions=False) as opened:
        yield opened


def bearer(token: str) -> dict[str, str]:
    """Return the header with a token."""
    return {"authorization": f"Bearer {token}"}


def test_a_token_opens_its_memories_alone(tokens: Tokens, client: TestClient) -> None:
    """What a token permits is listed and answered; other memories are neither."""
    header = bearer(tokens.new("tea", Scope.WRITE, ["team-*"]))
    assert client.get("/v1/memories", headers=header).json()["memories"] == ["team-tea"]
    added = client.post("/v1/memories/team-tea/add", json={"content": "One text."}, headers=header)
    assert added.status_code == 200
    (found,) = client.get("/v1/memories/team-tea/recent", headers=header).json()
    assert found["actor"] == "tea"
    for name in ("home", "~", "nowhere"):
        assert client.get(f"/v1/memories/{name}/recent", headers=header).status_code == 403
    assert client.delete("/v1/memories/team-tea", headers=header).status_code == 403


def test_a_revoked_token_opens_nothing(tokens: Tokens, client: TestClient) -> None:
    """A token that was revoked is as good as none."""
    header = bearer(tokens.new("tea"))
    assert client.get("/v1/memories", headers=header).status_code == 200
    tokens.revoke("tea")
    assert client.get("/v1/memories", headers=header).json()["code"] == "unauthorized"


def test_tokens_that_cannot_be_read_permit_nothing(
    tokens: Tokens, client: TestClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If the table is damaged, requests fail. A stranger does not learn the place, nor the log a token."""
    token = tokens.new("tea")
    tokens_file(tmp_path).write_bytes(b"garbage" * 999)
    for one in (token, WRONG):
        answer = client.get("/v1/memories", headers=bearer(one))
        assert (answer.status_code, answer.json()["code"]) == (503, "system")
        assert str(tmp_path) not in answer.text
    assert str(tmp_path) in caplog.text
    assert token not in caplog.text
    assert WRONG not in caplog.text


class SlowForStrangers(KnownTokens):
    """Tokens of which the unknown ones take as long as the test wants."""

    def __init__(self) -> None:
        super().__init__(**USUAL)
        self.waiting = 0
        self.going_on = threading.Event()

    def check(self, bearer: str) -> KnownGrant | None:
        """Return the grant of a known token at once."""
        if not self.is_known(bearer):
            self.waiting += 1
            self.going_on.wait(30)
        return super().check(bearer)


def test_wrong_tokens_do_not_use_up_the_threads_of_the_calls(tmp_path: Path) -> None:
    """While many wrong tokens wait for the table, a client whose token is known is answered."""
    tokens = SlowForStrangers()
    Engine.open(f"sqlite:{tmp_path / 'notes.db'}").close()
    app = application(Memories(f"sqlite:{tmp_path / 'notes.db'}"), Access(tokens, read_only=True))

    async def run() -> list[int]:
        statuses: list[int] = []

        async def ask(token: str) -> None:
            answer = await http.get("/v1/memories/~/size", headers=bearer(token))
            statuses.append(answer.status_code)

        async def with_state(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "state": {}}, receive, send)

        transport = httpx2.ASGITransport(with_state)
        async with (
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
            anyio.create_task_group() as tasks,
        ):
            for number in range(2 * THREADS):
                tasks.start_soon(ask, f"wrong{number}")
            while not tokens.waiting:
                await anyio.sleep(0)
            try:
                with anyio.fail_after(20):
                    await ask("reader")
            finally:
                tokens.going_on.set()
        return statuses

    assert anyio.run(run) == [200] + [401] * (2 * THREADS)
    assert tokens.waiting == 2 * THREADS
