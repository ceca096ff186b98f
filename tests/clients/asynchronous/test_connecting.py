"""`AsyncEngine` on a service: the same methods, awaited."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import AsyncEngine, RefusedError, SystemFailureError
from tests.clients.asynchronous.support import run_in_asyncio
from tests.clients.support import connected, new_store


def test_a_client_is_awaited(tmp_path: Path) -> None:
    """Commands, queries and proofs of a service are awaited as those of an open store."""
    with connected(new_store(tmp_path / "memory.db")) as remote:

        async def main() -> None:
            async with AsyncEngine(remote) as memory:
                kettle = await memory.add("The kettle is descaled with vinegar.", tags=["kitchen"])
                assert (await memory.get(kettle.id)).tags == ("kitchen",)
                assert [event.seq async for event in memory.log()] == [0, 1]
                proof = await memory.prove([("tagged", "kitchen")])
                assert proof.size == await memory.size() == 2
                with pytest.raises(RefusedError):
                    await memory.ingest([tmp_path])
                assert await memory.proved.tagged("kitchen") == (kettle.id,)
                assert await memory.proved.mentioning("unicycle") == ()
                assert [atom.id for atom in await memory.proved.recall("kettle")] == [kettle.id]
                assert await memory.proved.get(kettle.id) == await memory.get(kettle.id)
                assert (await memory.proved.check()).size == 2

        run_in_asyncio(main)


def test_an_open_store_needs_no_proofs() -> None:
    """`proved` is for clients of a service."""

    async def main() -> None:
        async with AsyncEngine.open("memory:") as memory:
            with pytest.raises(RefusedError, match="without proofs"):
                _ = memory.proved

    run_in_asyncio(main)


def test_a_service_that_cannot_be_reached_is_an_error() -> None:
    """`AsyncEngine.connect` raises what `Engine.connect` raises."""

    async def main() -> None:
        with pytest.raises(SystemFailureError, match="cannot be reached"):
            await AsyncEngine.connect("http://127.0.0.1:1", retries=0)

    run_in_asyncio(main)
