"""The object on which queries run: a store, or a past state of it, with the settings and caches of queries.

A `View` lives as long as its store. `Store.view` is something else: it yields a snapshot of the rows at one
moment. `View.searchable` and `View.filterable` call it with the followers that queries need.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from backends.base import Snapshot
from engine.store.past import AsOf, store_at
from engine.store.store import Store

if TYPE_CHECKING:
    from engine.followers.base import Follower
    from engine.index.positions import PositionsCache
    from engine.query.filters import Filters
    from engine.query.recall.atom_set import AtomSetCache
    from engine.query.recall.recall_config import RecallConfig
    from engine.query.recall.recall_run import LatestAtomCache


class View:
    """A store on which queries run, with caches that successive queries share.

    Safe to use from several threads.

    Args:
        store: The store that queries read.
        config: The constants of recall; None for the defaults.
    """

    def __init__(self, store: Store, config: RecallConfig | None = None) -> None:
        self.store = store
        if config is not None:
            self.config = config

    @cached_property
    def config(self) -> RecallConfig:
        """The constants of recall."""
        from engine.query.recall.recall_config import RecallConfig

        return RecallConfig()

    @cached_property
    def positions(self) -> PositionsCache:
        """The cache of the positions of atoms in their sources. The positions are computed from the index."""
        from engine.index.positions import PositionsCache  # imports numpy, which only queries need

        return PositionsCache()

    @cached_property
    def atom_sets(self) -> AtomSetCache:
        """The cache of the atoms that may answer a question."""
        from engine.query.recall.atom_set import AtomSetCache  # imports numpy, which only queries need

        return AtomSetCache()

    @cached_property
    def atom_cache(self) -> LatestAtomCache:
        """The cache of atoms that answered earlier questions."""
        from engine.query.recall.recall_run import LatestAtomCache

        return LatestAtomCache()

    @contextmanager
    def at(self, moment: AsOf | None) -> Iterator[View]:
        """Yield a view of the store as it was at `moment`, or this view if `moment` is None.

        The past state is replayed from the journal. Unless the store keeps past states, it exists only within
        the `with` block.

        Raises:
            NotFoundError: the moment is after the end of the journal.
        """
        if moment is None:
            yield self
            return
        with store_at(self.store, moment) as store:
            yield View(store, self.config)

    @contextmanager
    def searchable(self, filters: Filters | None = None) -> Iterator[Snapshot]:
        """Yield a snapshot in which records, tags, index and names are at the head.

        If `filters` has conditions on meta, the entries of meta are at the head, too.

        Raises:
            BusyError: other processes kept appending events.
        """
        store = self.store
        with store.view(store.tags, store.index, store.names, *self._for_meta(filters)) as rows:
            yield rows

    @contextmanager
    def filterable(self, filters: Filters) -> Iterator[Snapshot]:
        """Yield a snapshot in which the records, and all rows that `filters` reads, are at the head.

        Raises:
            BusyError: other processes kept appending events.
        """
        with self.store.view(self.store.tags, *self._for_meta(filters)) as rows:
            yield rows

    def _for_meta(self, filters: Filters | None) -> tuple[Follower, ...]:
        return (self.store.meta_entries,) if filters is not None and filters.meta else ()

    def forget(self) -> None:
        """Empty the caches. Call this method after an erasure, because the caches depend on the content."""
        if self.store.past_states is not None:
            self.store.past_states.forget()
        vars(self).pop("atom_cache", None)
        vars(self).pop("positions", None)
        vars(self).pop("atom_sets", None)
