"""Several server processes on one store lose no acknowledged event."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest

from backends.sqlite.sqlite_backend import SQLiteBackend
from engine.engine import Engine
from tests.mcp.support import TIMEOUT, Answer, Raw, call, connected, environment, facts_of
from tests.support.leveldb import LEVELDB

pytestmark = pytest.mark.slow

WRITES = 40


def engine_command(store: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in another process on the same store."""
    return subprocess.run(
        [sys.executable, "-m", "engine", *args, "--store", store],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.parametrize("kind", [LEVELDB, "sqlite"])
def test_two_clients_write_to_one_store_at_the_same_time(tmp_path: Path, kind: str) -> None:
    """Both clients continue, see each other's atoms, and `verify-root` succeeds."""
    store = f"{kind}:{tmp_path / 'store'}"
    kept: list[str] = []
    begun = {"first": anyio.Event(), "second": anyio.Event()}

    async def write(name: str) -> None:
        async with connected(store) as client:
            for number in range(WRITES):
                text = f"{name} keeps the note {number} about kettles."
                answer = Answer.of(await client.call_tool("remember", {"content": text}))
                assert not answer.is_error, answer.text
                kept.append(answer.fields["id"])
                begun[name].set()
            other = "second" if name == "first" else "first"
            # On a busy machine, the other server may start only after this client has written everything.
            await begun[other].wait()
            found = Answer.of(await client.call_tool("explore_recall", {"query": f"{other} keeps kettles"}))
            assert f"{other} keeps the note" in found.text

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write, "first")
            tasks.start_soon(write, "second")

    anyio.run(run)
    assert len(set(kept)) == 2 * WRITES
    with Engine.open(store, create=False) as engine:
        assert {engine.get(atom).id for atom in kept} == set(kept)
        assert engine.verify().ok


@pytest.mark.parametrize("kind", [LEVELDB, "sqlite"])
def test_a_server_that_is_killed_loses_nothing_that_it_acknowledged(tmp_path: Path, kind: str) -> None:
    """After SIGKILL during writes, every acknowledged atom exists and the other server continues."""
    store = f"{kind}:{tmp_path / 'store'}"
    kept: list[str] = []

    def write(server: Raw, name: str, killed: threading.Event | None) -> None:
        server.open()
        for number in range(10_000):
            try:
                server.send(call(number, "remember", content=f"{name} keeps the note {number}."))
                line = server.line()
            except OSError:
                return
            if not line:
                return
            answer = json.loads(line)["result"]
            assert not answer["isError"], answer
            kept.append(facts_of(answer["content"][0]["text"])["id"])
            if killed is not None and killed.is_set() and number >= WRITES:
                return

    killed = threading.Event()
    with Raw(store) as doomed, Raw(store) as other:
        threads = [
            threading.Thread(target=write, args=(doomed, "doomed", None)),
            threading.Thread(target=write, args=(other, "other", killed)),
        ]
        for thread in threads:
            thread.start()
        while len(kept) < 2 * WRITES and all(thread.is_alive() for thread in threads):
            threads[0].join(0.005)
        doomed.process.kill()
        threads[0].join(TIMEOUT)
        killed.set()
        threads[1].join(TIMEOUT)
        assert not any(thread.is_alive() for thread in threads)
        assert other.ask(call(0, "status"))["result"]["isError"] is False
        assert other.end()[0] == 0
    with Engine.open(store, create=False) as engine:
        assert {engine.get(atom).id for atom in kept} == set(kept)
    verified = engine_command(store, "verify-root")
    assert verified.returncode == 0, verified.stderr


@pytest.mark.parametrize("kind", [LEVELDB, "sqlite"])
def test_the_command_line_works_beside_a_server_in_constant_use(tmp_path: Path, kind: str) -> None:
    """`engine recall` and `engine add` get the store while a client calls without pause."""
    store = f"{kind}:{tmp_path / 'store'}"
    stop = threading.Event()

    def ask(server: Raw) -> None:
        number = 10
        while not stop.is_set():
            assert server.ask(call(number, "status"))["result"]["isError"] is False
            number += 1

    with Raw(store) as server:
        server.open()
        server.ask(call(2, "remember", content="The kettle is descaled on Mondays."))
        thread = threading.Thread(target=ask, args=(server,))
        thread.start()
        try:
            recalled = engine_command(store, "recall", "kettle", "--wait", "10")
            added = engine_command(store, "add", "Tea needs water.", "--wait", "10")
        finally:
            stop.set()
            thread.join(TIMEOUT)
        assert (recalled.returncode, added.returncode) == (0, 0), recalled.stderr + added.stderr
        assert "Mondays" in recalled.stdout
        found = server.ask(call(5, "explore_recall", query="tea water"))["result"]["content"][0]["text"]
        assert "Tea needs water." in found
        assert server.end()[0] == 0


def test_two_clients_begin_while_a_sqlite_store_is_locked(tmp_path: Path) -> None:
    """Servers that start on a new store while another process keeps it locked wait, and share one journal."""
    path = tmp_path / "store"
    kept: list[str] = []
    with Raw(f"sqlite:{path}") as first, Raw(f"sqlite:{path}") as second:
        with SQLiteBackend(path) as busy, busy.exclusive():
            for server in (first, second):
                server.open()
                server.send(call(2, "remember", content="The kettle is descaled on Mondays."))
                server.send(call(3, "remember", content=f"Note of process {server.process.pid}."))
            time.sleep(0.3)
        for server in (first, second):
            for _ in range(2):
                answer = json.loads(server.line())["result"]
                assert not answer["isError"], answer
                kept.append(facts_of(answer["content"][0]["text"])["id"])
        assert [server.end()[0] for server in (first, second)] == [0, 0]
    assert len(set(kept)) == 3
    with Engine.open(f"sqlite:{path}", create=False) as engine:
        assert {engine.get(atom).id for atom in kept} == set(kept)
        assert engine.verify().ok
