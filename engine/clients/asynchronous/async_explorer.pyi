# The types of `async_explorer.py`, which `python -m tests.support.stubs` makes from `Explorer`.
from collections.abc import Callable, Collection, Sequence

from engine.base.model import Direction
from engine.clients.asynchronous.worker_threads import Calls
from engine.query.explore.explore_answers import Expanded, Hint, Hints, Neighbors, Peek
from engine.query.explore.explorer import Explorer
from engine.query.filters import Filters

class AsyncExplorer:
    def __init__(self, explorer: Explorer, calls: Calls) -> None: ...
    @property
    def total(self) -> int: ...
    async def explore_expand(
        self, id: str, *, filters: Filters = ..., budget: int | None = None, offset: int = 0
    ) -> Expanded: ...
    async def explore_neighbors(
        self,
        node: str,
        direction: Direction | str = ...,
        *,
        types: Collection[str] = (),
        filters: Filters = ...,
        limit: int = 20,
        offset: int = 0,
        budget: int | None = None,
    ) -> Neighbors: ...
    async def explore_peek(
        self, id: str, query: str | None = None, *, filters: Filters = ..., budget: int | None = None
    ) -> Peek: ...
    async def explore_recall(
        self,
        query: str,
        limit: int = 5,
        *,
        filters: Filters = ...,
        known: Collection[str] = (),
        budget: int | None = None,
        texts: Sequence[int] = (0,),
        fits: Callable[[Hints], bool] | None = None,
        read: Callable[[Sequence[Hint]], Collection[str]] | None = None,
    ) -> Hints: ...
