"""Clients of a service on a socket: several threads, several memories, a service that is started again."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine import AsyncEngine, Engine, NotFoundError
from engine.base.errors import ForbiddenError, UnauthorizedError
from engine.memory import named_memories as changing
from tests.clients.asynchronous.support import run_in_asyncio
from tests.clients.support import new_store, serving

pytestmark = pytest.mark.slow


def test_several_threads_share_a_client(tmp_path: Path) -> None:
    """Each thread gets its own receipts, and each event is recorded once."""
    url = new_store(tmp_path / "memory.db")
    with serving(url) as address, Engine.connect(address, token="writer") as memory:  # noqa: S106
        with ThreadPoolExecutor(4) as pool:
            receipts = list(pool.map(lambda number: memory.add(f"text {number}"), range(24)))
        texts = [memory.get(receipt.id).content for receipt in receipts]
        assert texts == [f"text {number}" for number in range(24)]
        assert memory.size == 25
        assert len(memory.proved.mentioning("text")) == 24


def test_a_token_and_a_name_decide_what_a_client_reaches(tmp_path: Path) -> None:
    """Each memory has its own address; a wrong token and a missing memory are errors when connecting."""
    url = f"sqlite:{tmp_path / 'memories.db'}"
    for name in ("ana", "ben"):
        changing.create(url, name, actor="admin")
    with serving(url) as address:
        with Engine.connect(address, memory="ana", token="writer") as ana:  # noqa: S106
            ana.add("one")
        with Engine.connect(f"{address}/v1/memories/ben", token="reader") as ben:  # noqa: S106
            assert ben.size == 1
            with pytest.raises(ForbiddenError):
                ben.add("two")
        with pytest.raises(NotFoundError):
            Engine.connect(address, memory="eve", token="reader")  # noqa: S106
        with pytest.raises(UnauthorizedError):
            Engine.connect(address, memory="ana")


def test_a_client_outlives_the_service(tmp_path: Path) -> None:
    """A client goes on with a service that was started again at the same address."""
    url = new_store(tmp_path / "memory.db")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(url, port) as address:
        memory = Engine.connect(address, token="writer", trust=tmp_path / "note")  # noqa: S106
        memory.add("one")
        memory.proved.check()
    with memory, serving(url, port):
        memory.add("two")
        assert memory.proved.check().size == 3


def test_asyncio_clients_run_at_the_same_time(tmp_path: Path) -> None:
    """`AsyncEngine.connect` opens a memory on a service, and closes its connections."""
    url = new_store(tmp_path / "memory.db")

    async def main(address: str) -> None:
        async with AsyncEngine.connect(address, token="writer") as memory:  # noqa: S106
            added = await memory.add("The kettle is descaled with vinegar.")
            assert [hit.id for hit in (await memory.recall("kettle")).hits] == [added.id]
            assert await memory.proved.mentioning("kettle") == (added.id,)

    with serving(url) as address:
        run_in_asyncio(lambda: main(address))
