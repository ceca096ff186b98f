"""The class `AsyncExplorer`, whose methods are made from those of `Explorer`.

`async_explorer.pyi` has their types.
"""

from __future__ import annotations

from functools import wraps
from threading import Lock
from typing import Any

from engine.clients.asynchronous.worker_threads import Calls
from engine.query.explore.explorer import Explorer


class AsyncExplorer:
    """An exploration with the methods of `Explorer`, awaited, which are carried out one after the other."""

    def __init__(self, explorer: Explorer, calls: Calls) -> None:
        self._explorer, self._calls = explorer, calls
        self._exploring = Lock()

    @property
    def total(self) -> int:
        """The tokens spent so far."""
        return self._explorer.total


def _awaited(method: Any) -> Any:
    @wraps(method)
    async def awaited(self: AsyncExplorer, *args: Any, **options: Any) -> Any:
        def call() -> Any:
            with self._exploring:  # an explorer is not thread-safe
                return method(self._explorer, *args, **options)

        return await self._calls.run(call)

    return awaited


for _name, _member in vars(Explorer).items():
    if _name.startswith("explore_"):
        setattr(AsyncExplorer, _name, _awaited(_member))
