"""The Model Context Protocol over HTTP: messages to a running `engine serve`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from engine.engine import Engine
from tests.mcp.support import INITIALIZE, TIMEOUT, Answer, call, facts_of
from tests.service.processes import serving

pytestmark = pytest.mark.slow


@dataclass
class Served:
    """A running service, and the token of its run."""

    url: str
    token: str

    def post(self, body: bytes | None = None, **headers: str | None) -> httpx2.Response:
        """Send one message with these headers added; None omits a header."""
        usual: dict[str, str | None] = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        given = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        raw = json.dumps(INITIALIZE).encode() if body is None else body
        kept = {name: value for name, value in given.items() if value is not None}
        return httpx2.post(self.url, content=raw, headers=kept, timeout=TIMEOUT)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service whose token may write."""
    url = f"sqlite:{tmp_path_factory.mktemp('http') / 'notes.db'}"
    Engine.open(url).close()
    with serving(url, "--write") as running:
        token = running.line().rpartition(" ")[2].strip()
        yield Served(f"{running.url}/mcp", token)


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_a_client_with_the_token_is_served(served: Served, mode: str) -> None:
    """The SDK's client lists the tools, stores a text and finds it."""

    async def run() -> None:
        headers = {"Authorization": f"Bearer {served.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=TIMEOUT) as connection,
            Client(streamable_http_client(served.url, http_client=connection), mode=mode) as client,
        ):
            assert len((await client.list_tools()).tools) == 14
            kept = Answer.of(await client.call_tool("remember", {"content": f"The kettle <b>of</b> {mode}."}))
            found = Answer.of(await client.call_tool("explore_expand", {"id": kept.fields["id"]}))
            assert f"  The kettle ‹b>of‹/b> {mode}." in found.text

    anyio.run(run)


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer wrong", "Basic {}", "{}", "Bearer {}x"])
def test_without_the_token_nobody_is_served(served: Served, given: str | None) -> None:
    """Without the token, the status is 401, and the answer asks for one."""
    answer = served.post(Authorization=None if given is None else given.format(served.token))
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_there_are_no_sessions_to_guess(served: Served) -> None:
    """No answer names a session, and a session header has no effect."""
    first = served.post()
    assert first.status_code == 200
    assert "mcp-session-id" not in first.headers
    for guess in ("0" * 32, "admin", "a"):
        assert served.post(Mcp_Session_Id=guess).content == first.content
        assert served.post(Mcp_Session_Id=guess, Authorization=None).status_code == 401


def test_what_leaves_is_escaped(served: Served) -> None:
    """Answers are escaped as over a pipe: no markup and no control characters."""
    message = json.dumps(call(5, "remember", content="a <script> \x9b\u202e")).encode()
    answer = served.post(message, Mcp_Protocol_Version="2025-11-25")
    assert answer.status_code == 200
    assert answer.headers["content-length"] == str(len(answer.content))
    atom = facts_of(answer.json()["result"]["content"][0]["text"])["id"]
    message = json.dumps(call(6, "explore_expand", id=atom)).encode()
    answer = served.post(message, Mcp_Protocol_Version="2025-11-25")
    assert "  a ‹script> \\x9b\\u202e" in answer.json()["result"]["content"][0]["text"]
    assert not re.search("[<>\x80-\x9f\u202a-\u202e]", answer.text)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nothing",
        b"[]",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"\\ud800"}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_message_is_refused(served: Served, body: bytes) -> None:
    """An invalid message gets status 400 with a reason, and the server continues."""
    assert served.post(body).status_code == 400
    assert served.post().status_code == 200
