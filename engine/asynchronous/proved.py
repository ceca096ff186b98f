"""The class `AsyncProved`: answers of a service that the client verifies, awaited."""

from __future__ import annotations

from functools import partial
from typing import Any

from engine.asynchronous.calls import Calls
from engine.base.model import Atom
from engine.remote.proved import Proved
from proofs.note import Checkpoint


class AsyncProved:
    """The methods of `engine.remote.proved.Proved`, awaited. They raise the same errors."""

    def __init__(self, proved: Proved, calls: Calls) -> None:
        self._proved, self._calls = proved, calls

    async def check(self) -> Checkpoint:
        """Check that the log continues the kept checkpoint, and return the new one."""
        return await self._calls.run(self._proved.check)

    async def get(self, id: str) -> Atom:  # noqa: A002
        """Return an atom that is proved."""
        return await self._calls.run(partial(self._proved.get, id))

    async def recall(self, query: str, **options: Any) -> tuple[Atom, ...]:
        """Return the atoms that answer a question best, each of which is proved."""
        return await self._calls.run(partial(self._proved.recall, query, **options))

    async def tagged(self, tag: str) -> tuple[str, ...]:
        """Return the ids of all live atoms that have a tag; the proof shows that none is missing."""
        return await self._calls.run(partial(self._proved.tagged, tag))

    async def mentioning(self, word: str) -> tuple[str, ...]:
        """Return the ids of all live atoms that mention a word; the proof shows that none is missing."""
        return await self._calls.run(partial(self._proved.mentioning, word))
