"""The Model Context Protocol at `/mcp/{memory}`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.base.errors import SystemFailureError
from engine.base.scopes import Scope
from engine.engine import Engine
from engine.service.served_memories import Memories
from tests.service.support import client_of

HEADERS = {"accept": "application/json, text/event-stream"}


def asked(client: TestClient, memory: str, method: str, as_: str = "admin", **params: Any) -> Any:
    """Send one message, and return the answer."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = HEADERS | {"authorization": f"Bearer {as_}"}
    return client.post(f"/mcp/{memory}", json=message, headers=headers)


def test_agents_remember_and_recall_in_the_memory_of_the_address(tmp_path: Path) -> None:
    """Two memories of one service do not mix, and the actor is the name of the token."""
    url = f"sqlite:{tmp_path / 'memories.db'}"
    for name in ("work", "home"):
        Engine.open(url, memory=name).close()
    with client_of(url) as client:
        remembered = asked(
            client, "work", "tools/call", name="remember", arguments={"content": "The kettle is descaled."}
        ).json()
        assert not remembered["result"].get("isError"), remembered
        for name, expected in (("work", True), ("home", False)):
            answer = asked(client, name, "tools/call", name="recall", arguments={"query": "kettle"}).json()
            assert ("descaled" in answer["result"]["content"][0]["text"]) is expected
        events = client.get("/v1/memories/work/log", params={"start": 1}).text
        assert '"actor":"admin"' in events.replace(" ", "")


def test_an_agent_whose_token_only_reads_has_no_tools_that_write(tmp_path: Path) -> None:
    """The list of tools follows the scope of the token."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(url).close()
    with client_of(url) as client:
        reading = asked(client, "~", "tools/list", as_="reader").json()["result"]["tools"]
        every = asked(client, "~", "tools/list").json()["result"]["tools"]
        assert {"remember", "recall"} <= {tool["name"] for tool in every}
        assert {tool["name"] for tool in reading} < {tool["name"] for tool in every}
        called = asked(
            client,
            "~",
            "tools/call",
            as_="reader",
            name="remember",
            arguments={"content": "x"},
        ).json()
        assert called["result"]["isError"]
        text = called["result"]["content"][0]["text"]
        assert "the token only reads" in text
        assert "a token with the scope write" in text


def test_an_agent_without_a_grant_gets_a_problem(tmp_path: Path) -> None:
    """The status tells whether the token is missing or not sufficient."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(url).close()
    with client_of(url, me={"mine": Scope.READ}) as client:
        assert asked(client, "~", "tools/list", as_="nobody").status_code == 401
        assert asked(client, "~", "tools/list", as_="me").status_code == 403


def test_an_agent_is_not_told_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the store fails, the tool says to try again; the message with the place is for the log."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(url).close()
    with client_of(url) as client:

        def failing(self: Memories, name: str) -> Any:
            raise SystemFailureError(f"{url} cannot be read: I/O error")

        monkeypatch.setattr(Memories, "use", failing)
        answer = asked(client, "~", "tools/call", name="recall", arguments={"query": "kettle"}).json()
        assert answer["result"]["isError"]
        text = answer["result"]["content"][0]["text"]
        assert "error system: the service cannot do this now" in text
        assert str(tmp_path) not in text
