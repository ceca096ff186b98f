"""The command `engine serve`: from its start to its end."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from engine.base.scopes import Scope
from engine.engine import Engine
from engine.service.tokens import Tokens
from engine.store.named_places import tokens_file
from tests.service.processes import serving
from tests.support.command_line import Cli

pytestmark = pytest.mark.slow

TIMEOUT = 60


def test_a_service_without_tokens_makes_one_for_its_run_that_reads(tmp_path: Path) -> None:
    """The first start is read-only, and its printed token is accepted."""
    store = f"sqlite:{tmp_path / 'notes.db'}"
    with Engine.open(store) as memory:
        memory.add("The kettle is descaled on Mondays.")
    with serving(store) as running:
        token = re.search(r"mr_[\w-]{43}", running.line())
        assert token is not None
        client = httpx2.Client(base_url=running.url, headers={"authorization": f"Bearer {token[0]}"})
        with client:
            found = client.get("/v1/memories/~/recall", params={"query": "kettle"}).json()
            assert len(found["hits"]) == 1
            assert client.post("/v1/memories/~/add", json={"content": "x"}).status_code == 403


def test_the_log_has_no_query_and_no_token(tmp_path: Path) -> None:
    """A request is one line of JSON, with the template of its path."""
    store = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(store).close()
    tokens = Tokens(store)
    secret = tokens.new("laptop", Scope.WRITE)
    tokens.close()
    with serving(store, "--write") as running:
        with httpx2.Client(base_url=running.url, headers={"authorization": f"Bearer {secret}"}) as client:
            assert client.get("/v1/memories/~/recall", params={"query": "kettle"}).status_code == 200
        line = json.loads(running.line())
    assert (line["route"], line["token"]) == ("/v1/memories/{memory}/recall", "laptop")
    assert secret not in str(line)
    assert "kettle" not in str(line)


def test_a_damaged_token_does_not_stop_the_service(tmp_path: Path) -> None:
    """The service starts and logs which token is damaged; that token is refused, and the others work."""
    store = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(store).close()
    with closing(Tokens(store)) as tokens:
        damaged, whole = tokens.new("laptop"), tokens.new("phone")
    with closing(sqlite3.connect(tokens_file(tmp_path / "notes.db"), isolation_level=None)) as connection:
        connection.execute("UPDATE tokens SET scope = 'admin' WHERE name = 'laptop'")
    with serving(store, "--write") as running:
        assert "the token laptop is damaged" in json.loads(running.line())["message"]
        with httpx2.Client(base_url=running.url) as client:
            for token, status in ((damaged, 401), (whole, 200)):
                headers = {"authorization": f"Bearer {token}"}
                assert client.get("/v1/memories/~/size", headers=headers).status_code == status


def test_sigterm_ends_the_service(tmp_path: Path) -> None:
    """The process ends by itself, and the store can be opened."""
    store = tmp_path / "notes"
    Engine.open(str(store)).close()
    with serving(store) as running:
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(TIMEOUT) == 0
    Engine.open(str(store)).close()


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--host", "0.0.0.0"), "there is no token"),  # noqa: S104  it is refused
        (("--key", "key.pem"), "without a certificate"),
        (("--behind-proxy", "nonsense"), "is not an address"),
        (("--allow-origin", "app.example.com"), "is not an origin"),
    ],
)
def test_wrong_options_are_refused_before_anything_listens(
    bare: Cli, tmp_path: Path, options: tuple[str, ...], part: str
) -> None:
    """The message says what is wrong, and what to do."""
    store = f"sqlite:{tmp_path / 'notes.db'}"
    Engine.open(store).close()
    ended = bare("serve", "--store", store, *options)
    assert ended.code in {2, 7}
    assert part in ended.err
