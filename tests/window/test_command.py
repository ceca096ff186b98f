"""The command `engine ui`: the address that it prints, and what it gives to the browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urldefrag

import httpx2
import pytest

from engine.engine import Engine

pytestmark = pytest.mark.slow

TIMEOUT = 60
SCRIPT = """#!/bin/sh
path="${1#file://}"
stat -c '%a' "$(dirname "$path")" > "$SEEN.new"
cat "$path" >> "$SEEN.new"
mv "$SEEN.new" "$SEEN"
"""


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The URL of a store with one atom."""
    url = f"sqlite:{tmp_path / 'notes.db'}"
    with Engine.open(url) as memory:
        memory.add("The kettle is descaled on Mondays.")
    return url


@contextmanager
def shown(store: str, *options: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `engine ui` until the block ends; give the process and the address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", "ui", "--store", store, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"HOME": "/nowhere"} | variables,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_the_address_leads_to_the_window_and_has_a_token_that_only_reads(store: str) -> None:
    """The page is served on this machine; the token finds texts and changes nothing."""
    with shown(store, "--no-browser") as (_, address):
        url, fragment = urldefrag(address)
        given = dict(parse_qsl(fragment))
        token = given["token"]
        assert given["store"] == store
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
        with httpx2.Client(base_url=url, headers={"authorization": f"Bearer {token}"}) as client:
            page = client.get("/")
            assert page.headers["content-type"].startswith("text/html")
            assert "Search the memory" in page.text
            assert "Check a proof" in client.get("/verify").text
            found = client.post("/v1/memories/~/recall", json={"query": "kettle"}).json()
            assert len(found["hits"]) == 1
            assert client.post("/v1/memories/~/add", json={"content": "x"}).status_code == 403


def test_a_page_that_may_write_has_a_token_that_may(store: str) -> None:
    """With `--write`, the events have the actor of the command line, and contents can be erased."""
    with shown(store, "--no-browser", "--write", "--actor", "dana") as (_, address):
        url, fragment = urldefrag(address)
        token = dict(parse_qsl(fragment))["token"]
        with httpx2.Client(base_url=url, headers={"authorization": f"Bearer {token}"}) as client:
            assert client.get("/v1/memories").json()["scopes"] == {"~": "admin"}
            assert client.post("/v1/memories/~/add", json={"content": "It is red."}).status_code == 200
            (added,) = client.post("/v1/memories/~/recent", json={"limit": 1}).json()
    assert added["actor"] == "dana"


def test_the_browser_gets_the_token_in_a_private_file(store: str, tmp_path: Path) -> None:
    """Not among its arguments, which every user of the machine can see. The file is gone at the end."""
    script, seen = tmp_path / "browser", tmp_path / "seen"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    with shown(store, BROWSER=f"{script} %s", SEEN=str(seen), TMPDIR=str(tmp_path)) as (process, address):
        for _ in range(600):
            if seen.exists():
                break
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.1)
        mode, page = seen.read_text().split("\n", 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT) == 0
    assert mode == "700"
    assert f'content="0; url={address}"' in page
    assert list(tmp_path.glob("memroot-*")) == []


def test_a_memory_that_is_missing_is_not_made(tmp_path: Path) -> None:
    """The command looks; it makes nothing."""
    with shown(f"sqlite:{tmp_path / 'other.db'}", "--no-browser") as (process, address):
        assert address == ""
        assert process.wait(TIMEOUT) != 0
    assert not (tmp_path / "other.db").exists()
