"""What questions are asked of: an open store, or the past of one, and how recall weighs its signals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from backends.base import Snapshot
from engine.query.recall.config import RecallConfig
from engine.store.past import AsOf, past_store, size_at
from engine.store.store import Store

if TYPE_CHECKING:
    from engine.query.positions import PlacesCache


class View:
    """A store to ask questions of, with what is kept from one question to the next.

    Safe to use from several threads.

    Args:
        store: What is asked.
        config: The constants of recall; None for the measured defaults.
    """

    def __init__(self, store: Store, config: RecallConfig | None = None) -> None:
        self.store = store
        self.config = config or RecallConfig()

    @cached_property
    def places(self) -> PlacesCache:
        """Where the atoms stand, made again when the index has changed."""
        from engine.query.positions import PlacesCache  # brings numpy, which only a question needs

        return PlacesCache()

    @contextmanager
    def at(self, moment: AsOf | None) -> Iterator[View]:
        """This view for None, else a view of the memory as it was at `moment`, replayed for the block.

        Raises:
            NotFoundError: the journal does not reach that moment.
        """
        if moment is None:
            yield self
            return
        with self.store.backend.snapshot() as rows, past_store(rows, size_at(rows, moment)) as store:
            yield View(store, self.config)

    @contextmanager
    def searchable(self) -> Iterator[Snapshot]:
        """A snapshot in which records, tags and index are at the head.

        Raises:
            BusyError: other processes kept moving the head.
        """
        with self.store.view(self.store.tags, self.store.index) as rows:
            yield rows

    def forget(self) -> None:
        """Drop what is kept between questions: content that it came from has been erased."""
        vars(self).pop("places", None)
